// Only here: alerts that never fire, or fire when all is well.
import { describe, expect, test } from 'vitest';
import { alertRules, recordingRules } from '../../../deploy/prometheus/groups.ts';
import { filled } from '../../../grafana/src/fill.ts';
import { everyQuery } from '../../support/dashboards.ts';
import { type AlertCase, type AlertCases, firings } from './case.ts';
import { applianceCases } from './cases-appliances.ts';
import { exporterCases } from './cases-exporter.ts';
import { fileAccelerationCases } from './cases-file-acceleration.ts';
import { portalCases } from './cases-portal.ts';
import { recordingCases } from './cases-recording.ts';
import { hasPromtool, testNumber, testRules, testSilence } from './promtool.ts';

/*
 * Every alert has been seen to fire and not to fire, and every recording rule to record, by promtool. Without it that is
 * skipped, unless REQUIRE_PROMETHEUS is set.
 */

const alertCases: AlertCases = { ...exporterCases, ...fileAccelerationCases, ...applianceCases, ...portalCases };

describe('each alert', () => {
  test('has its cases, and no case is without its alert', () => {
    expect(new Set(Object.keys(alertCases))).toEqual(new Set(alertRules.map(({ alert }) => alert)));
    expect(Object.keys(alertCases)).toHaveLength(alertRules.length);
  });

  test.each(alertRules.map(({ alert }) => [alert, alertCases[alert] ?? []] as const))(
    '%s has a case that fires, one that does not, and one where data is missing',
    (_name, cases) => {
      const of = (kind: AlertCase['kind']) => cases.filter((one) => one.kind === kind);
      const [fires, silent, missing] = [of(undefined), of('silent'), of('missing')];
      for (const some of [fires, silent, missing]) expect(some).not.toEqual([]);
      for (const one of cases) expect(firings(one).length > 0, one.when).toBe(one.kind === undefined);
      expect(fires.some(({ pendingAt }) => pendingAt !== undefined)).toBe(true);
      // Missing means that something of what fires is not there at all, or ends.
      const fired = new Set(fires.flatMap(({ series }) => Object.keys(series)));
      for (const { series, when } of missing) {
        const isMissing = [...fired].some((each) => series[each] === undefined || /stale|_/.test(series[each]));
        expect(isMissing, when).toBe(true);
      }
    },
  );

  test.each(alertRules)('$alert has a summary that all alerts of its name have in common', ({ summary }) => {
    expect(summary).toMatch(/^[A-Z][^{}]{15,80}\.$/);
  });

  test.each(alertRules)('$alert has what it is about in its description', ({ alert, description, page }) => {
    const labels = alertCases[alert]?.flatMap(firings).flatMap((firing) => Object.keys(firing.labels)) ?? [];
    const subjects = labels.filter(
      (label) => !/^(?:job|serial|\w+_guid)$/.test(label) && (label !== 'instance' || page === 'exporter'),
    );
    for (const label of subjects) expect(description).toContain(`{{ $labels.${label} }}`);
    const isAboutMany = /^Filer(?:Fleet|Job|License)/.test(alert);
    if (isAboutMany) expect(description).toContain('$value');
    expect(subjects.length > 0 || isAboutMany || /Absent|PortalUnhealthy/.test(alert)).toBe(true);
  });
});

test('each recording rule has a case that gives samples, and no case is without its rule', () => {
  expect(new Set(Object.keys(recordingCases))).toEqual(new Set(recordingRules.map(({ record }) => record)));
  for (const cases of Object.values(recordingCases)) expect(cases.some(({ samples }) => samples.length > 0)).toBe(true);
});

describe.runIf(hasPromtool)('promtool', () => {
  test.each(Object.entries(alertCases))('%s fires when it must, and else does not', (alert, cases) => {
    const verdict = testRules(
      cases.map((one) => [alert, one]),
      [],
    );
    expect(verdict).toMatchObject({ status: 0, said: expect.stringContaining('SUCCESS') });
  });

  // These are about silence itself.
  const aboutSilence = ['FilerExporterAbsent', 'FilerExporterDown'];
  const outlasting = Object.entries(alertCases).flatMap(([alert, cases]) => {
    const first = cases.find(({ kind }) => kind === undefined);
    return first === undefined || aboutSilence.includes(alert) ? [] : [[alert, first] as const];
  });
  test.each(outlasting)(
    '%s stays until the alert about the silent exporter fires: silence is no recovery',
    (alert, first) => {
      expect(testSilence(alert, first)).toMatchObject({ status: 0, said: expect.stringContaining('SUCCESS') });
    },
  );

  const failing = (alertCases.FilerSnapshotFailing ?? []).filter(({ kind }) => kind !== 'missing');
  test.each(failing)('“Snapshots failing” on the boards counts what the alert does when $when', (one) => {
    const numbers = everyQuery.filter(({ panel }) => panel.title === 'Snapshots failing').map(({ expr }) => expr);
    expect(numbers).not.toEqual([]);
    for (const number of numbers) {
      // The number of an account is one, whatever labels it keeps.
      const here = `max(${filled(number, { job: 'filer-exporter', filer: '.*', volume: '.*' })})`;
      expect(testNumber(here, one, firings(one).length)).toMatchObject({
        status: 0,
        said: expect.stringContaining('SUCCESS'),
      });
    }
  });

  test('records what the recording rules say', () => {
    const cases = Object.entries(recordingCases).flatMap(([name, all]) => all.map((one) => [name, one] as const));
    expect(testRules([], cases)).toMatchObject({ status: 0 });
  });

  test('would see an alert that fires otherwise than expected, and one that does not fire', () => {
    const [fires] = exporterCases.FilerApiDown ?? [];
    const [alert] = fires === undefined ? [] : firings(fires);
    if (fires === undefined || alert === undefined) throw new Error('FilerApiDown has no case that fires');
    const otherwise = { ...fires, fires: { ...alert, description: 'Something else.' } };
    expect(testRules([['FilerApiDown', otherwise]], []).status).toBe(1);
    expect(testRules([['FilerApiDown', { ...fires, fires: [] }]], []).status).toBe(1);
    expect(testRules([['FilerApiDown', { ...fires, at: '2m' }]], []).status).toBe(1);
  });
});

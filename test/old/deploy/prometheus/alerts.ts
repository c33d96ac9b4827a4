import { describe, expect, test } from 'vitest';
import { alertRules } from '../../../deploy/prometheus/groups.ts';
import type { RunbookPage } from '../../../deploy/prometheus/rule.ts';
import { sentMetrics } from '../../support/sent-metrics.ts';
import { type AlertCase, type AlertCases, firings, type Series, scraped, series } from './case.ts';
import { minutes } from './late.ts';
import { hasPromtool, testAlert } from './promtool.ts';

/** Alerts that are about silence itself. */
const ABOUT_SILENCE = ['FilerExporterAbsent', 'FilerExporterDown'];

/**
 * Every alert of a page has been seen to fire and not to fire, by promtool. Without it that is skipped, unless
 * REQUIRE_PROMETHEUS is set.
 */
export function testAlerts(page: RunbookPage, alertCases: AlertCases): void {
  const rules = alertRules.filter((rule) => rule.page === page);
  const every = rules.map((rule) => ({ ...rule, cases: alertCases[rule.alert] ?? [] }));

  test('each alert has its cases, and no case is without its alert', () => {
    expect(new Set(Object.keys(alertCases))).toEqual(new Set(rules.map(({ alert }) => alert)));
  });

  describe.each(every)('$alert', ({ alert, cases, summary, description }) => {
    const [first] = cases.filter(({ fires }) => fires !== undefined);

    test('has a case that fires and was pending before, and one that does not fire', () => {
      const fires = cases.filter((one) => firings(one).length > 0);
      expect(fires.some(({ pendingAt }) => pendingAt !== undefined)).toBe(true);
      expect(fires.length).toBeLessThan(cases.length);
    });

    test('has a summary that all alerts of its name have in common, and what it is about in its description', () => {
      expect(summary).toMatch(/^[A-Z][^{}]{15,80}\.$/);
      const labels = cases.flatMap(firings).flatMap((firing) => Object.keys(firing));
      const subjects = labels.filter(
        (label) => !/^(?:job|serial|\w+_guid)$/.test(label) && (label !== 'instance' || page === 'exporter'),
      );
      for (const label of subjects) expect(description).toContain(`{{ $labels.${label} }}`);
      const isAboutMany = /^Filer(?:Fleet|Job|License)/.test(alert);
      if (isAboutMany) expect(description).toContain('$value');
      expect(subjects.length > 0 || isAboutMany || /Absent|PortalUnhealthy/.test(alert)).toBe(true);
    });

    test.runIf(hasPromtool)(
      'fires when it must, and else does not; in two accounts too, whatever remote write sends, and not if nothing is known; silence is no recovery',
      () => {
        const sent = cases.map(sentOf).filter((one) => Object.keys(one).length > 0);
        // Each case beside what is sent in another one: that would fire where nothing may, and keep silent what must fire.
        const beside = cases.map((one, index) => {
          return { ...one, series: { ...sent[(index + 1) % sent.length], ...one.series } };
        });
        const both = first === undefined || alert === 'FilerExporterAbsent' ? [] : [inTwoAccounts(first, page)];
        const unknown = first === undefined ? [] : [nothingKnown(first)];
        const all = [...cases, ...unknown, ...(sent.length === 0 ? [] : beside), ...both];
        const silent = ABOUT_SILENCE.includes(alert) ? undefined : first;
        expect(testAlert(alert, all, silent)).toMatchObject({ status: 0, said: expect.stringContaining('SUCCESS') });
      },
    );
  });
}

/** An exporter that is scraped and has no metric that the alert reads: a collector is off, or there is nothing yet. */
function nothingKnown({ at, apart }: AlertCase): AlertCase {
  const looks = minutes(at) / (apart === '5m' ? 5 : 1);
  return {
    when: 'nothing of what it is about is known',
    series: { [series('filer_exporter_build_info', scraped)]: `1x${looks}` },
    at,
    ...(apart !== undefined && { apart }),
  };
}

/** Series that remote write would send of these. */
export function sentOf({ series }: AlertCase): Series {
  return Object.fromEntries(
    Object.entries(series).flatMap(([name, values]) =>
      sentMetrics.has(name.replace(/\{.*/, ''))
        ? [[name.replace(`job="${scraped.job}"`, `job="${scraped.job}-minutes"`), values] as const]
        : [],
    ),
  );
}

/** The same in two accounts, each with two exporters: one has the volumes and file acceleration, the other one the rest. */
function inTwoAccounts(one: AlertCase, page: RunbookPage): AlertCase {
  const split = Object.entries(one.series).flatMap(([name, values]) => {
    if (page === 'exporter' || !name.includes(`instance="${scraped.instance}"`)) return [[name, values] as const];
    const other = name.replace(`instance="${scraped.instance}"`, 'instance="second:9989"');
    if (/^(?:filer_exporter_|filer_api_)/.test(name)) return [[name, values] as const, [other, values] as const];
    return [[/volume_guid|filer_guid/.test(name) ? other : name, values] as const];
  });
  const elsewhere = split.map(
    ([name, values]) => [name.replaceAll(`job="${scraped.job}"`, 'job="other"'), values] as const,
  );
  const fires = firings(one);
  return {
    ...one,
    series: Object.fromEntries([...split, ...elsewhere]),
    fires: [...fires, ...fires.map((labels) => ({ ...labels, job: 'other' }))],
  };
}

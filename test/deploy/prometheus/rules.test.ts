import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { prometheusRuleFile, rulesFile } from '../../../deploy/prometheus/files.ts';
import { alertRules, groups, groupsOf, runbookOf } from '../../../deploy/prometheus/groups.ts';
import { recordingRules } from '../../../deploy/prometheus/recording-rules.ts';
import { settings, thresholds } from '../../../deploy/prometheus/thresholds.ts';
import { catalog } from '../../../src/catalog.ts';
import { root } from '../../support/program.ts';
import type { AlertCase, AlertCases } from './case.ts';
import { applianceCases } from './cases-appliances.ts';
import { exporterCases } from './cases-exporter.ts';
import { fileAccelerationCases } from './cases-file-acceleration.ts';
import { portalCases } from './cases-portal.ts';
import { recordingCases } from './cases-recording.ts';
import { amtool, hasAmtool, hasPromtool, promtool, testRules } from './promtool.ts';
import { namedIn } from './queries.ts';
import { unreadFields } from './unread.ts';

/*
 * The rules in deploy/prometheus/: the files are what the tables say (`npm run docs` writes them), every alert has been
 * seen to fire and not to fire by promtool, and what they name exists. Without promtool that part is skipped, unless
 * REQUIRE_PROMETHEUS is set.
 */

const folder = join(root, 'deploy/prometheus');
const rulesPath = join(folder, 'filer-exporter.rules.yml');
const alertCases: AlertCases = { ...exporterCases, ...fileAccelerationCases, ...applianceCases, ...portalCases };
const rules = groups.flatMap(({ rules }) => rules);
const text = (path: string) => readFileSync(path, 'utf8');

const scraped = ['job', 'instance'];
/** The labels of everything that a query may name. */
const labelsOf = new Map<string, readonly string[]>([
  ['up', scraped],
  ...catalog.flatMap(({ name, type, labels }) => {
    const ends = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    return ends.map((end): [string, readonly string[]] => {
      return [name + end, [...labels, ...scraped, ...(end === '_bucket' ? ['le'] : [])]];
    });
  }),
  ...recordingRules.map(({ record }): [string, readonly string[]] => [record, scraped]),
]);
const everyLabel = new Set([...labelsOf.values()].flat());

describe('the files', () => {
  test('hold the rules for a plain Prometheus', async () => {
    await expect(rulesFile()).toMatchFileSnapshot(rulesPath);
  });

  test('hold the same as a PrometheusRule', async () => {
    await expect(prometheusRuleFile()).toMatchFileSnapshot(join(folder, 'filer-exporter.prometheusrule.yml'));
    expect(parse(prometheusRuleFile()).spec).toEqual(parse(rulesFile()));
  });

  test('the PrometheusRule is one, and has no field that the operator does not know', () => {
    const manifest = parse(prometheusRuleFile());
    // Not by `new`, which copies its argument and so reads every field of it.
    const validate = (value: object) => PrometheusRule.prototype.validate.call(value);
    expect(unreadFields(manifest, validate)).toEqual([]);
    manifest.spec.groups[1].rules[0].severity = 'critical';
    expect(unreadFields(manifest, validate)).toEqual(['/spec/groups/1/rules/0/severity']);
    delete manifest.spec.groups[1].rules[0].expr;
    expect(() => validate(manifest)).toThrow(/expr/);
  });

  test('the scrape job has the name that the rules look for, and loads them', () => {
    const { scrape_configs: jobs, rule_files: files } = parse(text(join(folder, 'prometheus.yml')));
    expect(jobs.map((job: { readonly job_name: string }) => job.job_name)).toEqual([settings.job]);
    expect(files).toEqual(['filer-exporter.rules.yml']);
  });

  test('Alertmanager’s example speaks of alerts that exist', () => {
    const named = text(join(folder, 'alertmanager.yml')).match(/\bFiler[A-Z]\w+(?!\w*\.\+)/g) ?? [];
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !alertRules.some(({ alert }) => alert === name))).toEqual([]);
  });
});

describe('what a rule names', () => {
  test.each(rules.map((rule) => ['alert' in rule ? rule.alert : rule.record, rule.expr]))('%s', (_, expr) => {
    const { selected, grouped } = namedIn(expr);
    expect(selected).not.toEqual([]);
    for (const { metric, labels } of selected) {
      expect([...labelsOf.keys()], `a metric of the catalogue, or a recorded one: ${metric}`).toContain(metric);
      expect(labels.filter((label) => !labelsOf.get(metric)?.includes(label))).toEqual([]);
    }
    expect(grouped.filter((label) => !everyLabel.has(label))).toEqual([]);
  });

  test('a misspelt metric or label does not pass', () => {
    expect(labelsOf.has('filer_uq')).toBe(false);
    expect(namedIn('sum without (serail) (filer_up{apo="gfa"})')).toEqual({
      selected: [{ metric: 'filer_up', labels: ['apo'] }],
      grouped: ['serail'],
    });
    expect(() => namedIn('filer_up ==')).toThrow('no PromQL');
  });

  test('what is recorded is recorded before it is read, and read by an alert or worth a panel', () => {
    const earlier = new Set<string>();
    for (const rule of rules) {
      const reads = namedIn(rule.expr)
        .selected.map(({ metric }) => metric)
        .filter((metric) => metric.includes(':'));
      expect(reads.filter((metric) => !earlier.has(metric))).toEqual([]);
      if ('record' in rule) earlier.add(rule.record);
    }
    expect(earlier.size).toBe(recordingRules.length);
  });

  test.each(Object.keys(thresholds))('the threshold %s is what one alert compares with', (name) => {
    const changed = groupsOf({ ...thresholds, [name]: 987_654 }, settings.job).flatMap((group) => group.rules);
    expect(changed.filter((rule) => 'alert' in rule && rule.expr.includes('987654'))).toHaveLength(1);
  });
});

describe('the runbooks', () => {
  const pages = readdirSync(join(root, 'docs/runbooks')).filter((name) => name !== 'README.md');
  const sections = pages.flatMap((page) =>
    text(join(root, 'docs/runbooks', page))
      .split(/^## /m)
      .slice(1)
      .map((section) => ({ page, alert: section.split('\n')[0] ?? '', section })),
  );

  test.each(alertRules.map((rule) => [rule.alert, rule] as const))('%s has one', (alert, rule) => {
    const [address, anchor] = runbookOf(rule).split('#');
    expect(address?.startsWith(`${settings.runbookBase}/`)).toBe(true);
    const page = address?.slice(settings.runbookBase.length + 1) ?? '';
    expect(existsSync(join(root, 'docs/runbooks', page))).toBe(true);
    expect(sections.filter((one) => one.page === page && one.alert.toLowerCase() === anchor)).toHaveLength(1);
    expect(alert.toLowerCase()).toBe(anchor);
  });

  test.each(sections.map(({ alert, section }) => [alert, section]))(
    '%s: what it means, how to check, what to do',
    (alert, section) => {
      expect(alertRules.map((rule) => rule.alert)).toContain(alert);
      for (const part of ['**Means.**', '**Check.**', '**Do.**']) expect(section).toContain(`\n${part} `);
    },
  );

  test('the queries in them are PromQL over metrics that exist', () => {
    const queries = sections.flatMap(({ section }) =>
      [...section.matchAll(/^```promql\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n')),
    );
    expect(queries.length).toBeGreaterThan(10);
    for (const query of queries) {
      for (const { metric, labels } of namedIn(query).selected) {
        expect([...labelsOf.keys()], query).toContain(metric);
        if (!metric.includes(':')) expect(labels.filter((label) => !labelsOf.get(metric)?.includes(label))).toEqual([]);
      }
    }
  });

  test('the first page leads to each of them', () => {
    const index = text(join(root, 'docs/runbooks/README.md'));
    const rows = alertRules.map(({ alert, page, severity, for: lasting }) => {
      return `| [${alert}](${page}.md#${alert.toLowerCase()}) | ${severity} | ${lasting} |`;
    });
    expect(index.match(/^\| \[Filer.*$/gm)).toEqual(rows);
  });
});

describe('each alert', () => {
  test('has its cases, and no case is without its alert', () => {
    expect(new Set(Object.keys(alertCases))).toEqual(new Set(alertRules.map(({ alert }) => alert)));
    expect(Object.keys(alertCases)).toHaveLength(alertRules.length);
  });

  test.each(alertRules.map(({ alert }) => [alert, alertCases[alert] ?? []] as const))(
    '%s has a case that fires, one that does not, and one where data is missing',
    (_, cases) => {
      const of = (kind: AlertCase['kind']) => cases.filter((one) => one.kind === kind);
      for (const kind of ['fires', 'silent', 'missing'] as const) expect(of(kind), kind).not.toEqual([]);
      for (const { alerts = [] } of of('fires')) expect(alerts).not.toEqual([]);
      expect(of('fires').some(({ pendingAt }) => pendingAt !== undefined)).toBe(true);
      for (const { alerts = [] } of [...of('silent'), ...of('missing')]) expect(alerts).toEqual([]);
      // Missing means that something of what fires is not there at all, or ends.
      const fired = new Set(of('fires').flatMap(({ series }) => Object.keys(series)));
      for (const { series, when } of of('missing')) {
        const isMissing = [...fired].some((each) => series[each] === undefined || /stale|_/.test(series[each]));
        expect(isMissing, when).toBe(true);
      }
    },
  );

  test('has a severity that its cases name, and a summary that names who it is about', () => {
    for (const { alert, summary, expr } of alertRules) {
      if (alert !== 'FilerExporterAbsent') expect(summary, alert).toMatch(/\$labels\.(?:filer|volume|instance)\b/);
      expect(expr, alert).not.toBe('');
    }
  });
});

test('the README says of each recording rule what it is', () => {
  const readme = text(join(folder, 'README.md'));
  const isNamed = (record: string) => {
    const [level, metric, operation] = record.split(':');
    const row = readme
      .split('\n')
      .find((line) => line.startsWith('| `') && line.includes(`:${metric}:`) && line.includes(`:${operation}\``));
    return row?.includes(`\`${level}:`) ?? false;
  };
  expect(recordingRules.filter(({ record }) => !isNamed(record))).toEqual([]);
});

test('each recording rule has a case that gives samples, and no case is without its rule', () => {
  expect(new Set(Object.keys(recordingCases))).toEqual(new Set(recordingRules.map(({ record }) => record)));
  for (const cases of Object.values(recordingCases)) expect(cases.some(({ samples }) => samples.length > 0)).toBe(true);
});

test.runIf(process.env.REQUIRE_PROMETHEUS === '1')('promtool is installed, as REQUIRE_PROMETHEUS asks', () => {
  expect(hasPromtool).toBe(true);
});

test.runIf(hasAmtool)('amtool finds no fault in the example for Alertmanager', () => {
  expect(amtool('check-config', join(folder, 'alertmanager.yml'))).toMatchObject({ status: 0 });
});

describe.runIf(hasPromtool)('promtool', () => {
  test('finds no fault in the rules, nor in the example that loads them', () => {
    expect(promtool('check', 'rules', '--lint-fatal', rulesPath)).toMatchObject({ status: 0 });
    expect(promtool('check', 'config', join(folder, 'prometheus.yml'))).toMatchObject({ status: 0 });
  });

  test.each(Object.entries(alertCases))('%s fires when it must, and else does not', (alert, cases) => {
    const verdict = testRules(
      cases.map((one) => [alert, one]),
      [],
    );
    expect(verdict).toMatchObject({ status: 0, said: expect.stringContaining('SUCCESS') });
  });

  test('records what the recording rules say', () => {
    const cases = Object.entries(recordingCases).flatMap(([name, all]) => all.map((one) => [name, one] as const));
    expect(testRules([], cases)).toMatchObject({ status: 0 });
  });

  test('would see an alert that fires otherwise than expected, and one that does not fire', () => {
    const [fires] = exporterCases.FilerApiDown ?? [];
    const [alert] = fires?.alerts ?? [];
    if (fires === undefined || alert === undefined) throw new Error('FilerApiDown has no case that fires');
    const otherwise = { ...fires, alerts: [{ ...alert, summary: 'Something else.' }] };
    expect(testRules([['FilerApiDown', otherwise]], []).status).toBe(1);
    expect(testRules([['FilerApiDown', { ...fires, alerts: [] }]], []).status).toBe(1);
    expect(testRules([['FilerApiDown', { ...fires, at: '2m' }]], []).status).toBe(1);
  });
});

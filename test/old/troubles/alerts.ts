import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rulesFile } from '../../deploy/prometheus/files.ts';
import { alertRules } from '../../deploy/prometheus/groups.ts';
import { templateOf } from '../../deploy/prometheus/template.ts';
import { inhibitions } from '../deploy/prometheus/inhibition.ts';
import { groupsFor } from '../deploy/prometheus/promtool.ts';
import type { Scrape } from '../support/scrape.ts';

/** What was scraped at a moment: values by series. */
export type Samples = ReadonlyMap<string, number>;

export function samplesOf(scrape: Scrape): Samples {
  return new Map(scrape.samples.map(({ name, labels, value }) => [seriesOf(name, labels), value]));
}

function seriesOf(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `${name}{${pairs.join(',')}}`;
}

/** Every alert, and what they need of what is recorded. */
const GROUPS = groupsFor(alertRules.map(({ alert }) => alert));

/** The metrics that these read. */
const READ = new Set(GROUPS.flatMap(({ rules }) => rules.flatMap(({ expr }) => expr.match(/\w+/g) ?? [])));

type Labels = Readonly<Record<string, string>>;

/**
 * The alerts that arrive, by the shipped rules, promtool and the shipped inhibitions: those of each look. `looks`: what
 * was scraped every so many minutes, the first time at `start`, in epoch milliseconds.
 */
export function arrivals(looks: readonly Samples[], minutes: number, start: number): readonly (readonly Labels[])[] {
  const isRead = (series: string) => READ.has(series.slice(0, series.indexOf('{')));
  const names = new Set(looks.flatMap((samples) => [...samples.keys()]).filter(isRead));
  const target = 'job="filer-exporter",instance="here:9989"';
  // Time begins at zero for promtool.
  const shift = (series: string) => (/_timestamp_seconds\{/.test(series) ? start / 1000 : 0);
  const valueAt = (samples: Samples, series: string) => {
    const value = samples.get(series);
    return value === undefined ? '_' : String(value - shift(series));
  };
  const input_series = [...names].map((series) => ({
    series: series.replace('{', `{${target}${series.endsWith('{}') ? '' : ','}`),
    values: looks
      .map((samples) => `${valueAt(samples, series)} `.repeat(minutes))
      .join('')
      .trim(),
  }));
  input_series.push({ series: `up{${target}}`, values: `1x${minutes * looks.length}` });
  const expr = 'ALERTS{alertstate="firing"}';
  const test = {
    interval: '1m',
    input_series,
    promql_expr_test: looks.map((_, look) => ({ expr, eval_time: `${minutes * (look + 1) - 1}m`, exp_samples: [] })),
  };
  const arrived: Labels[][] = looks.map(() => []);
  for (const part of promtool(test, minutes).split(/(?=expr: )/)) {
    const look = Math.floor(minutesOf(/time: (\S+?),/.exec(part)?.[1] ?? '') / minutes);
    const firing = [...part.matchAll(/\{__name__="ALERTS", ([^}]*)\}/g)].map(([, labels = '']) => labelsIn(labels));
    arrived[look]?.push(...firing.filter((alert) => !isInhibited(alert, firing)));
  }
  return arrived;
}

/** What promtool says of a test that expects nothing. The rules are evaluated once between two looks. */
function promtool(test: object, minutes: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-troubles-'));
  try {
    writeFileSync(join(folder, 'rules.yml'), rulesFile({}, templateOf(GROUPS)));
    const tests = { rule_files: ['rules.yml'], evaluation_interval: `${minutes}m`, tests: [test] };
    writeFileSync(join(folder, 'tests.yml'), JSON.stringify(tests));
    const args = ['test', 'rules', join(folder, 'tests.yml')];
    const { stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', maxBuffer: 1e9 });
    return `${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function labelsIn(text: string): Labels {
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
}

/** Whether the example for Alertmanager sends no message about an alert while these fire. */
function isInhibited(alert: Labels, firing: readonly Labels[]): boolean {
  return inhibitions().some(
    ({ source, target, equal }) =>
      target.alert === alert.alertname &&
      firing.some((one) => one.alertname === source.alert && equal.every((label) => one[label] === alert[label])),
  );
}

function minutesOf(duration: string): number {
  const [, hours = '0'] = /(\d+)h/.exec(duration) ?? [];
  const [, minutes = '0'] = /(\d+)m/.exec(duration) ?? [];
  return 60 * Number(hours) + Number(minutes);
}

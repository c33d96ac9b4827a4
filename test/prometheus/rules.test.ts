import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { hasTool, run } from '../harness/tools.ts';

/*
 * The alerts, by promtool. alerts/*.yml say when each alert is pending, fires and is silent. They run as they are written,
 * and again with what a real Prometheus adds: lost scrapes, a new pod, and two addresses of one exporter.
 */

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));
const rulesFile = join(deploy, 'prometheus/filer-exporter.rules.yml');
const alerts = new URL('alerts/', import.meta.url);
const files = readdirSync(alerts).toSorted();

interface Series {
  readonly series: string;
  readonly values: string;
}

interface TestFile {
  readonly tests: readonly { readonly input_series: readonly Series[] }[];
}

/** The samples of promtool's short form: `0+60x2` is 0, 60, 120, and `_x2` is two missing ones. */
function samplesOf(values: string): string[] {
  return values.split(' ').flatMap((part) => {
    const [, start = '', step = '0', count] = /^(_|stale|-?[\d.]+)([+-][\d.]+)?(?:x(\d+))?$/.exec(part) ?? [];
    if (start === '_') return Array.from({ length: Number(count ?? 1) }, () => '_');
    if (start === 'stale') return ['stale'];
    return Array.from({ length: Number(count ?? 0) + 1 }, (_, index) => String(Number(start) + index * Number(step)));
  });
}

/** Every ninth scrape fails, so Prometheus marks every series as stale. */
function lostScrapes({ series, values }: Series): Series[] {
  const samples = samplesOf(values).map((sample, index) => (index % 9 === 8 && sample !== '_' ? 'stale' : sample));
  return [{ series, values: samples.join(' ') }];
}

/** After a quarter of an hour the exporter runs in another pod. */
function newPod({ series, values }: Series): Series[] {
  const samples = samplesOf(values);
  return [
    { series, values: [...samples.slice(0, 15), 'stale'].join(' ') },
    {
      series: withInstance(series, 'new'),
      values: [...samples.slice(0, 15).fill('_'), ...samples.slice(15)].join(' '),
    },
  ];
}

function twoAddresses({ series, values }: Series): Series[] {
  return [
    { series, values },
    { series: withInstance(series, 'second'), values },
  ];
}

function withInstance(series: string, instance: string): string {
  return series.includes('instance="e"')
    ? series.replace('instance="e"', `instance="${instance}"`)
    : series.replace('{', `{instance="${instance}",`);
}

/** Runs the tests of a file after a change of every series. */
function testRules(file: string, change: (series: Series) => Series[]): string {
  const written = parse(readFileSync(new URL(file, alerts), 'utf8')) as TestFile;
  const tests = written.tests.map((one) => ({ ...one, input_series: one.input_series.flatMap(change) }));
  const path = join(temporaryDirectory(), file);
  writeFileSync(path, stringify({ ...written, rule_files: [rulesFile], tests }, { aliasDuplicateObjects: false }));
  return run('promtool', ['test', 'rules', path]).output;
}

test('the resource of the Prometheus operator has the rules as they are written', () => {
  const resource = readFileSync(join(deploy, 'prometheus/filer-exporter.prometheusrule.yml'), 'utf8');
  expect((parse(resource) as { readonly spec: unknown }).spec).toEqual(parse(readFileSync(rulesFile, 'utf8')));
});

describe.runIf(hasTool('promtool'))('alerts', () => {
  test('promtool finds no fault in the rules', () => {
    const { status, output } = run('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', rulesFile]);
    expect({ status, output }).toMatchObject({ status: 0 });
  });

  test('the examples of a configuration of Prometheus and of Alertmanager are right', () => {
    for (const path of [join(deploy, 'prometheus/prometheus.yml'), join(deploy, 'compose/prometheus.yml')]) {
      expect({ path, ...run('promtool', ['check', 'config', '--syntax-only', path]) }).toMatchObject({ status: 0 });
    }
    for (const path of [join(deploy, 'prometheus/alertmanager.yml'), join(deploy, 'compose/alertmanager.yml')]) {
      expect({ path, ...run('amtool', ['check-config', path]) }).toMatchObject({ status: 0 });
    }
  });

  describe.each<[string, (series: Series) => Series[]]>([
    ['as written', (series) => [series]],
    ['if one scrape in nine is lost', lostScrapes],
    ['if the exporter gets a new pod', newPod],
    ['if the exporter has two addresses', twoAddresses],
  ])('each alert is silent, pending and firing %s', (_, change) => {
    test.each(files)('in %s', (file) => {
      expect(testRules(file, change)).toContain('SUCCESS');
    });
  });

  test('every alert fires in one of the files', () => {
    const names = [...readFileSync(rulesFile, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const tested = files.map((file) => readFileSync(new URL(file, alerts), 'utf8')).join('\n');
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !new RegExp(`${name}[^\\n]*(firing|severity)`).test(tested))).toEqual([]);
  });
});

import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { boardQueries } from '../harness/board-queries.ts';
import { startPrometheus } from '../harness/prometheus.ts';
import { spawnExporter } from '../harness/spawn-exporter.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { hasTool, run } from '../harness/tools.ts';
import { until } from '../harness/until.ts';

/* What a real Prometheus finds for every query of the boards, after it has scraped the demo in which things fail. */

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Queries that find nothing in this demo within a minute, or at some moments, with the reason. */
const MAY_BE_EMPTY: Readonly<Record<string, string>> = {
  'Overview / Alerts by severity / A': 'no alert fires so early',
  'Overview / Alerts / A': 'no alert fires so early',
  'Filers and volumes / Alerts / A': 'no alert fires so early',
  'Appliance / Alerts / A': 'no alert fires so early',
  'Filers and volumes / Failed snapshots / A': 'no snapshot has failed',
  'Overview / Key expires in / A': 'the demo forbids the list of keys',
  'Appliance / Memory by use / B': 'the appliance has a newer build',
  'Exporter / Suspended and overdue tasks / B': 'no task is overdue',
  'Exporter / Delivered up to / A': 'remote write is off',
  'Exporter / Points / A': 'remote write is off',
  'Exporter / Points / B': 'remote write is off',
  'Exporter / History lost, per day / A': 'remote write is off',
  'Filers and volumes / Longest lock held / A': 'a lock is held for seconds',
  'Filers and volumes / Locks held now / A': 'a lock is held for seconds',
  'Filers and volumes / Failed metadata snapshots per hour / A': 'one in many fails',
  'Appliance / Volumes / D': 'changes need not reach every appliance',
  'Exporter / Unusable values, per hour / A': 'a value is rarely unusable',
  'Overview / Notifications of the last day / A': 'the first notification need not be a warning',
};

function filled(expr: string, filer: string): string {
  return expr
    .replaceAll('$job', 'demo')
    .replaceAll('${filer:raw}', filer)
    .replaceAll(/\$\{(?:filer|volume):regex\}/g, '.*')
    .replaceAll('$__rate_interval', '10s');
}

test.skipIf(!hasTool('prometheus'))(
  'promtool finds no fault in the page, and every query finds something in it',
  async () => {
    const folder = temporaryDirectory();
    const exporter = await spawnExporter(['--demo', '--trouble']).serving();
    copyFileSync(join(root, 'deploy/prometheus/filer-exporter.rules.yml'), join(folder, 'rules.yml'));
    const often = '{ scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 2s }';
    const job = `{ job_name: demo, static_configs: [{ targets: ['${new URL(exporter).host}'] }] }`;
    const configuration = `global: ${often}\nrule_files: [rules.yml]\nscrape_configs: [${job}]\n`;
    writeFileSync(join(folder, 'prometheus.yml'), configuration);
    const prometheus = await startPrometheus(folder);
    const query = async (expr: string) => {
      const data = await prometheus.get(`query?${new URLSearchParams({ query: expr })}`);
      return (data as { readonly result: readonly { readonly metric: Readonly<Record<string, string>> }[] }).result;
    };
    const [appliance] = await until('an appliance with volumes', async () => {
      const found = await query(
        'filer_appliance_health_score and filer_appliance_memory_utilization_ratio and on (filer) filer_oldest_unprotected_data_timestamp_seconds',
      );
      return found.length > 0 && found;
    });
    const page = join(folder, 'page.txt');
    writeFileSync(page, await (await fetch(`${exporter}/metrics`)).text());
    expect(run('sh', ['-c', `promtool check metrics <${page}`])).toEqual({ status: 0, output: '' });

    let empty = boardQueries;
    const unexpected = () => empty.map(({ where }) => where).filter((where) => !(where in MAY_BE_EMPTY));
    const look = async () => {
      const still = [];
      for (const asked of empty) {
        const found = await query(filled(asked.expr, appliance?.metric.filer ?? ''));
        if (found.length === 0) still.push(asked);
      }
      empty = still;
      return unexpected().length === 0;
    };
    await until('every query to find something', look, 120_000).catch(() => undefined);
    expect(unexpected()).toEqual([]);
    expect(Object.keys(MAY_BE_EMPTY).filter((where) => boardQueries.every((asked) => asked.where !== where))).toEqual(
      [],
    );
  },
  180_000,
);

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { boardQueries } from '../harness/board-queries.ts';
import { freePort } from '../harness/free-port.ts';
import { hasTool, run } from '../harness/tools.ts';
import { until } from '../harness/until.ts';

/* What a real Prometheus finds for every query of the boards, after it has scraped the demo in which things fail. */

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Queries that find nothing in this demo within a minute, with the reason. */
const EMPTY: Readonly<Record<string, string>> = {
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
};

/** Queries that find something at some moments only. */
const RARE: Readonly<Record<string, string>> = {
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

describe.runIf(hasTool('prometheus'))('boards', () => {
  const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-boards-'));
  const children: ChildProcess[] = [];
  let exporter = '';
  let prometheus = '';

  const start = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    children.push(spawn(program, args, { cwd: folder, env: { ...process.env, ...env }, stdio: 'ignore' }));
  };

  const query = async (expr: string): Promise<readonly { readonly metric: Readonly<Record<string, string>> }[]> => {
    const response = await fetch(`${prometheus}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query: expr }),
    });
    const body = (await response.json()) as { readonly error?: string; readonly data?: { readonly result: [] } };
    if (body.data === undefined) throw new Error(`${expr}: ${body.error}`);
    return body.data.result;
  };

  beforeAll(async () => {
    exporter = `127.0.0.1:${await freePort()}`;
    start(process.execPath, [join(root, 'dist/main.js'), '--demo', '--trouble'], { LISTEN_ADDRESS: exporter });
    copyFileSync(join(root, 'deploy/prometheus/filer-exporter.rules.yml'), join(folder, 'rules.yml'));
    const often = '{ scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 2s }';
    const job = `{ job_name: demo, static_configs: [{ targets: ['${exporter}'] }] }`;
    const configuration = `global: ${often}\nrule_files: [rules.yml]\nscrape_configs: [${job}]\n`;
    writeFileSync(join(folder, 'prometheus.yml'), configuration);
    prometheus = `http://127.0.0.1:${await freePort()}`;
    const address = prometheus.slice('http://'.length);
    start('prometheus', [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--web.listen-address=${address}`,
    ]);
    await until('Prometheus to be ready', async () => (await fetch(`${prometheus}/-/ready`)).ok);
  }, 60_000);

  afterAll(async () => {
    const ended = children.map((child) => once(child, 'exit'));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ended);
    rmSync(folder, { recursive: true, force: true });
  });

  test('promtool finds no fault in the page', async () => {
    const page = await until('the demo to be polled', async () => {
      const text = await (await fetch(`http://${exporter}/metrics`)).text();
      return text.includes('filer_appliance_up') && text;
    });
    const path = join(folder, 'page.txt');
    writeFileSync(path, page);
    expect(run('sh', ['-c', `promtool check metrics <${path}`])).toEqual({ status: 0, output: '' });
  });

  test('every query finds something within a minute or two, but for those that have a reason', async () => {
    const [appliance] = await until('an appliance', async () => {
      const found = await query('filer_appliance_health_score and filer_appliance_memory_utilization_ratio');
      return found.length > 0 && found;
    });
    let empty = boardQueries.filter(({ where }) => !(where in RARE));
    const usual = () => empty.filter(({ where }) => !(where in EMPTY));
    const look = async () => {
      const still = [];
      for (const asked of empty) {
        const found = await query(filled(asked.expr, appliance?.metric.filer ?? ''));
        if (found.length === 0) still.push(asked);
      }
      empty = still;
      return usual().length === 0;
    };
    await until('every query to find something', look, 120_000).catch(() => undefined);
    expect(usual().map(({ where }) => where)).toEqual([]);
    expect(new Set(empty.map(({ where }) => where))).toEqual(new Set(Object.keys(EMPTY)));
    for (const { expr } of boardQueries.filter(({ where }) => where in RARE))
      await query(filled(expr, appliance?.metric.filer ?? ''));
  }, 180_000);
});

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

/** A real Prometheus with a past of its own. */
export interface PastPrometheus {
  /** What a query gives at a moment in Unix seconds: the value of each series, by its labels as JSON. */
  query(text: string, at: number): Promise<ReadonlyMap<string, number>>;
  close(): void;
}

/** Starts one that scrapes nothing and has an OpenMetrics text with timestamps as its past. */
export async function prometheusWith(openMetrics: string): Promise<PastPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-prometheus-'));
  const past = join(folder, 'past.om');
  const data = join(folder, 'data');
  const config = join(folder, 'prometheus.yml');
  writeFileSync(past, openMetrics);
  writeFileSync(config, 'scrape_configs: []\n');
  execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', past, data], { stdio: 'ignore' });
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const child = spawn(
    'prometheus',
    [
      ...[`--config.file=${config}`, `--storage.tsdb.path=${data}`, `--web.listen-address=${address}`],
      '--storage.tsdb.retention.time=100y',
    ],
    { stdio: 'ignore' },
  );
  const close = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await until('Prometheus to be ready', async () => (await fetch(`http://${address}/-/ready`)).ok, 30_000);
  } catch (error) {
    close();
    throw error;
  }
  return { query: (text, at) => query(address, text, at), close };
}

async function query(address: string, text: string, at: number): Promise<ReadonlyMap<string, number>> {
  const parameters = new URLSearchParams({ query: text, time: String(at) });
  const answer = (await (await fetch(`http://${address}/api/v1/query?${parameters}`)).json()) as {
    readonly error?: string;
    readonly data?: {
      readonly result: readonly { readonly metric: object; readonly value: readonly [number, string] }[];
    };
  };
  if (answer.data === undefined) throw new Error(`${text}: ${answer.error}`);
  return new Map(answer.data.result.map(({ metric, value }) => [JSON.stringify(metric), Number(value[1])]));
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

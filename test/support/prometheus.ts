import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { until } from './until.ts';

/** Whether `prometheus` and `promtool` are installed. */
export const hasPrometheus: boolean = ['prometheus', 'promtool'].every((program) => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

/** Stands between Prometheus and an exporter, and notes what goes by. */
export interface Relay {
  /** Host and port. */
  readonly address: string;
  /** Of the latest answer. */
  readonly contentType: string | undefined;
  /** How many samples the latest answer held. */
  readonly samples: number;
  close(): void;
}

/** One series of an answer to a query. */
export interface Result {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}

/** A running Prometheus. */
export interface Prometheus {
  readonly child: ChildProcess;
  /** All that it logged so far. */
  readonly log: string;
  targets(): Promise<readonly { readonly health: string; readonly lastError: string }[]>;
  query(expression: string): Promise<readonly Result[]>;
}

/** Relays scrapes to an exporter, with this `Accept` header or else with Prometheus's own. */
export async function startRelay(url: string, accept?: string): Promise<Relay> {
  const latest = { contentType: undefined as string | undefined, samples: 0 };
  const server = createServer(async (request, response) => {
    try {
      const answer = await fetch(`${url}/metrics`, { headers: { accept: accept ?? request.headers.accept ?? '*/*' } });
      const text = await answer.text();
      latest.contentType = answer.headers.get('content-type') ?? undefined;
      latest.samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
      response.writeHead(answer.status, { 'content-type': latest.contentType ?? 'text/plain' }).end(text);
    } catch {
      response.destroy();
    }
  });
  return {
    address: `127.0.0.1:${await listen(server)}`,
    get contentType() {
      return latest.contentType;
    },
    get samples() {
      return latest.samples;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Starts a Prometheus that scrapes each target once a second under the target's name as its job; `settings` are further
 * lines of a job.
 */
export async function startPrometheus(
  directory: string,
  jobs: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Prometheus> {
  const file = join(directory, 'prometheus.yml');
  const scrapes = Object.entries(jobs).map(
    ([name, target]) =>
      `  - job_name: ${name}\n    static_configs:\n      - targets: ['${target}']\n${settings[name] ?? ''}`,
  );
  writeFileSync(file, `global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\nscrape_configs:\n${scrapes.join('')}`);
  const address = `127.0.0.1:${await freePort()}`;
  const storage = `--storage.tsdb.path=${join(directory, 'data')}`;
  const child = spawn('prometheus', [`--config.file=${file}`, storage, `--web.listen-address=${address}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ask = async (path: string) => {
    const answer = await fetch(`http://${address}/api/v1/${path}`);
    const { data, error } = (await answer.json()) as { readonly data?: never; readonly error?: string };
    if (data === undefined) throw new Error(`${path}: ${error}`);
    return data;
  };
  await until('Prometheus to be ready', async () => (await fetch(`http://${address}/-/ready`)).ok, 30_000);
  return {
    child,
    get log() {
      return log;
    },
    targets: async () => ((await ask('targets')) as { readonly activeTargets: never }).activeTargets,
    query: async (expression) =>
      ((await ask(`query?query=${encodeURIComponent(expression)}`)) as { readonly result: never }).result,
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  return port;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

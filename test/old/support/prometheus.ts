import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './listening.ts';
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

/** One series of an answer to a query. */
export interface Result {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}

/** A running Prometheus. */
export interface Prometheus {
  readonly child: ChildProcess;
  readonly url: string;
  /** All that it logged so far. */
  readonly log: string;
  targets(): Promise<readonly { readonly health: string; readonly lastError: string }[]>;
  /** At a moment in Unix seconds; now by default. */
  query(expression: string, at?: number): Promise<readonly Result[]>;
  /** What an address of its API answers, such as `rules`. */
  ask<Answer>(path: string): Promise<Answer>;
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
  const scrapes = Object.entries(jobs).map(
    ([name, target]) =>
      `  - job_name: ${name}\n    static_configs:\n      - targets: ['${target}']\n${settings[name] ?? ''}`,
  );
  return runPrometheus(
    directory,
    `global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\nscrape_configs:\n${scrapes.join('')}`,
  );
}

/** Starts a Prometheus with this configuration, which lies in the directory, as do files that it names. */
export async function runPrometheus(
  directory: string,
  configuration: string,
  ...options: readonly string[]
): Promise<Prometheus> {
  const file = join(directory, 'prometheus.yml');
  writeFileSync(file, configuration);
  const address = `127.0.0.1:${await freePort()}`;
  const storage = `--storage.tsdb.path=${join(directory, 'data')}`;
  const child = spawn('prometheus', [`--config.file=${file}`, storage, `--web.listen-address=${address}`, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ask = async <Answer>(path: string): Promise<Answer> => {
    const answer = await fetch(`http://${address}/api/v1/${path}`);
    const { data, error } = (await answer.json()) as { readonly data?: Answer; readonly error?: string };
    if (data === undefined) throw new Error(`${path}: ${error}`);
    return data;
  };
  await until('Prometheus to be ready', async () => (await fetch(`http://${address}/-/ready`)).ok);
  return {
    child,
    url: `http://${address}`,
    get log() {
      return log;
    },
    targets: async () => (await ask<{ readonly activeTargets: never }>('targets')).activeTargets,
    query: async (expression, at) => {
      const asked = new URLSearchParams({ query: expression, ...(at === undefined ? {} : { time: String(at) }) });
      return (await ask<{ readonly result: readonly Result[] }>(`query?${asked}`)).result;
    },
    ask,
  };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from './until.ts';

export interface Prometheus {
  /** The `data` of a response of its API, such as `query?query=up`. */
  get(path: string): Promise<unknown>;
  /** Where it takes remote write, with the option for it. */
  readonly writeUrl: string;
  stop(): Promise<void>;
}

/** Starts a Prometheus with the `prometheus.yml` of this folder, where its data are, too. It ends with the test at the latest. */
export async function startPrometheus(folder: string, ...options: readonly string[]): Promise<Prometheus> {
  const address = `127.0.0.1:${await freePort()}`;
  const files = [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'data')}`];
  const child = spawn('prometheus', [...files, `--web.listen-address=${address}`, ...options], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(stop);
  await until('Prometheus to be ready', async () => (await fetch(`http://${address}/-/ready`)).ok);
  return {
    get: async (path) => {
      const response = await fetch(`http://${address}/api/v1/${path}`);
      const { data, error } = (await response.json()) as { readonly data?: unknown; readonly error?: string };
      if (data === undefined) throw new Error(`${path}: ${error}`);
      return data;
    },
    writeUrl: `http://${address}/api/v1/write`,
    stop,
  };
}

/** A port of this machine that is free now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

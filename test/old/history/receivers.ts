import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Send } from '../../src/history/delivery.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createDispatcher } from '../../src/transport/dispatcher.ts';
import { post } from '../../src/transport/post.ts';
import { keyOf } from '../harness/receiver.ts';
import { freePort } from '../support/listening.ts';
import { until } from '../support/until.ts';
import type { Points } from './minutes.ts';

/** A real receiver, whose data outlives its process. */
export interface RealReceiver {
  readonly url: string;
  readonly send: Send;
  start(): Promise<void>;
  /** Ends it, with `kill -9` where it promises to keep what it has taken. */
  kill(): Promise<void>;
  /** All that it holds between two moments in epoch milliseconds. */
  points(from: number, to: number): Promise<Points>;
}

/** A Prometheus that takes remote write, of this program. */
export async function prometheusReceiver(program: string, folder: string, configuration = ''): Promise<RealReceiver> {
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'prometheus.yml');
  writeFileSync(file, configuration);
  const url = `http://127.0.0.1:${port}`;
  return {
    ...living(
      `${url}/-/ready`,
      program,
      [
        ...[
          `--config.file=${file}`,
          `--storage.tsdb.path=${join(folder, 'data')}`,
          `--web.listen-address=127.0.0.1:${port}`,
        ],
        ...['--web.enable-remote-write-receiver', '--storage.tsdb.retention.time=50y', '--log.level=warn'],
      ],
      'SIGKILL',
    ),
    url,
    send: sendTo(`${url}/api/v1/write`),
    points: async (from, to) => {
      const seconds = Math.ceil((to - from) / 1000) + 1;
      const query = new URLSearchParams({ query: `{job=~"filer-exporter.*"}[${seconds}s]`, time: String(to / 1000) });
      // It refuses a query about what it compacts at that moment.
      const { result } = await until('Prometheus to answer', async () => {
        const answer = (await (await fetch(`${url}/api/v1/query?${query}`)).json()) as {
          readonly error?: string;
          readonly data?: {
            readonly result: readonly { metric: Record<string, string>; values: [number, string][] }[];
          };
        };
        if (answer.data === undefined) throw new Error(answer.error);
        return answer.data;
      });
      return new Map(
        result.map(({ metric, values }) => [
          keyOf(metric),
          new Map(values.map(([time, value]) => [Math.round(time * 1000), Number(value)])),
        ]),
      );
    },
  };
}

/** A VictoriaMetrics. It answers before it writes, so a `kill -9` of it may lose seconds: it is stopped as systemd does. */
export async function victoriaReceiver(folder: string): Promise<RealReceiver> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  return {
    ...living(
      `${url}/health`,
      'victoria-metrics',
      [
        ...[`-storageDataPath=${join(folder, 'data')}`, `-httpListenAddr=127.0.0.1:${port}`, '-retentionPeriod=50y'],
        ...['-loggerLevel=ERROR', '-memory.allowedBytes=128MB', '-dedup.minScrapeInterval=1ms'],
      ],
      'SIGTERM',
    ),
    url,
    send: sendTo(`${url}/api/v1/write`),
    points: async (from, to) => {
      await fetch(`${url}/internal/force_flush`);
      const range = new URLSearchParams({
        'match[]': '{job=~"filer-exporter.*"}',
        start: String(from / 1000),
        end: String(to / 1000),
      });
      const points: Points = new Map();
      for (const line of (await (await fetch(`${url}/api/v1/export?${range}`)).text()).split('\n')) {
        if (line === '') continue;
        const { metric, values, timestamps } = JSON.parse(line);
        const held = points.get(keyOf(metric)) ?? new Map<number, number>();
        points.set(keyOf(metric), held);
        for (const [index, time] of timestamps.entries()) {
          if (held.has(time)) throw new Error(`VictoriaMetrics holds ${JSON.stringify(metric)} at ${time} twice`);
          held.set(time, values[index]);
        }
      }
      return points;
    },
  };
}

/** An InfluxDB 1, which stores a repeated point over the first one. */
export async function influxReceiver(folder: string): Promise<RealReceiver> {
  const [port, backupPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const file = join(folder, 'influxdb.conf');
  const settings = [
    `reporting-disabled = true\nbind-address = "127.0.0.1:${backupPort}"`,
    `[meta]\ndir = "${folder}/meta"`,
    `[data]\ndir = "${folder}/data"\nwal-dir = "${folder}/wal"`,
    `[http]\nbind-address = "127.0.0.1:${port}"`,
  ];
  writeFileSync(file, settings.join('\n'));
  const query = async (q: string) => {
    const body = new URLSearchParams({ q });
    const answer = await fetch(`${url}/query?db=filers&epoch=ms`, { method: 'POST', body });
    return (await answer.json()) as {
      readonly results: readonly {
        readonly series?: readonly { tags: Record<string, string>; values: [number, number][] }[];
      }[];
    };
  };
  const { start, kill } = living(`${url}/ping`, 'influxd', ['-config', file], 'SIGKILL');
  return {
    url,
    kill,
    send: sendTo(`${url}/api/v1/prom/write?db=filers`),
    start: async () => {
      await start();
      await query('CREATE DATABASE filers');
    },
    points: async (from, to) => {
      const ours = `job =~ /filer-exporter.*/ AND time >= ${from}ms AND time <= ${to}ms`;
      const { results } = await query(`SELECT value FROM /.*/ WHERE ${ours} GROUP BY *`);
      return new Map(
        results[0]?.series?.map(({ tags, values }) => {
          // A label that only other series of the metric have is an empty tag.
          const labels = Object.entries(tags).filter(([, value]) => value !== '');
          return [keyOf(Object.fromEntries(labels)), new Map(values)];
        }),
      );
    },
  };
}

/** Sends over real connections, with real time-outs. */
export function sendTo(url: string, headers: Readonly<Record<string, string>> = {}): Send {
  const dispatcher = createDispatcher(undefined);
  return (own, body, signal) =>
    post(dispatcher, url, { ...headers, ...own }, body, { clock: systemClock, timeoutMs: 10_000, signal });
}

function living(
  health: string,
  program: string,
  parameters: readonly string[],
  signal: NodeJS.Signals,
): Pick<RealReceiver, 'start' | 'kill'> {
  let child: ChildProcess | undefined;
  return {
    start: async () => {
      child = spawn(program, parameters, { stdio: 'ignore' });
      await until(`${program} to be ready`, async () => (await fetch(health)).ok);
    },
    kill: async () => {
      const ended = new Promise((resolve) => child?.once('exit', resolve) ?? resolve(undefined));
      child?.kill(signal);
      await ended;
    },
  };
}

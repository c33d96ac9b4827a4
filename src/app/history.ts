import { readFileSync } from 'node:fs';
import type { Config, RemoteWriteConfig } from '../config/config.ts';
import { proxyFor } from '../config/no-proxy.ts';
import { headerPairs } from '../config/remote-write.ts';
import type { RemoteWriteStatus } from '../exposition/own/status.ts';
import { RemoteWriteCounts } from '../history/counts.ts';
import { Receiver, type Send } from '../history/receiver.ts';
import { RemoteWrite } from '../history/remote-write.ts';
import type { Sink } from '../metrics/sink.ts';
import type { Reading } from '../metrics/snapshot.ts';
import { ConfigError } from '../runtime/errors.ts';
import type { KeptService } from '../sources/upstream.ts';
import { createPostDispatcher, post } from '../transport/post.ts';
import type { AskedUpstream } from './asked.ts';
import type { Environment } from './environment.ts';

/** The output that sends history by remote write. */
export interface History extends Sink {
  /** The start of the points that a task should bring; see `TelemetrySettings`. */
  readonly wantedSince: (task: string) => number | undefined;
  /** The cursors. */
  readonly kept: KeptService;
  /** Sends until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Sends what is waiting. */
  flush(signal: AbortSignal): Promise<unknown>;
  status(): RemoteWriteStatus;
}

/** Remote write as configured; undefined if it is off. Throws a ConfigError if a certificate cannot be read. */
export function historyOf(
  config: Config,
  asked: readonly AskedUpstream[],
  { clock, random, log, version }: Environment,
): History | undefined {
  const { remoteWrite } = config;
  const [points] = asked.flatMap(({ upstream, settings }) => upstream.points?.(settings) ?? []);
  if (remoteWrite === undefined || points === undefined) return undefined;
  const counts = new RemoteWriteCounts();
  const receiver = new Receiver(sendOf(remoteWrite, config, clock, version), clock, (code) => counts.answered(code));
  const remote = new RemoteWrite(
    { ...remoteWrite, lookbackMs: points.lookbackMs, sweepMs: points.intervalMs },
    receiver,
    counts,
    { clock, random, log },
  );
  let isRunning = false;
  return {
    // `--once` sends nothing.
    accept: async (origin, reading) => (isRunning ? remote.accept(origin, reading) : undefined),
    withdraw: () => remote.withdraw(),
    leaves: (reading) => (isRunning && !remoteWrite.isExposedToo ? withoutHistory(reading) : reading),
    wantedSince: (task) => remote.wantedSince(task),
    kept: {
      counts: {
        state: () => ({ cursors: remote.cursors.state(clock.now()) }),
        restore: ({ cursors }) => remote.cursors.restore(cursors),
      },
    },
    flush: (signal) => remote.flush(signal),
    run: async (signal) => {
      isRunning = true;
      if (config.stateFile === undefined) {
        log.warn('REMOTE_WRITE_URL without STATE_FILE: after a restart it is unknown which points have arrived');
      }
      await remote.run(signal);
    },
    status: () => ({ ...counts.read(), newestSeconds: seconds(remote.cursors.newest), waiting: remote.waiting }),
  };
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

/** Each series has one writer: what remote write sends is not exposed. */
function withoutHistory(reading: Reading): Reading {
  if (reading.points === undefined) return reading;
  return { ...reading, samples: [...reading.samples].filter(({ at }) => at === undefined) };
}

function sendOf(settings: RemoteWriteConfig, config: Config, clock: Environment['clock'], version: string): Send {
  const { url, token, basic, headers } = settings;
  const { timeoutMs, proxy } = config.requests;
  const way = proxyFor(url, proxy);
  const dispatcher = createPostDispatcher(tlsOf(settings), way && { ...way, timeoutMs });
  const secrets = [token, basic?.password, headers].filter((one) => one !== undefined);
  return async (own, body, signal) => {
    const further = { 'user-agent': `filer-exporter/${version}`, ...headerPairs(headers?.reveal() ?? '') };
    const all = { ...further, ...authorization(settings), ...own };
    const answer = await post(dispatcher, url, all, body, { clock, timeoutMs, signal });
    if (answer.status === 401 || answer.status === 403) for (const secret of secrets) await secret.reload();
    return answer;
  };
}

function authorization({ token, basic }: RemoteWriteConfig): Readonly<Record<string, string>> {
  if (token !== undefined) return { authorization: `Bearer ${token.reveal()}` };
  if (basic === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${basic.user}:${basic.password.reveal()}`).toString('base64')}` };
}

function tlsOf({ tls }: RemoteWriteConfig): Readonly<Record<string, string>> {
  const files = [
    ['ca', tls.caFile, 'REMOTE_WRITE_CA_FILE'],
    ['cert', tls.certFile, 'REMOTE_WRITE_CERT_FILE'],
    ['key', tls.keyFile, 'REMOTE_WRITE_KEY_FILE'],
  ] as const;
  const faults: string[] = [];
  const texts = files.flatMap(([name, path, variable]) => {
    if (path === undefined) return [];
    try {
      return [[name, readFileSync(path, 'utf8')] as const];
    } catch (error) {
      const { code = 'unknown' } = error as { readonly code?: string };
      faults.push(`${variable}: "${path}" cannot be read (${code}); expected the path of a PEM file`);
      return [];
    }
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.fromEntries(texts);
}

import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createBackfill, openMetrics } from '../../src/app/backfill.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type StandIn, startStandIn } from '../../src/demo/stand-in.ts';
import { Receiver, type Send } from '../../src/history/receiver.ts';
import { RemoteWrite } from '../../src/history/remote-write.ts';
import type { SeriesPoints } from '../../src/history/write-request.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import type { Reading } from '../../src/metrics/snapshot.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { upstreams } from '../../src/sources/upstreams.ts';
import { createPostDispatcher, post } from '../../src/transport/post.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';
import { noLog } from '../support/mock-api.ts';
import type { Report } from './main.ts';

/*
 * What remote write and --backfill cost. `BACKFILL_APPLIANCES=4 npm run bench -- history` makes the last part short: with
 * 100 it writes and reads some 30 GB of text, compressed on the disk.
 */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const { signal } = new AbortController();

export async function history(report: Report): Promise<void> {
  await sending(report);
  await holding(report);
  await backfilling(report);
}

/** Points a request, as remote write sends them: five new minutes of each series. */
const REQUEST = { series: 2_000, minutes: 5 } as const;
const REQUESTS = 50;

const pointsOf = (index: number, minutes: number): SeriesPoints => ({
  labels: [
    ['__name__', 'filer_appliance_disk_io_latency_seconds'],
    ['direction', index % 2 === 0 ? 'read' : 'write'],
    ['disk', 'cache'],
    ['filer', `edge-${Math.floor(index / 2)}`],
    ['instance', 'filer-exporter:9989'],
    ['job', 'filer-exporter'],
    ['serial', `10de1f94-f66a-4436-af8f-${String(Math.floor(index / 2)).padStart(12, '0')}`],
  ],
  times: Array.from({ length: minutes }, (_, minute) => Date.UTC(2026, 2, 2) + minute * MINUTE_MS),
  values: Array.from({ length: minutes }, (_, minute) => ((index * 7 + minute * 13) % 1000) / 1000),
});

/** Points a second through encoding, and through a connection to a receiver that takes all. */
async function sending(report: Report): Promise<void> {
  const series = Array.from({ length: REQUEST.series }, (_, index) => pointsOf(index, REQUEST.minutes));
  const points = REQUEST.series * REQUEST.minutes;
  for (const version of ['1.0', '2.0'] as const) {
    const headers = version === '2.0' ? { 'x-prometheus-remote-write-samples-written': String(points) } : {};
    let bytes = 0;
    const taken: Send = (_, body) => {
      bytes += body.length;
      return Promise.resolve({ status: 204, headers, text: '' });
    };
    report(`history.${version}.encoded`, await pointsPerSecond(taken, series), 'points/s');
    report(`history.${version}.bytes_per_point`, bytes / ((REQUESTS + 1) * points), 'bytes');
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(204, headers).end());
    });
    const url = await listening(server);
    const dispatcher = createPostDispatcher({}, undefined);
    const sent: Send = (own, body, stop) =>
      post(dispatcher, `${url}/api/v1/write`, own, body, { clock: systemClock, timeoutMs: 30_000, signal: stop });
    report(`history.${version}.sent`, await pointsPerSecond(sent, series), 'points/s');
    await dispatcher.close();
    server.close();
  }
}

async function pointsPerSecond(send: Send, series: readonly SeriesPoints[]): Promise<number> {
  const receiver = new Receiver(send, systemClock, () => {});
  await receiver.deliver(series, signal);
  const started = performance.now();
  for (let request = 0; request < REQUESTS; request += 1) await receiver.deliver(series, signal);
  return (REQUESTS * REQUEST.series * REQUEST.minutes * 1000) / (performance.now() - started);
}

const FLEET = { appliances: 2_000, tasks: 15, series: 3 } as const;

/** What remote write holds of a large fleet: cursors when all is well, and waiting points while the receiver is gone. */
async function holding(report: Report): Promise<void> {
  const place = `history.${FLEET.appliances}_appliances`;
  let isGone = false;
  const send: Send = () => {
    if (isGone) return Promise.reject(new Error('connect ECONNREFUSED'));
    return Promise.resolve({ status: 204, headers: {}, text: '' });
  };
  const before = heapUsed();
  const remote = new RemoteWrite(
    { labels: {}, catchUpMs: 6 * 60 * MINUTE_MS, sweepMs: 5 * MINUTE_MS, lookbackMs: 15 * MINUTE_MS },
    new Receiver(send, systemClock, () => {}),
    { sent: () => {}, dropped: () => {}, hole: () => {} },
    { clock: systemClock, random: () => 0.5, log: noLog },
  );
  let microseconds = 0;
  const sweep = async () => {
    for (let task = 0; task < FLEET.appliances * FLEET.tasks; task += 1) {
      const origin = { id: `portal/${task}`, api: 'portal' };
      const reading = readingOf(task);
      const started = performance.now();
      remote.wantedSince(origin.id);
      await remote.accept(origin, reading);
      microseconds += (performance.now() - started) * 1000;
      if (task % 100 === 99 && !isGone) await remote.flush(signal);
    }
  };
  await sweep();
  report(`${place}.accepted`, microseconds / (FLEET.appliances * FLEET.tasks), 'us/answer');
  report(`${place}.held`, (heapUsed() - before) / 2 ** 20, 'MiB');
  isGone = true;
  shiftMs = 5 * MINUTE_MS;
  await sweep();
  report(`${place}.held_without_receiver`, (heapUsed() - before) / 2 ** 20, 'MiB');
  report(`${place}.waiting`, remote.waiting, 'points');
}

let shiftMs = 0;

/** A quarter of an hour of one task's series. */
function readingOf(task: number): Reading {
  const newest = Math.floor(systemClock.now() / MINUTE_MS) * MINUTE_MS - 20 * MINUTE_MS + shiftMs;
  const points: Sample[] = [];
  for (let minute = 14; minute >= 0; minute -= 1) {
    for (let series = 0; series < FLEET.series; series += 1) {
      const labels = { serial: String(task), filer: `edge-${task}`, series: String(series) };
      points.push({
        name: 'filer_appliance_disk_iops',
        labels,
        value: series,
        at: (newest - minute * MINUTE_MS) / 1000,
      });
    }
  }
  return { samples: [], points, drops: new Map(), empty: false };
}

/** Time that jumps to the next moment for which something waits, when nothing else is going on. */
class JumpingClock implements Clock {
  readonly #sleepers = new Set<{ readonly due: number; readonly wake: () => void }>();
  readonly #start = Math.floor(systemClock.now() / MINUTE_MS) * MINUTE_MS;
  #elapsed = 0;

  now(): number {
    return this.#start + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  sleep(ms: number, stop?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper);
        stop?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { due: this.#elapsed + ms, wake };
      this.#sleepers.add(sleeper);
      stop?.addEventListener('abort', wake, { once: true });
      if (stop?.aborted) wake();
    });
  }

  jump(): void {
    const [first] = [...this.#sleepers].sort((one, other) => one.due - other.due);
    if (first === undefined) return;
    this.#elapsed = Math.max(this.#elapsed, first.due);
    first.wake();
  }
}

/** Thirty days of a fleet: the pacing in simulated time, the bytes for real. */
async function backfilling(report: Report): Promise<void> {
  const appliances = Number(process.env.BACKFILL_APPLIANCES ?? 100);
  const place = `history.backfill_30d_${appliances}_appliances`;
  const folder = mkdtempSync(join(tmpdir(), 'bench-history-'));
  const clock = new JumpingClock();
  const standIn = await startStandIn({ clock, appliances, variations: { rateLimit: null, dailyLimit: null } });
  let inFlight = 0;
  const overhearing = {
    left: () => {
      inFlight += 1;
    },
    ended: () => {
      inFlight -= 1;
    },
  };
  const connect = () => new MemoryDispatcher(repeating(standIn), overhearing);
  const environment = { PORTAL_URL: standIn.portalUrl, PORTAL_USER_KEY: standIn.credentials.userKey };
  const config = loadConfig({
    environment,
    readFile: () => {
      throw Object.assign(new Error('no file'), { code: 'ENOENT' });
    },
    services: upstreams.map(({ section }) => section),
  });
  let isOver = false;
  const jumping = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      if (inFlight === 0) clock.jump();
    }
  })();
  const versions = { version: '0', revision: 'bench', nodeVersion: process.version };
  const labels = { job: 'filer-exporter', instance: 'filer-exporter:9989' };
  const started = performance.now();
  const run = await createBackfill(
    config,
    { clock, random: () => 0.5, log: noLog, connect, ...versions },
    {
      // An hour less: what is older than thirty days by the end is not asked for.
      ...{ sinceMs: 30 * DAY_MS - 3_600_000, untilMs: 0, labels, filers: undefined, series: undefined },
      ...{ share: 0.5, folder: join(folder, 'work') },
    },
    signal,
  );
  await run.backfill.run(run.tasks, signal);
  const readSeconds = (performance.now() - started) / 1000;
  const points = [...run.spool.done.values()].reduce((sum, one) => sum + one.points, 0);
  report(`${place}.requests`, run.requests().answered, 'requests');
  report(`${place}.paced`, clock.monotonic() / MINUTE_MS, 'min');
  report(`${place}.points`, points, 'points');
  report(`${place}.read`, points / readSeconds, 'points/s');
  const printing = performance.now();
  let bytes = 0;
  for await (const piece of openMetrics(run.spool)) bytes += piece.length;
  report(`${place}.text`, bytes / 2 ** 20, 'MiB');
  report(`${place}.printed`, bytes / 2 ** 20 / ((performance.now() - printing) / 1000), 'MiB/s');
  const sizes = readdirSync(join(folder, 'work')).map((name) => statSync(join(folder, 'work', name)).size);
  report(`${place}.work_folder`, sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20, 'MiB');
  report(`${place}.most_resident`, process.resourceUsage().maxRSS / 1024, 'MiB');
  await run.close(signal);
  isOver = true;
  await jumping;
  await standIn.close();
  await rm(folder, { recursive: true });
}

/** The stand-in, but for series: of these one appliance's answers are kept, since making them costs more than reading them. */
function repeating(standIn: StandIn): (request: IncomingMessage, response: ServerResponse) => void {
  const answers = new Map<string, Promise<string>>();
  const [first] = standIn.fleet.appliances;
  return async (request, response) => {
    const [, operation] = /\/telemetry\/appliances\/[^/]+\/(\w+)$/.exec(request.url ?? '') ?? [];
    if (operation === undefined) return standIn.serve(request, response);
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const key = operation + body;
    const known = answers.get(key) ?? fetched(standIn, `${first?.serial}/${operation}`, request, body);
    answers.set(key, known);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(await known);
  };
}

async function fetched(standIn: StandIn, path: string, { headers }: IncomingMessage, body: string): Promise<string> {
  const answer = await fetch(`${standIn.portalUrl}/telemetry/appliances/${path}`, {
    ...{ method: 'POST', body },
    headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
  });
  return answer.text();
}

function listening(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

import { createServer } from 'node:http';
import process from 'node:process';
import type { Bin } from '../../src/contract/minutes.ts';
import type { PollResult } from '../../src/contract/poll-result.ts';
import type { Send } from '../../src/history/delivery.ts';
import { RemoteWrite } from '../../src/history/remote-write.ts';
import { type TimeSeries, writeRequest } from '../../src/history/write-request.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { createDispatcher } from '../../src/transport/dispatcher.ts';
import { post } from '../../src/transport/post.ts';
import { noLog } from '../support/mock-api.ts';
import { listening } from './listening.ts';
import type { Report } from './main.ts';

const MINUTE_MS = 60_000;
const { signal } = new AbortController();

/** What remote write costs. */
export async function history(report: Report): Promise<void> {
  await sending(report);
  await holding(report);
}

/** Points a request, as remote write sends them: five new minutes of each series. */
const REQUEST = { series: 2_000, minutes: 5 } as const;
const REQUESTS = 50;

const pointsOf = (index: number, minutes: number): TimeSeries => ({
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
  let bytes = 0;
  const taken: Send = (_, body) => {
    bytes += body.length;
    return Promise.resolve({ status: 204, headers: {}, text: '' });
  };
  report('history.1.0.encoded', await pointsPerSecond(taken, series), 'points/s');
  report('history.1.0.bytes_per_point', bytes / ((REQUESTS + 1) * points), 'bytes');
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  });
  const url = await listening(server);
  const dispatcher = createDispatcher(undefined);
  const sent: Send = (own, body, stop) =>
    post(dispatcher, `${url}/api/v1/write`, own, body, { clock: systemClock, timeoutMs: 30_000, signal: stop });
  report('history.1.0.sent', await pointsPerSecond(sent, series), 'points/s');
  await dispatcher.close();
  server.close();
}

async function pointsPerSecond(send: Send, series: readonly TimeSeries[]): Promise<number> {
  await send({}, runToEnd(writeRequest(series)), signal);
  const started = performance.now();
  for (let request = 0; request < REQUESTS; request += 1) await send({}, runToEnd(writeRequest(series)), signal);
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
    {
      labels: {},
      catchUpMs: 6 * 60 * MINUTE_MS,
      forgetAfterMs: 24 * 60 * MINUTE_MS,
      intervalMs: 5 * MINUTE_MS,
      lookbackMs: 15 * MINUTE_MS,
      binMs: MINUTE_MS,
    },
    send,
    { clock: systemClock, random: () => 0.5, log: noLog },
  );
  let microseconds = 0;
  const sweep = async () => {
    for (let task = 0; task < FLEET.appliances * FLEET.tasks; task += 1) {
      const origin = { id: `portal/${task}`, api: 'portal' };
      const started = performance.now();
      const window = remote.windowOf({ id: origin.id, now: () => systemClock.now() + shiftMs });
      const untimed = performance.now();
      const reading = readingOf(task, window?.to);
      microseconds -= (performance.now() - untimed) * 1000;
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
  report(`${place}.waiting`, remote.status().waiting, 'points');
}

let shiftMs = 0;

/** A quarter of an hour of one task's series. */
function readingOf(task: number, to: number | undefined): PollResult {
  const now = systemClock.now() + shiftMs;
  const newest = Math.floor(now / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
  const bins: Bin[] = [];
  for (let minute = 14; minute >= 0; minute -= 1) {
    const samples = Array.from({ length: FLEET.series }, (_, series) => {
      const labels = { serial: String(task), filer: `edge-${task}`, series: String(series) };
      return { name: 'filer_appliance_disk_iops', labels, value: series };
    });
    bins.push({ at: newest - minute * MINUTE_MS, samples: () => samples });
  }
  const minutes = to === undefined ? {} : { minutes: Object.assign(bins, { requestedAt: now, to }) };
  return { samples: [], drops: new Map(), empty: false, ...minutes };
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { Agent, request } from 'undici';
import { type MockServices, startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { portOf } from '../support/listening.ts';
import type { Report } from './main.ts';
import { builtProgram, mebibytes, processorMs, requestsOf, startProgram } from './program.ts';

/*
 * What the program costs to run, by fleet: memory, and processor time a request. The built program is a process of its own,
 * without limits, so `npm run build` comes first. Linux only. Another build can be named, to compare two in one session:
 * `PROGRAM=/path/to/main.js`; and other fleets: `FLEETS=2000`. `REMOTE_WRITE=1` sends every minute to a receiver.
 */

const fleets = (process.env.FLEETS ?? '10,100,500').split(',').map(Number);

/** Requests a second while it is watched, where the shortest interval allows them. */
const REQUESTS_PER_SECOND = 200;

/** How long it is watched after the first sweep, with a scrape every five seconds. */
const WATCHED_SECONDS = 20;
const SCRAPE_SECONDS = 5;

/**
 * Loaded into the program: on a message it returns the processor time of the longest turn of its event loop since the last
 * message, and the number of turns above ten milliseconds; both for all turns, and for those in which V8 collected no
 * garbage. Node.js before 23.9 measures all threads of the process.
 */
const WATCHED_TURNS = `
const usage = process.threadCpuUsage ?? process.cpuUsage;
const processorMs = () => (usage.call(process).user + usage.call(process).system) / 1000;
const collections = [];
new PerformanceObserver((list) => collections.push(...list.getEntries())).observe({ entryTypes: ['gc'] });
let [at, used, longest, long] = [performance.now(), processorMs(), 0, []];
const turn = () => {
  const [now, usedNow] = [performance.now(), processorMs()];
  longest = Math.max(longest, usedNow - used);
  if (usedNow - used > 10) long.push({ from: at, to: now, ms: usedNow - used });
  [at, used] = [now, usedNow];
  setImmediate(turn).unref();
};
turn();
const collects = ({ from, to }) => collections.some((one) => one.startTime < to && one.startTime + one.duration > from);
process.on('message', () => {
  // The observer hears of a collection later.
  setTimeout(() => {
    const own = long.filter((turn) => !collects(turn));
    process.send([longest, long.length, Math.max(0, ...own.map(({ ms }) => ms)), own.length]);
    [longest, long] = [0, []];
    collections.length = 0;
  }, 100).unref();
});
process.channel.unref();`;

/** Fleets of one size after another, beside the libraries that the program cannot do without. */
export async function running(report: Report): Promise<void> {
  await bare(report);
  for (const appliances of fleets) {
    const limits = { rateLimit: null, dailyLimit: null };
    const mocks = await startMockServices({ clock: systemClock, appliances, volumes: 5, variations: limits });
    try {
      await ofFleet(report, appliances, mocks);
    } finally {
      await mocks.close();
    }
  }
}

async function ofFleet(report: Report, appliances: number, mocks: MockServices): Promise<void> {
  const receiver = process.env.REMOTE_WRITE === '1' ? await startReceiver() : undefined;
  const place = `running/${appliances} appliances${receiver === undefined ? '' : ', remote write'}`;
  const further = receiver === undefined ? {} : { REMOTE_WRITE_URL: receiver.url };
  const watched = ['--import', `data:text/javascript,${encodeURIComponent(WATCHED_TURNS)}`, builtProgram];
  const { child, pid, url } = await startProgram(watched, mocks, mocks.portalUrl, REQUESTS_PER_SECOND, further);
  const reportTurns = async (when: string) => {
    child.send('turns');
    const [[longest = 0, long = 0, ownLongest = 0, own = 0]] = (await once(child, 'message')) as [readonly number[]];
    report(`${place}/${when}/longest turn`, longest, 'ms');
    report(`${place}/${when}/turns above 10 ms`, long, 'turns');
    report(`${place}/${when}/longest turn above 10 ms without garbage collection`, ownLongest, 'ms');
    report(`${place}/${when}/turns above 10 ms without garbage collection`, own, 'turns');
  };
  try {
    const started = processorMs(pid);
    await reportTurns('start');
    report(`${place}/start, processor`, started, 'ms');
    const swept = await sweep(url, appliances);
    const sweptMs = processorMs(pid);
    report(`${place}/first sweep/requests`, swept, 'requests');
    report(`${place}/first sweep/processor a request`, (sweptMs - started) / swept, 'ms');
    report(`${place}/first sweep/resident`, mebibytes(pid, 'VmRSS'), 'MiB');
    await reportTurns('first sweep');
    // Its second sweep begins when the first slots come.
    while ((await requests(url)) < swept + appliances) await sleep(500);
    const before = await requests(url);
    const beforeMs = processorMs(pid);
    let asked = before;
    for (let watched = 0; watched < WATCHED_SECONDS; watched += SCRAPE_SECONDS) {
      await sleep(SCRAPE_SECONDS * 1000);
      asked = await requests(url);
    }
    report(`${place}/then/requests`, asked - before, 'requests');
    report(
      `${place}/then/processor a request, scrapes included`,
      (processorMs(pid) - beforeMs) / (asked - before),
      'ms',
    );
    await reportTurns('then');
    report(`${place}/then/resident`, mebibytes(pid, 'VmRSS'), 'MiB');
    report(`${place}/most resident`, mebibytes(pid, 'VmHWM'), 'MiB');
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('close', resolve));
    receiver?.close();
  }
  if (receiver !== undefined) report(`${place}/received`, receiver.bytes / 2 ** 20, 'MiB');
}

/** Node.js with undici, pino and prom-client loaded, and idle. */
async function bare(report: Report): Promise<void> {
  const loaded =
    "import 'undici'; import 'pino'; import 'prom-client'; console.log('loaded'); setInterval(() => {}, 1000);";
  const child = spawn(process.execPath, ['--input-type=module', '--eval', loaded], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  report('running/bare/resident', mebibytes(child.pid ?? 0, 'VmRSS'), 'MiB');
  child.kill();
}

/** A receiver of remote write that takes everything. */
async function startReceiver() {
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      receiver.bytes += chunk.length;
    });
    request.on('end', () => response.writeHead(204).end());
  });
  const receiver = {
    url: `http://127.0.0.1:${await portOf(server)}/write`,
    bytes: 0,
    close: () => server.closeAllConnections(),
  };
  return receiver;
}

/** Resolves when every appliance has been asked for everything once, with the requests that it took. */
async function sweep(url: string, appliances: number): Promise<number> {
  for (;;) {
    await sleep(300);
    const asked = await requests(url);
    if (asked >= requestsOf(appliances)) return asked;
  }
}

/** Not the `fetch` of Node.js 24, whose undici ends the process: see test/transport/connection.test.ts. */
const client = new Agent();

/** The requests that the program has counted; a scrape with gzip, as Prometheus does. */
async function requests(url: string): Promise<number> {
  const { body } = await request(url, { dispatcher: client, headers: { 'accept-encoding': 'gzip' } });
  const text = gunzipSync(await body.arrayBuffer()).toString();
  const counts = text.matchAll(/^filer_exporter_requests_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

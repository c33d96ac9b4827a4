// Only here: what grows in hours over real sockets.
/**
 * The exporter against both services over real sockets, everything at fifty times its speed, while appliances come and
 * go, tokens expire, titles and limits change and answers fail. SOAK_MINUTES=60 is two days. Says how memory, handles and
 * the event loop fare, one JSON object a line, and exits with 1 when something grew that should not.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { type MockServices, type SeenRequest, startMockServices } from '../../src/demo/mock-services.ts';
import { seededRandom } from '../../src/demo/seeded-random.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { fastClock } from '../support/fast-clock.ts';
import { Scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';
import { churn } from './churn.ts';
import { type Answer, errorsOf, type Figures, type Point, type Question, summaryOf } from './figures.ts';

const SPEED = 50;
/** Simulated. */
const EVERY = { changeMs: 300_000, scrapeMs: 15_000 };
/** Real: so many measurements, but two a minute where that is more often. */
const POINTS = { least: 12, longestMs: 30_000 };
const APPLIANCES = 30;
const SERIES = ['cpu_utilization', 'load_average', 'cache_utilization', 'cache_hits_misses'];

const minutes = Number(process.env.SOAK_MINUTES ?? 60);
const seed = Number(process.env.SOAK_SEED ?? 1);
if (!(minutes > 0) || !Number.isInteger(seed))
  throw new Error('SOAK_MINUTES takes minutes above 0, SOAK_SEED a number');

const since = Date.now();
const mocks = await startMockServices({ clock: fastClock(SPEED, since), seed, appliances: APPLIANCES, volumes: 6 });
const directory = mkdtempSync(join(tmpdir(), 'filer-exporter-soak-'));
const exporter = fork(fileURLToPath(new URL('exporter.ts', import.meta.url)), [String(since), String(SPEED)], {
  execArgv: ['--expose-gc', '--import', 'tsx'],
  env: { PATH: process.env.PATH, ...environmentOf(mocks, directory) },
});
const begun = performance.now();
const counts = { scrapes: 0, changes: 0 };
const lastSeen: { request: SeenRequest | undefined; total: number } = { request: undefined, total: 0 };
const troubles: string[] = [];
try {
  const [{ port }] = (await once(exporter, 'message')) as [{ readonly port: number }];
  const points = await soak(`http://127.0.0.1:${port}`);
  const ending = await stopped(exporter);
  say({ name: 'soak', seed, speed: SPEED, minutes: elapsed(), ...counts, requests: points.at(-1)?.requests ?? 0 });
  say({ name: 'soak.summary', ...summaryOf(points) });
  troubles.push(...ending, ...errorsOf(points));
} catch (error) {
  troubles.push(String(error));
} finally {
  exporter.kill('SIGKILL');
  await mocks.close();
  rmSync(directory, { recursive: true, force: true });
}
for (const trouble of troubles) say({ name: 'soak.trouble', trouble });
process.exit(troubles.length === 0 ? 0 : 1);

/** The whole run; what it saw of the exporter, in order. */
async function soak(url: string): Promise<readonly Point[]> {
  const random = seededRandom(seed);
  const points: Point[] = [];
  const lifts: (() => void)[] = [];
  const over = new AbortController();
  const every = async (ms: number, act: () => Promise<void>) => {
    while (!over.signal.aborted) {
      await act();
      await sleep(ms, undefined, { signal: over.signal }).catch(() => {});
    }
  };
  const guarded = (act: () => Promise<void>) => () =>
    act().catch((error: unknown) => void (over.signal.aborted || troubles.push(`${elapsed()} min: ${String(error)}`)));
  const all = Promise.all([
    every(
      Math.min(POINTS.longestMs, (minutes * 60_000) / POINTS.least),
      guarded(async () => void points.push(await pointOf())),
    ),
    every(
      EVERY.scrapeMs / SPEED,
      guarded(() => scrape(url)),
    ),
    every(
      EVERY.changeMs / SPEED,
      guarded(() => {
        lifts.push(churn(mocks, random));
        counts.changes += 1;
        return Promise.resolve();
      }),
    ),
  ]);
  while (elapsed() < minutes && exporter.exitCode === null && exporter.signalCode === null) await sleep(200);
  over.abort();
  await all;
  points.push(await pointOf());
  for (const lift of lifts) lift();
  await settled(url);
  return points;
}

/** Every format and coding in turn, one in ten read strictly. */
async function scrape(url: string): Promise<void> {
  const turn = counts.scrapes;
  const format = turn % 2 === 0 ? 'text' : 'openmetrics';
  const accept = format === 'text' ? 'text/plain' : 'application/openmetrics-text;version=1.0.0';
  const headers = { accept, 'accept-encoding': turn % 3 === 0 ? 'identity' : 'gzip' };
  const answer = await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(10_000) });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`a scrape was answered ${answer.status}`);
  if (turn % 10 < 2) parseExposition(text, format);
  counts.scrapes += 1;
}

/** Once nothing happens any more, every appliance is there and well, and nothing of those that went is left. */
async function settled(url: string): Promise<void> {
  mocks.vary({ rateLimit: { kind: 'sliding-window', requests: 500, windowMs: 30_000 }, tokenLifetimeMs: 900_000 });
  const serials = new Set(mocks.fleet.appliances.map(({ serial }) => serial));
  // Discovery, what the pace forgot of the limit, and what rests: an hour, a little more than a minute here.
  await until(
    'every appliance of the inventory, and none else, to be polled well',
    async () => {
      const moment = new Scrape(await (await fetch(`${url}/metrics`)).text());
      const told = new Set(moment.samples.flatMap(({ labels }) => labels.serial ?? []));
      const series = moment.all('filer_appliance_series_timestamp_seconds').length;
      const seen = { up: moment.sum('filer_appliance_up'), gone: [...told].filter((one) => !serials.has(one)), series };
      const wanted = { up: serials.size, gone: [], series: serials.size * SERIES.length };
      if (isDeepStrictEqual(seen, wanted)) return true;
      throw new Error(`there is ${JSON.stringify(seen)}, expected ${JSON.stringify(wanted)}`);
    },
    120_000,
  );
}

async function pointOf(): Promise<Point> {
  const figures = await figuresOf(exporter);
  const appliances = mocks.fleet.appliances.length;
  const point: Point = { minutes: elapsed(), ...figures, requests: asked(), ...counts, appliances };
  say({ name: 'soak.point', ...point });
  return point;
}

/** How many requests the services have had: the newest 10,000 are kept, so they are counted as they come. */
function asked(): number {
  const { requests } = mocks;
  const newest = requests.at(-1);
  for (let at = requests.length - 1; at >= 0 && requests[at] !== lastSeen.request; at -= 1) lastSeen.total += 1;
  lastSeen.request = newest;
  return lastSeen.total;
}

async function figuresOf(child: ChildProcess): Promise<Figures> {
  const signal = AbortSignal.timeout(30_000);
  const answered = once(child, 'message', { signal }) as Promise<[Answer]>;
  child.send('figures' satisfies Question);
  const [answer] = await answered;
  if (!('figures' in answer)) throw new Error('the exporter answered something else');
  return answer.figures;
}

/** Asks the exporter to stop; what is wrong about how it ended. */
async function stopped(child: ChildProcess): Promise<readonly string[]> {
  const ended = once(child, 'exit', { signal: AbortSignal.timeout(20_000) }) as Promise<[number | null]>;
  child.send('stop' satisfies Question);
  try {
    const [code] = await ended;
    return code === 0 ? [] : [`the exporter ended with ${code}`];
  } catch {
    return ['the exporter did not end: something keeps it alive'];
  }
}

function environmentOf(
  { gfaUrl, portalUrl, credentials }: MockServices,
  home: string,
): Readonly<Record<string, string>> {
  return {
    GFA_URL: gfaUrl,
    GFA_TOKEN: credentials.gfaToken,
    PORTAL_URL: portalUrl,
    PORTAL_SERVICE_KEY: credentials.serviceKey,
    PORTAL_SERVICE_SECRET: credentials.serviceSecret,
    PORTAL_INTERVAL: '2m',
    PORTAL_SERIES: SERIES.join(','),
    STATE_FILE: join(home, 'state'),
  };
}

function elapsed(): number {
  return Number(((performance.now() - begun) / 60_000).toFixed(2));
}

function say(line: object): void {
  process.stdout.write(
    `${JSON.stringify(line, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(6)) : value))}\n`,
  );
}

import { setMaxListeners } from 'node:events';
import { get } from 'node:http';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type StandIn, startStandIn } from '../../src/demo/stand-in.ts';
import { createLog } from '../../src/runtime/log.ts';
import { type Random, seededRandom } from '../../src/runtime/random.ts';
import { assemble } from '../support/assemble.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';
import { Scrape } from '../support/scrape.ts';
import { INTERVAL_MS, SERIES, TOLD } from './told.ts';
import { type Trouble, troubleOf } from './trouble.ts';
import { Witness } from './witness.ts';

/** What came of a run without a broken promise. */
export interface Calm {
  readonly seed: number;
  readonly days: number;
  readonly requests: number;
  readonly troubles: number;
  readonly scrapes: number;
}

const STALE_AFTER = 3;
const DAY_MS = 86_400_000;
/** A look at everything so often. */
const STEP_MS = 290_000;
/** So much the live heap may breathe between the middle and the end, in bytes; requests that the stand-in remembers included. */
const BREATH_BYTES = 12_000_000;
/** Sleepers that there may be: a worker or a request each, and the few that wake by themselves. */
const MOST_SLEEPERS = 60;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Days of random faults at random times, moved by hand: the whole exporter against both services, without a socket
 * between them. Rejects at the first promise that is broken, with the seed and the moment.
 */
export async function chaos(seed: number, days: number): Promise<Calm> {
  setMaxListeners(100);
  const clock = new ManualClock();
  const random = seededRandom(seed);
  const standIn = await startStandIn({ clock, seed, appliances: 5, volumes: 2 });
  const witness = new Witness(clock);
  let stack = '';
  const log = createLog('info', {
    write: (line) => {
      if (line.includes('"stack"')) stack ||= line;
    },
  });
  const rejections: unknown[] = [];
  const reject = (reason: unknown) => rejections.push(reason);
  process.on('unhandledRejection', reject);
  const connect = () =>
    new MemoryDispatcher(standIn.serve, (method, path, status) => witness.answered(method, path, status));
  const app = assemble(environmentOf(standIn), { clock, log, random: seededRandom(seed + 1), connect });
  const url = `http://127.0.0.1:${await app.start()}/metrics`;
  let calm = { troubles: 0, scrapes: 0 };
  const active = new Set<Trouble & { readonly endsAt: number; readonly lift: () => void }>();
  let heapInTheMiddle = 0;
  try {
    for (let at = 0; at < days * DAY_MS; at += STEP_MS) {
      for (const trouble of active) {
        if (trouble.endsAt > clock.monotonic()) continue;
        trouble.lift();
        active.delete(trouble);
      }
      if (random() < 0.1) {
        const trouble = troubleOf(random, standIn);
        const endsAt = clock.monotonic() + 30_000 + random() ** 3 * 7_200_000;
        witness.trouble({ ...trouble, endsAt });
        active.add({ ...trouble, endsAt, lift: trouble.begin() });
        calm = { ...calm, troubles: calm.troubles + 1 };
      }
      change(random, standIn, clock);
      await clock.advance(STEP_MS);
      const openMetrics = random() < 0.5;
      const text = await scraped(url, openMetrics);
      calm = { ...calm, scrapes: calm.scrapes + 1 };
      if (openMetrics) parseExposition(text, 'openmetrics');
      else witness.expectPromises(new Scrape(text), standIn, STALE_AFTER);
      if (rejections.length > 0) throw new Error(`a promise was rejected and nobody heard: ${String(rejections[0])}`);
      if (stack !== '') throw new Error(`a defect in the log: ${stack}`);
      if (clock.sleeping > MOST_SLEEPERS) throw new Error(`${clock.sleeping} are asleep`);
      if (at <= (days * DAY_MS) / 2 && at + STEP_MS > (days * DAY_MS) / 2) heapInTheMiddle = liveHeap();
    }
    const grown = liveHeap() - heapInTheMiddle;
    if (grown > BREATH_BYTES) throw new Error(`the live heap grew by ${grown} bytes in the second half`);
    return { seed, days, requests: witness.requests, ...calm };
  } catch (cause) {
    const moment = `day ${(clock.monotonic() / DAY_MS).toFixed(3)}`;
    const going = [...active].map(({ name }) => name).join(', ') || 'nothing';
    throw new Error(`chaos with seed ${seed}, ${moment}, wrong just then: ${going}: ${(cause as Error).message}`, {
      cause,
    });
  } finally {
    for (const { lift } of active) lift();
    const stopped = app.stop();
    await clock.advance(60_000);
    await stopped;
    await standIn.close();
    process.off('unhandledRejection', reject);
  }
}

function environmentOf({ gfaUrl, portalUrl, credentials }: StandIn): Readonly<Record<string, string>> {
  return {
    GFA_URL: gfaUrl,
    GFA_TOKEN: credentials.gfaToken,
    GFA_INTERVAL: `${INTERVAL_MS}ms`,
    PORTAL_URL: portalUrl,
    PORTAL_SERVICE_KEY: credentials.serviceKey,
    PORTAL_SERVICE_SECRET: credentials.serviceSecret,
    PORTAL_SERIES: SERIES.join(','),
    PORTAL_INTERVAL: `${INTERVAL_MS}ms`,
    // What rests is asked as often as the inventory: no more seldom than anything else here.
    PORTAL_DISCOVERY_INTERVAL: `${INTERVAL_MS}ms`,
    PORTAL_RATE_LIMIT: `${TOLD.requests}/${TOLD.windowMs}ms`,
    PORTAL_DAILY_LIMIT: String(TOLD.aDay),
    STALE_AFTER: String(STALE_AFTER),
    ALLOW_INSECURE_UPSTREAM: 'true',
  };
}

/** What changes in the world without being wrong. */
function change(random: Random, standIn: StandIn, clock: ManualClock): void {
  const { appliances, volumes } = standIn.fleet;
  const { serial } = appliances[Math.floor(random() * appliances.length)] ?? { serial: '' };
  const happens = (often: number) => random() < often;
  if (happens(0.004) && appliances.length < 8) standIn.addAppliance();
  if (happens(0.004) && appliances.length > 3) standIn.removeAppliance(serial);
  if (happens(0.01)) standIn.renameAppliance(serial, `edge "${random()}" \\ \n`);
  if (happens(0.01)) standIn.renameVolume(volumes[0]?.guid ?? '', `volume ${random()}`);
  if (happens(0.01)) standIn.vary({ tokenLifetimeMs: 20_000 + Math.floor(random() * 1_200_000) });
  if (happens(0.01)) standIn.vary({ nulls: random() / 2, shuffled: happens(0.5), newestNull: happens(0.5) });
  // Somebody sets the clock of the machine.
  if (happens(0.01)) clock.step(Math.floor((random() - 0.5) * 7_200_000));
}

function scraped(url: string, openMetrics: boolean): Promise<string> {
  const accept = openMetrics ? 'application/openmetrics-text;version=1.0.0' : 'text/plain';
  return new Promise((resolve, reject) => {
    get(url, { headers: { accept }, agent: false }, async (answer) => {
      const pieces: Buffer[] = [];
      for await (const piece of answer as AsyncIterable<Buffer>) pieces.push(piece);
      if (answer.statusCode === 200) resolve(Buffer.concat(pieces).toString('utf8'));
      else reject(new Error(`a scrape was answered ${answer.statusCode}`));
    }).once('error', reject);
  });
}

function liveHeap(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

import { setMaxListeners } from 'node:events';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startStandIn } from '../../src/demo/stand-in.ts';
import { createLog } from '../../src/runtime/log.ts';
import { type Random, seededRandom } from '../../src/runtime/random.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Scrape } from '../support/scrape.ts';
import { change, stepClock } from './change.ts';
import { Disk } from './disk.ts';
import { ENDINGS, Lives } from './lives.ts';
import { ROOMY, TIGHT, type Told } from './told.ts';
import { type Trouble, troubleOf } from './trouble.ts';
import { Witness } from './witness.ts';

/** What came of a run without a broken promise. */
export interface Calm {
  readonly seed: number;
  readonly days: number;
  readonly requests: number;
  /** Of the portal's, the most in one window of its limit and in one day. */
  readonly mostAWindow: number;
  readonly mostADay: number;
  readonly troubles: number;
  readonly restarts: number;
  readonly scrapes: number;
  /** How often an appliance, and how often `/data`, was healthy and found to be fresh. */
  readonly appliancesFresh: number;
  readonly dataFresh: number;
  /** Counts of upstream events that were held against what they had been. */
  readonly counters: number;
  /** The longest interval that refusals and limits made of the one asked for. */
  readonly longestIntervalSeconds: number;
}

const DAY_MS = 86_400_000;
/** A look at everything so often. */
const STEP_MS = 290_000;
/** So much the live heap may breathe between the middle and the end, in bytes; requests that the stand-in remembers included. */
const BREATH_BYTES = 12_000_000;
/** Sleepers that there may be: a worker or a request each, and the few that wake by themselves. */
const MOST_SLEEPERS = 60;
/** How long tokens live at first. */
const TOKEN_MS = 900_000;
/** One seed in so many has room within its limits: with the others they bind. */
const ROOM_EVERY = 4;
/** How long nobody runs between two lives, in milliseconds; not under half a minute, the window of the limit. */
const DOWN_MS = { least: 30_000, most: 630_000 };

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Days of random faults at random times, moved by hand: the whole exporter against both services, without a socket
 * between them, stopped and killed and started again. Rejects at the first promise that is broken, with the seed and the
 * moment.
 */
export async function chaos(seed: number, days: number, told: Told = toldOf(seed)): Promise<Calm> {
  setMaxListeners(100);
  const clock = new ManualClock();
  const random = seededRandom(seed);
  const standIn = await startStandIn({
    clock,
    seed,
    appliances: 5,
    volumes: 2,
    variations: { tokenLifetimeMs: TOKEN_MS },
  });
  const witness = new Witness(clock, told, TOKEN_MS);
  const disk = new Disk(clock);
  let stack = '';
  const logged = { lines: 0, down: 0 };
  const log = createLog('info', {
    write: (line) => {
      logged.lines += 1;
      if (line.includes('the API cannot be polled')) {
        logged.down += 1;
        witness.toldDown((JSON.parse(line) as { readonly api: 'gfa' | 'portal' }).api);
      }
      // A full disk is no defect, and is told with all that is known of it.
      if (line.includes('"stack"') && !line.includes('ENOSPC')) stack ||= line;
    },
  });
  const rejections: unknown[] = [];
  const reject = (reason: unknown) => rejections.push(reason);
  process.on('unhandledRejection', reject);
  const lives = new Lives({ clock, standIn, disk, told, log, seed, overhearing: witness });
  const counts = { troubles: 0, restarts: 0, scrapes: 0 };
  const active = new Set<Going>();
  let heapInTheMiddle = 0;
  try {
    await lives.begin();
    for (let at = 0; at < days * DAY_MS; at += STEP_MS) {
      for (const trouble of active) if (trouble.endsAt <= clock.monotonic()) lift(trouble, active, clock);
      if (random() < 0.1) {
        active.add(begun(troubleOf(random, standIn, disk), random, witness, clock));
        counts.troubles += 1;
      }
      if (random() < 0.01) {
        await restart(lives, random, witness, disk, clock);
        counts.restarts += 1;
      }
      const tokenMs = change(random, standIn, clock, told);
      if (tokenMs !== undefined) witness.portal.tokensLive(tokenMs);
      await clock.advance(STEP_MS);
      witness.expectNoViolation();
      if (!(await lives.ready())) throw new Error('it is not ready minutes after its start');
      const format = random() < 0.5 ? 'openmetrics' : 'text';
      const text = await lives.scrape(format);
      counts.scrapes += 1;
      if (format === 'openmetrics') parseExposition(text, format);
      else witness.expectPromises(new Scrape(text), standIn);
      if (rejections.length > 0) throw new Error(`a promise was rejected and nobody heard: ${String(rejections[0])}`);
      if (stack !== '') throw new Error(`a defect in the log: ${stack}`);
      if (clock.sleeping > MOST_SLEEPERS) throw new Error(`${clock.sleeping} are asleep`);
      if (at <= (days * DAY_MS) / 2 && at + STEP_MS > (days * DAY_MS) / 2) heapInTheMiddle = liveHeap();
    }
    expectNoFlapping(logged, counts.troubles + counts.restarts);
    const grown = liveHeap() - heapInTheMiddle;
    if (grown > BREATH_BYTES) throw new Error(`the live heap grew by ${grown} bytes in the second half`);
    for (const trouble of active) lift(trouble, active, clock);
    await lives.end();
    witness.expectNoViolation();
    return { seed, days, ...counts, ...calmOf(witness) };
  } catch (cause) {
    const moment = `day ${(clock.monotonic() / DAY_MS).toFixed(3)}`;
    const going = witness.troubles.goingOn;
    throw new Error(`chaos with seed ${seed}, ${moment}, wrong just then: ${going}: ${(cause as Error).message}`, {
      cause,
    });
  } finally {
    for (const trouble of active) lift(trouble, active, clock);
    await lives.end().catch(() => {});
    await standIn.close();
    process.off('unhandledRejection', reject);
  }
}

/** Lines of the log that one trouble or restart may take, and how often a service may be told to be down for it. */
const TOLD = { lines: 60, down: 2 } as const;

/** What is wrong once is told once. */
function expectNoFlapping({ lines, down }: { readonly lines: number; readonly down: number }, events: number): void {
  if (down > TOLD.down * (events + 1))
    throw new Error(`a service was told to be down ${down} times in ${events} troubles`);
  if (lines > TOLD.lines * (events + 1)) throw new Error(`${lines} lines were logged in ${events} troubles`);
}

function toldOf(seed: number): Told {
  return seed % ROOM_EVERY === 0 ? ROOMY : TIGHT;
}

/** A trouble that goes on. */
interface Going {
  readonly endsAt: number;
  readonly lift: () => void;
  readonly ended: (now: number) => void;
}

function begun(
  trouble: Trouble & { readonly begin: () => () => void },
  random: Random,
  witness: Witness,
  clock: ManualClock,
): Going {
  const endsAt = clock.monotonic() + 30_000 + random() ** 3 * 7_200_000;
  return { endsAt, ended: witness.troubles.begin(trouble), lift: trouble.begin() };
}

function lift(trouble: Going, active: Set<Going>, clock: ManualClock): void {
  trouble.lift();
  trouble.ended(clock.monotonic());
  active.delete(trouble);
}

/** One life ends in one of the ways there are, and after a while the next one begins. */
async function restart(lives: Lives, random: Random, witness: Witness, disk: Disk, clock: ManualClock): Promise<void> {
  const how = ENDINGS[Math.floor(random() * ENDINGS.length)] ?? 'stopped';
  await lives.end(how);
  stepClock(random, clock, 0.2);
  await clock.advance(DOWN_MS.least + random() * (DOWN_MS.most - DOWN_MS.least));
  const { savedAt } = disk.now;
  const passedMs = savedAt === undefined ? 0 : clock.monotonic() - savedAt.monotonic;
  const seenMs = savedAt === undefined ? 0 : Math.max(0, clock.now() - savedAt.wall);
  const isKept = disk.isGood;
  await lives.begin();
  witness.restarted(isKept, Math.max(0, passedMs - seenMs));
}

function calmOf(witness: Witness): Omit<Calm, 'seed' | 'days' | 'troubles' | 'restarts' | 'scrapes'> {
  const { limits, portal, data, counters, requests } = witness;
  return {
    requests,
    mostAWindow: limits.most.aWindow,
    mostADay: limits.most.aDay,
    appliancesFresh: portal.looks,
    dataFresh: data.looks,
    counters: counters.kept,
    longestIntervalSeconds: portal.longestMs / 1000,
  };
}

function liveHeap(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

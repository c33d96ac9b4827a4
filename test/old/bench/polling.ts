import { readFileSync } from 'node:fs';
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { explainFor } from '../../src/contract/causes.ts';
import type { Task } from '../../src/contract/task.ts';
import { Poller } from '../../src/polling/poller.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { portalCauses } from '../../src/services/portal/causes.ts';
import { answered, families, records, Shelf, task } from '../polling/fleet.ts';
import { noLog } from '../support/mock-api.ts';
import type { Report } from './main.ts';

/*
 * What polling costs at 30,000 tasks, without a service or an output: the processor time of a poll, and the longest turn of
 * the event loop while the inventory changes, at the end of an outage, and when a licence lapses and is bought again.
 * `APPLIANCES=500` takes another fleet. Linux only.
 */

const appliances = Number(process.env.APPLIANCES ?? '2000');
const SERIES = 15;
const INTERVAL_MS = 10_000;

/** Polls that wait for their response. */
const waiting: (() => void)[] = [];

/** A response arrives: one in each turn of the event loop, because a request rate spreads them. */
function response(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(deliver);
  });
}

function deliver(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(deliver);
}

/** The time that the event loop has spent on a processor, in milliseconds: other processes do not lengthen it. */
function processorMs(): number {
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

interface Turn {
  readonly from: number;
  readonly to: number;
  readonly processorMs: number;
}

/** Turns of less than this, in milliseconds, are not kept. */
const SHORT_MS = 5;

/** Measures turns, one after another: the event loop never waits while it is measured. */
class Turns {
  longestMs = 0;
  readonly #long: Turn[] = [];
  readonly #collections: PerformanceEntry[] = [];
  readonly #observer = new PerformanceObserver((list) => this.#collections.push(...list.getEntries()));
  #isMeasuring = true;
  #at = performance.now();
  #used = processorMs();

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
    setImmediate(this.#turn);
  }

  /** Resolves with the longest turn on a processor, and the longest in which no garbage was collected. */
  async stop(): Promise<{ readonly longest: number; readonly withoutCollection: number }> {
    this.#isMeasuring = false;
    // The observer hears of a collection later.
    await sleep(100);
    this.#observer.disconnect();
    const hasCollection = ({ from, to }: Turn) =>
      this.#collections.some(({ startTime, duration }) => startTime < to && startTime + duration > from);
    const longest = (turns: readonly Turn[]) => Math.max(SHORT_MS, ...turns.map(({ processorMs }) => processorMs));
    return {
      longest: longest(this.#long),
      withoutCollection: longest(this.#long.filter((turn) => !hasCollection(turn))),
    };
  }

  readonly #turn = (): void => {
    if (!this.#isMeasuring) return;
    const [at, used] = [performance.now(), processorMs()];
    this.longestMs = Math.max(this.longestMs, at - this.#at);
    if (used - this.#used > SHORT_MS) this.#long.push({ from: this.#at, to: at, processorMs: used - this.#used });
    this.#at = at;
    this.#used = used;
    setImmediate(this.#turn);
  };
}

export async function polling(report: Report): Promise<void> {
  const suspendedIntervalMs = 3 * INTERVAL_MS;
  let fleets: readonly string[] = ['a'];
  let status: number | undefined;
  let polls = 0;
  const poll = async () => {
    polls += 1;
    await response();
    if (status !== undefined) throw answered(status);
    return records;
  };
  const inventory = task('inventory', {
    intervalMs: 1_000,
    discoversTasks: true,
    poll: () => Promise.resolve(records),
  });
  function* tasks(): Generator<Task> {
    yield inventory;
    for (const fleet of fleets) {
      for (let serial = 0; serial < appliances; serial += 1) {
        for (let series = 0; series < SERIES; series += 1)
          yield task(`${fleet}${serial}/s${series}`, { intervalMs: INTERVAL_MS, suspendedIntervalMs, poll });
      }
    }
  }
  const poller = new Poller(
    {
      collector: { api: 'portal', tasks },
      workers: 32,
      sink: new Shelf(),
      intervalMs: INTERVAL_MS,
      staleAfter: 3,
      appliances: families,
      allowedPerSecond: () => Number.POSITIVE_INFINITY,
      warnings: () => [],
      explain: explainFor(portalCauses),
      isWaiting: () => false,
    },
    { clock: systemClock, random: Math.random, log: noLog },
  );
  const place = `polling/${appliances} appliances`;
  const measured = async (name: string, work: () => Promise<void>) => {
    const turns = new Turns();
    await work();
    const { longest, withoutCollection } = await turns.stop();
    report(`${place}/${name}/longest turn`, turns.longestMs, 'ms');
    report(`${place}/${name}/longest turn, processor`, longest, 'ms');
    report(`${place}/${name}/longest turn without garbage collection, processor`, withoutCollection, 'ms');
  };
  const stopping = new AbortController();
  const running = poller.run(stopping.signal);
  await measured('the first inventory', () => sleep(2 * INTERVAL_MS));
  const before = { used: process.cpuUsage(), polls };
  await sleep(INTERVAL_MS);
  const { user, system } = process.cpuUsage(before.used);
  report(`${place}/processor a poll`, (user + system) / 1000 / (polls - before.polls), 'ms');
  await measured('all appliances are replaced', async () => {
    fleets = ['b'];
    await sleep(2 * INTERVAL_MS);
  });
  await measured('as many are added', async () => {
    fleets = ['b', 'c'];
    await sleep(INTERVAL_MS);
  });
  await measured('half are removed', async () => {
    fleets = ['b'];
    await sleep(2 * INTERVAL_MS);
  });
  await measured('an outage begins', async () => {
    status = 503;
    await sleep(7 * INTERVAL_MS);
  });
  await measured('it ends', async () => {
    status = undefined;
    await sleep(3 * INTERVAL_MS);
  });
  await measured('the licence lapses', async () => {
    status = 403;
    await sleep(2 * INTERVAL_MS);
  });
  await measured('it is bought', async () => {
    status = undefined;
    await sleep(2 * INTERVAL_MS);
  });
  stopping.abort();
  await running;
}

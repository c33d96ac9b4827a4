import { setMaxListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';
import type { App } from '../../src/app/app.ts';
import { seededRandom } from '../../src/demo/seeded-random.ts';
import { createLog } from '../../src/runtime/log.ts';
import { APPLIANCE_UP } from '../harness/names.ts';
import { Network } from '../harness/network.ts';
import { pageOf } from '../harness/page.ts';
import { type ReceiverKind, receiverServer } from '../harness/receiver.ts';
import type { Ending } from '../harness/world.ts';
import { assemble } from '../support/assemble.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { Scrape } from '../support/scrape.ts';
import { MadeUpFleet, type Telemetry } from './fleet.ts';
import { MinuteReceiver } from './minute-receiver.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

const SERIES = 'cpu_utilization';

const RECEIVER = 'http://receiver.test';

export interface LargeSetup extends Telemetry {
  readonly appliances: number;
  readonly intervalMinutes?: number;
  readonly shards?: number;
  readonly receiver?: ReceiverKind;
  readonly variables?: Readonly<Record<string, string>>;
}

/** What an hour without trouble takes: an hour after a trouble it must be the same. */
interface Steady {
  readonly polls: number;
  readonly requests: number;
  /** Turns of the event loop. */
  readonly turns: number;
  readonly sleeping: number;
  readonly pageBytes: number;
  /** Of the status document, which lists the tasks, the appliances and what is wrong with them. */
  readonly statusBytes: number;
  /** Written to the state file. */
  readonly writtenBytes: number;
  readonly stateBytes: number;
  /** Points that wait to be sent. */
  readonly waiting: number;
  /** After a garbage collection, with all that the tests keep themselves. */
  readonly heapBytes: number;
}

/** So much more than before is no growth, beside a twentieth. */
const SLACK: Readonly<Record<keyof Steady, number>> = {
  polls: 5,
  requests: 5,
  turns: 100,
  sleeping: 5,
  pageBytes: 1_000,
  statusBytes: 1_000,
  // A file is written anew now and then.
  writtenBytes: 2_000_000,
  waiting: 0,
  // It is written anew when it has grown by so much.
  stateBytes: 2 ** 22,
  heapBytes: 4_000_000,
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The bytes of the heap that are in use. */
export function heapNow(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** One exporter of a fleet, as a process: what it leaves behind is its state file. */
interface Instance {
  readonly shard: number;
  readonly shards: number;
  readonly disk: MemoryStore;
  readonly stopping: () => Promise<void>;
  readonly app: App;
}

/** The whole program, without HTTP to the services, before a fleet of any size and a receiver, on a manual clock. */
export class Large {
  readonly clock = new ManualClock(Date.UTC(2026, 2, 2));
  readonly fleet: MadeUpFleet;
  readonly receiver: MinuteReceiver;
  readonly #network = new Network();
  readonly #setup: LargeSetup;
  #instances: Instance[] = [];
  #begun = 0;
  #isWatching = false;
  #pageBytes = 0;
  /** Seconds lost and points dropped, as processes that have ended reported them. */
  #reported = 0;
  /** The minutes up to this one were compared; so many were due and missing. */
  #comparedUntil = 0;
  #missing = 0;
  #repeated = 0;
  /** Of each appliance, how often it was shown to be up or down, by its latest value. */
  readonly #ups = new Map<string, { value: number; changes: number }>();

  private constructor(setup: LargeSetup) {
    this.#setup = setup;
    const { appliances, intervalMinutes = 30 } = setup;
    this.fleet = new MadeUpFleet(this.clock, appliances, SERIES, intervalMinutes * MINUTE, setup);
    this.receiver = new MinuteReceiver(this.clock.now(), setup.receiver ?? 'takes all', () => this.clock.now());
    this.#network.listens(RECEIVER, receiverServer(this.receiver.send));
    // As run.ts does for the process.
    setMaxListeners(10 * appliances);
  }

  static async begin(setup: LargeSetup): Promise<Large> {
    const large = new Large(setup);
    await large.start(setup.shards);
    return large;
  }

  get intervalMinutes(): number {
    return this.#setup.intervalMinutes ?? 30;
  }

  /** Starts one exporter for each shard; a shard that there was before goes on from its state. */
  async start(shards = 1, variables: Readonly<Record<string, string>> = {}): Promise<void> {
    const kept = this.#instances;
    this.#instances = [];
    for (let shard = 0; shard < shards; shard += 1) {
      const disk = kept.find((one) => one.shard === shard)?.disk ?? new MemoryStore();
      this.#instances.push(await this.#started(shard, shards, disk, variables));
    }
  }

  /** All exporters end; those that are killed lose what they have not saved, and what is wiped all of it. */
  async stop(how: Ending = 'asked'): Promise<void> {
    for (const { app, disk, stopping } of this.#instances) {
      this.#reported += this.#reportedIn(seenOf((await pageOf(app, '/metrics')).text));
      const kept = disk.content;
      await this.clock.through(stopping(), 1_000);
      if (how === 'killed') disk.content = kept;
      if (how === 'wiped') disk.content = undefined;
    }
  }

  /**
   * Time passes. Where changes of `up` count, somebody looks three times an interval, but not more often than every ten
   * minutes; elsewhere once, at the end.
   */
  async passes(ms: number): Promise<Scrape> {
    const lookMs = this.#isWatching ? Math.max(10, this.intervalMinutes / 3) * MINUTE : ms;
    let scrape = new Scrape('');
    for (let left = ms; left > 0; left -= lookMs) {
      await this.clock.advance(Math.min(left, lookMs));
      scrape = await this.look();
    }
    return scrape;
  }

  /** What all exporters show together of up and down, and of themselves; the length of their pages is `pageBytes`. */
  async look(): Promise<Scrape> {
    const pages: string[] = [];
    for (const { app } of this.#instances) pages.push((await pageOf(app, '/metrics')).text);
    const text = pages.join('');
    this.#pageBytes = text.length;
    const scrape = seenOf(text);
    if (this.#isWatching)
      for (const { labels, value } of scrape.all(APPLIANCE_UP)) this.#watch(labels.serial ?? '', value);
    return scrape;
  }

  /** What an hour takes. From the first time on, changes of `up` count. */
  async steady(): Promise<Steady> {
    this.#isWatching = true;
    const counts = () => ({
      polls: this.fleet.polls,
      requests: this.receiver.requests,
      turns: this.clock.turns,
      writtenBytes: this.#instances.reduce((sum, { disk }) => sum + disk.written, 0),
    });
    const before = counts();
    const scrape = await this.passes(HOUR);
    const after = counts();
    const status: string[] = [];
    for (const { app } of this.#instances) status.push((await pageOf(app, '/api/v1/status')).text);
    return {
      polls: after.polls - before.polls,
      requests: after.requests - before.requests,
      turns: after.turns - before.turns,
      writtenBytes: after.writtenBytes - before.writtenBytes,
      sleeping: this.clock.sleeping,
      pageBytes: this.#pageBytes,
      statusBytes: status.join('').length,
      waiting: scrape.sum('filer_exporter_remote_write_waiting_points'),
      // Before the heap: this joins the pieces of the file, which are no memory of the program.
      stateBytes: this.#instances.reduce((sum, { disk }) => sum + (disk.content?.length ?? 0), 0),
      heapBytes: heapNow(),
    };
  }

  /** How often `up` of the appliance that changed most has done so since this was last asked. */
  mostChanges(): number {
    const most = Math.max(0, ...[...this.#ups.values()].map(({ changes }) => changes));
    for (const known of this.#ups.values()) known.changes = 0;
    return most;
  }

  /** An hour takes no more than before, and no poll is missing. */
  expectSame(before: Steady, after: Steady): void {
    const { appliances } = this.#setup;
    // The minutes of the last polls may wait.
    const ofEach: Readonly<Record<string, number>> = { waiting: this.intervalMinutes };
    const grown = Object.entries(before).flatMap(([what, value]) => {
      const slack = SLACK[what as keyof Steady] + appliances * (ofEach[what] ?? 0);
      const now = after[what as keyof Steady];
      return now > 1.05 * value + slack ? [`${what}: ${value} → ${now}`] : [];
    });
    expect(grown).toEqual([]);
    expect(after.polls).toBeGreaterThanOrEqual(0.95 * before.polls - 5);
  }

  /**
   * Every minute that the service had was delivered once, or reported as lost. Resolves with how many are missing since it
   * was last asked. `late`: by how many minutes what the service has is late; `younger`: how many minutes may have been
   * reported that are too young to be due; `repeated`: how many may have arrived twice.
   */
  async expectMinutes({ late = 0, younger = 0, repeated = 0 } = {}): Promise<number> {
    const before = this.#missing;
    const { missing, reported } = await this.minutes(late);
    const twice = this.receiver.repeated - this.#repeated;
    this.#repeated += twice;
    expect(twice, 'minutes that arrived twice').toBeLessThanOrEqual(repeated);
    expect(missing, 'neither delivered nor reported').toBeLessThanOrEqual(reported);
    expect(reported, 'reported, and there').toBeLessThanOrEqual(missing + younger);
    return missing - before;
  }

  /** How many minutes that were due the receiver lacks so far, and how many were reported as lost or dropped. */
  async minutes(late = 0): Promise<{ readonly missing: number; readonly reported: number }> {
    const until = this.fleet.minute - 2 * this.intervalMinutes - 25 - late;
    expect(until).toBeGreaterThan(this.#comparedUntil);
    for (const appliance of this.fleet.appliances)
      for (let minute = this.#comparedUntil; minute < until; minute += 1)
        if (this.fleet.has(appliance, minute) && !this.receiver.holds(appliance.serial, minute)) this.#missing += 1;
    this.#comparedUntil = until;
    return { missing: this.#missing, reported: this.#reported + this.#reportedIn(await this.look()) };
  }

  #reportedIn(scrape: Scrape): number {
    const lost = scrape.sum('filer_exporter_remote_write_lost_seconds_total') / 60;
    return lost + scrape.sum('filer_exporter_remote_write_dropped_points_total') / this.fleet.samples;
  }

  #watch(serial: string, value: number): void {
    const known = this.#ups.get(serial);
    if (known === undefined) this.#ups.set(serial, { value, changes: 0 });
    else if (known.value !== value) this.#ups.set(serial, { value, changes: known.changes + 1 });
  }

  async #started(
    shard: number,
    shards: number,
    disk: MemoryStore,
    variables: Readonly<Record<string, string>>,
  ): Promise<Instance> {
    this.#begun += 1;
    const { intervalMinutes } = this;
    const app = assemble(
      {
        PORTAL_URL: 'http://portal.test/portal',
        PORTAL_USER_KEY: 'made-up-user-key',
        PORTAL_SERIES: SERIES,
        PORTAL_INTERVAL: `${intervalMinutes}m`,
        PORTAL_COLLECTORS: 'telemetry',
        REMOTE_WRITE_URL: `${RECEIVER}/write`,
        ALLOW_INSECURE_UPSTREAM: 'true',
        STATE_FILE: '/state',
        SHARD: String(shard),
        TOTAL_SHARDS: String(shards),
        ...this.#setup.variables,
        ...variables,
      },
      {
        clock: this.clock,
        random: seededRandom(this.#begun),
        log: createLog('info', { write: () => {} }),
        connect: () => this.#network.connect(),
        openState: () => disk,
        services: (named) => named.map((one) => ({ ...one, service: this.fleet.service(shard, shards) })),
      },
    );
    await this.clock.through(app.start(), 100);
    return { shard, shards, disk, app, stopping: () => app.stop() };
  }
}

/** What is looked at of a page. Each appliance has other series too, which the parser would remember. */
function seenOf(text: string): Scrape {
  const lines = text.split('\n').filter((line) => line.startsWith(APPLIANCE_UP) || line.startsWith('filer_exporter_'));
  return new Scrape(lines.join('\n'), false);
}

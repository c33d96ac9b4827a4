import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, onTestFinished } from 'vitest';
import type { App } from '../../src/app/app.ts';
import { createLog } from '../../src/runtime/log.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { APPLIANCE_UP } from '../harness/names.ts';
import { Network } from '../harness/network.ts';
import { pageOf } from '../harness/page.ts';
import { MemoryReceiver } from '../history/memory-receiver.ts';
import { assemble } from '../support/assemble.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryStore } from '../support/memory-store.ts';
import type { LogLine } from '../support/program.ts';
import { Scrape } from '../support/scrape.ts';
import { MadeUpFleet } from './fleet.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

const SERIES = 'cpu_utilization';

export interface LargeSetup {
  readonly appliances: number;
  readonly intervalMinutes?: number;
  readonly catchUp?: string;
  readonly shards?: number;
}

/** How things are in an hour without trouble: an hour after one it must be the same. */
interface Steady {
  readonly polls: number;
  readonly sleeping: number;
  readonly pageBytes: number;
  /** Written to the state file. */
  readonly writtenBytes: number;
  readonly waiting: number;
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
  readonly receiver: MemoryReceiver;
  readonly log: LogLine[] = [];
  /** The receiver takes no connections. */
  isReceiverAway = false;
  /** Processor time of the longest turn of the event loop since it was last set to zero, in milliseconds. */
  longestTurnMs = 0;
  readonly #setup: LargeSetup;
  readonly #network = new Network();
  #instances: Instance[] = [];
  #begun = 0;
  #isWatching = false;
  /** Seconds lost and points dropped, as processes that have ended reported them. */
  #reported = 0;
  /** Of each appliance, how often it was shown to be up or down, by its latest value. */
  readonly #ups = new Map<string, { value: number; changes: number }>();

  private constructor(setup: LargeSetup) {
    this.#setup = setup;
    const { appliances, intervalMinutes = 30 } = setup;
    this.fleet = new MadeUpFleet(this.clock, appliances, SERIES, intervalMinutes * MINUTE);
    this.receiver = new MemoryReceiver(undefined, () => this.clock.now());
    this.#network.listens('http://receiver.test', (request, response) => void this.#receive(request, response));
    // As run.ts does for the process.
    setMaxListeners(10 * appliances);
  }

  static async begin(setup: LargeSetup): Promise<Large> {
    const large = new Large(setup);
    onTestFinished(() => large.stop());
    await large.start(setup.shards);
    return large;
  }

  /** Starts one exporter for each shard; a shard that there was before goes on from its state. */
  async start(shards = 1): Promise<void> {
    const kept = this.#instances;
    this.#instances = [];
    for (let shard = 0; shard < shards; shard += 1) {
      const disk = kept.find((one) => one.shard === shard)?.disk ?? new MemoryStore();
      this.#instances.push(await this.#started(shard, shards, disk));
    }
  }

  /** All exporters end; those that are killed lose what they have not saved. */
  async stop(how: 'asked' | 'killed' = 'asked'): Promise<void> {
    for (const { app, disk, stopping } of this.#instances) {
      this.#reported += reportedIn(new Scrape((await pageOf(app, '/metrics')).text, false));
      const kept = disk.content;
      await this.clock.through(stopping(), 1_000);
      if (how === 'killed') disk.content = kept;
    }
  }

  /** Time passes, and somebody looks every ten minutes of it. */
  async passes(ms: number): Promise<Scrape> {
    let scrape = new Scrape('');
    for (let left = ms; left > 0; left -= 10 * MINUTE) {
      await this.clock.advance(Math.min(left, 10 * MINUTE));
      scrape = await this.look();
    }
    return scrape;
  }

  /** What all exporters show together. */
  async look(): Promise<Scrape> {
    const pages: string[] = [];
    for (const { app } of this.#instances) pages.push((await pageOf(app, '/metrics')).text);
    const scrape = new Scrape(pages.join(''), false);
    if (this.#isWatching)
      for (const { labels, value } of scrape.all(APPLIANCE_UP)) this.#watch(labels.serial ?? '', value);
    return scrape;
  }

  /** How things are: an hour passes. From the first time on, changes of `up` count. */
  async steady(): Promise<Steady> {
    this.#isWatching = true;
    const { polls } = this.fleet;
    const written = () => this.#instances.reduce((sum, { disk }) => sum + disk.written, 0);
    const before = written();
    const scrape = await this.passes(HOUR);
    return {
      polls: this.fleet.polls - polls,
      sleeping: this.clock.sleeping,
      pageBytes: scrape.text.length,
      writtenBytes: written() - before,
      waiting: scrape.sum('filer_exporter_remote_write_waiting_points'),
    };
  }

  /** How often `up` of the appliance that changed most did so. */
  get mostChanges(): number {
    return Math.max(0, ...[...this.#ups.values()].map(({ changes }) => changes));
  }

  /** All is as it was: no more polls, sleepers, bytes of page and state, and waiting points than before. */
  expectSame(before: Steady, after: Steady): void {
    for (const [what, value] of Object.entries(before) as [keyof Steady, number][]) {
      // Points of the last minutes may wait, and the state file is written anew now and then.
      const slack = what === 'waiting' ? this.#setup.appliances : what === 'writtenBytes' ? value + 100_000 : 5;
      expect(after[what], what).toBeLessThanOrEqual(1.05 * value + slack);
    }
    expect(after.polls).toBeGreaterThanOrEqual(0.95 * before.polls - 5);
  }

  /**
   * Every minute that the service had was delivered once, or reported as lost. Resolves with how many are missing.
   * `younger`: how many minutes may have been reported that are too young to be due; `repeated`: how many may arrive twice.
   */
  async expectMinutes({ younger = 0, repeated = 0 } = {}): Promise<number> {
    const { intervalMinutes = 30 } = this.#setup;
    const until = this.fleet.minute - 2 * intervalMinutes - 25;
    let missing = 0;
    let due = 0;
    for (const appliance of this.fleet.appliances) {
      const times = this.#timesOf(appliance.serial);
      for (let minute = 0; minute < until; minute += 1) {
        if (!this.fleet.has(appliance, minute)) continue;
        due += 1;
        if (times?.has(Date.UTC(2026, 2, 2) + minute * MINUTE) !== true) missing += 1;
      }
    }
    const reported = this.#reported + reportedIn(await this.look());
    expect(due).toBeGreaterThan(0);
    expect(this.receiver.repeated, 'minutes that arrived twice').toBeLessThanOrEqual(repeated);
    expect(missing, 'neither delivered nor reported').toBeLessThanOrEqual(reported);
    expect(reported, 'reported, and there').toBeLessThanOrEqual(missing + younger);
    return missing;
  }

  #timesOf(serial: string) {
    if (this.#keys === undefined || this.#keys.size < this.receiver.series.size) {
      this.#keys = new Map(
        [...this.receiver.series.keys()]
          .filter((key) => key.includes('cpu_utilization'))
          .map((key) => [/serial=([^,]*)/.exec(key)?.[1] ?? '', key]),
      );
    }
    return this.receiver.series.get(this.#keys.get(serial) ?? '')?.times;
  }

  #keys: Map<string, string> | undefined;

  #watch(serial: string, value: number): void {
    const known = this.#ups.get(serial);
    if (known === undefined) this.#ups.set(serial, { value, changes: 0 });
    else if (known.value !== value) this.#ups.set(serial, { value, changes: known.changes + 1 });
  }

  async #started(shard: number, shards: number, disk: MemoryStore): Promise<Instance> {
    this.#begun += 1;
    const { catchUp = '6h', intervalMinutes = 30 } = this.#setup;
    const app = assemble(
      {
        PORTAL_URL: 'http://portal.test/portal',
        PORTAL_USER_KEY: 'made-up-user-key',
        PORTAL_SERIES: SERIES,
        PORTAL_INTERVAL: `${intervalMinutes}m`,
        PORTAL_COLLECTORS: 'telemetry',
        REMOTE_WRITE_URL: 'http://receiver.test/write',
        REMOTE_WRITE_CATCH_UP: catchUp,
        ALLOW_INSECURE_UPSTREAM: 'true',
        STATE_FILE: '/state',
        SHARD: String(shard),
        TOTAL_SHARDS: String(shards),
      },
      {
        clock: this.clock,
        random: seededRandom(this.#begun),
        log: createLog('info', { write: (line) => this.log.push(JSON.parse(line) as LogLine) }),
        connect: () => this.#network.connect(),
        openState: () => disk,
        services: (named) => named.map((one) => ({ ...one, service: this.fleet.service(shard, shards) })),
      },
    );
    await this.clock.through(app.start(), 100);
    return { shard, shards, disk, app, stopping: () => app.stop() };
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isReceiverAway) {
      response.destroy();
      return;
    }
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const { status, text } = await this.receiver.send({}, Buffer.concat(pieces), new AbortController().signal);
    response.writeHead(status, {}).end(Buffer.from(text));
  }
}

/** Minutes that were reported as lost or dropped. */
function reportedIn(scrape: Scrape): number {
  const lost = scrape.sum('filer_exporter_remote_write_lost_seconds_total') / 60;
  return lost + scrape.sum('filer_exporter_remote_write_dropped_points_total') / 2;
}

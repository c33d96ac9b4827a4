import { get } from 'node:http';
import type { App } from '../../src/app/app.ts';
import type { StandIn } from '../../src/demo/stand-in.ts';
import type { Log } from '../../src/runtime/log.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { assemble } from '../support/assemble.ts';
import { type ManualClock, settle } from '../support/manual-clock.ts';
import { MemoryDispatcher, type Overhearing } from '../support/memory-dispatcher.ts';
import type { Disk } from './disk.ts';
import { INTERVAL_MS, SERIES, STALE_AFTER, type Told } from './told.ts';

/** How a process ends: asked to, without a chance to save, or with its state file gone. */
export const ENDINGS = ['stopped', 'killed', 'wiped'] as const;

/** What all lives have in common. */
export interface Surroundings {
  readonly clock: ManualClock;
  readonly standIn: StandIn;
  readonly disk: Disk;
  readonly told: Told;
  readonly log: Log;
  readonly seed: number;
  readonly overhearing: Overhearing;
}

/** Turns of the event loop in which whatever does not wait for the clock comes to its end. */
const TURNS = 20;

/** What a start may take at most, on a disk that cannot be read, and a stop; in milliseconds. */
const START_MS = 20_000;
const STOP_MS = 20_000;

/** Between two looks whether a start that waits for the clock is over, in milliseconds. */
const STARTING_MS = 500;

/** One exporter after the other, on one state file. */
export class Lives {
  readonly #surroundings: Surroundings;
  #app: App | undefined;
  #url = '';
  #begun = 0;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** The next one begins. */
  async begin(): Promise<void> {
    const { clock, standIn, disk, told, log, seed, overhearing } = this.#surroundings;
    this.#begun += 1;
    this.#app = assemble(environmentOf(standIn, told), {
      ...{ clock, log, random: seededRandom(1_000 * seed + this.#begun) },
      connect: () => new MemoryDispatcher(standIn.serve, overhearing),
      openState: () => disk,
    });
    this.#url = `http://127.0.0.1:${await this.#started(this.#app)}`;
  }

  /** It ends, whatever it is doing, and leaves nothing behind but its state. */
  async end(how: (typeof ENDINGS)[number] = 'stopped'): Promise<void> {
    const { clock, disk } = this.#surroundings;
    const before = disk.now;
    const stopped = this.#app?.stop();
    this.#app = undefined;
    for (let turn = 0; turn < TURNS; turn += 1) await settle();
    await clock.advance(STOP_MS);
    await stopped;
    if (how === 'killed') disk.put(before);
    if (how === 'wiped') disk.put({ bytes: undefined, savedAt: undefined, isCurrent: false });
    for (let turn = 0; turn < TURNS; turn += 1) await settle();
    if (clock.sleeping > 0) throw new Error(`${clock.sleeping} are asleep after the exporter was ${how}`);
  }

  /** The port once it serves. The clock moves only while the start waits for it: what cannot be read is tried again. */
  async #started(app: App): Promise<number> {
    const { clock } = this.#surroundings;
    const latest = clock.monotonic() + START_MS;
    let isOver = false;
    const port = app.start().finally(() => {
      isOver = true;
    });
    for (await settle(); !isOver; await settle()) {
      if (clock.monotonic() >= latest) throw new Error(`the exporter has not started within ${START_MS} ms`);
      if (clock.sleeping > 0) await clock.advance(STARTING_MS);
    }
    return port;
  }

  /** One scrape, over a socket. */
  async scrape(format: 'text' | 'openmetrics'): Promise<string> {
    const accept = format === 'openmetrics' ? 'application/openmetrics-text;version=1.0.0' : 'text/plain';
    const { status, text } = await this.#page('/metrics', accept);
    if (status !== 200) throw new Error(`a scrape was answered ${status}`);
    return text;
  }

  /** Whether it is ready. */
  async ready(): Promise<boolean> {
    return (await this.#page('/readyz', 'text/plain')).status === 200;
  }

  #page(path: string, accept: string): Promise<{ readonly status: number | undefined; readonly text: string }> {
    return new Promise((resolve, reject) => {
      get(`${this.#url}${path}`, { headers: { accept }, agent: false }, async (answer) => {
        const pieces: Buffer[] = [];
        for await (const piece of answer as AsyncIterable<Buffer>) pieces.push(piece);
        resolve({ status: answer.statusCode, text: Buffer.concat(pieces).toString('utf8') });
      }).once('error', reject);
    });
  }
}

function environmentOf({ gfaUrl, portalUrl, credentials }: StandIn, told: Told): Readonly<Record<string, string>> {
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
    PORTAL_RATE_LIMIT: `${told.requests}/${told.windowMs}ms`,
    PORTAL_DAILY_LIMIT: String(told.aDay),
    PORTAL_CONCURRENCY: String(told.concurrency),
    STALE_AFTER: String(STALE_AFTER),
    STATE_FILE: '/state',
    // Each bucket is a line for each pair, and all of them are read again at every look.
    EVENT_BUCKETS: '1m,1h',
    ALLOW_INSECURE_UPSTREAM: 'true',
  };
}

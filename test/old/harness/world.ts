import { setMaxListeners } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import {
  type MockServices,
  type SimulatedFailure,
  startMockServices,
  type Variations,
} from '../../src/demo/mock-services.ts';
import { parsePeriod, type RequestedPeriod } from '../../src/demo/portal/period.ts';
import { seededRandom } from '../../src/demo/seeded-random.ts';
import { defaultVariations } from '../../src/demo/variations.ts';
import type { Given } from '../support/assemble.ts';
import { type Edit, Editor } from '../support/edits.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { ManualClock, settle } from '../support/manual-clock.ts';
import { MemoryStore } from '../support/memory-store.ts';
import type { LogLine } from '../support/program.ts';
import { get, Scrape } from '../support/scrape.ts';
import { Evidence } from './evidence.ts';
import { Exporter } from './exporter.ts';
import { Judge } from './judge.ts';
import { NappingClock } from './napping-clock.ts';
import { Network } from './network.ts';
import type { Page } from './page.ts';
import { receiverServer } from './receiver.ts';
import { Sent } from './sent.ts';
import { HOUR, hasState, MINUTE, SECOND, SERIES, type Setup, toldOf } from './setup.ts';
import { standing } from './standing.ts';
import type { Scope } from './troubles.ts';

export { DAY, HOUR, MINUTE, SECOND, SERIES, type Setup } from './setup.ts';

// As run.ts does for the process.
setMaxListeners(100);

/** Every telemetry operation of appliances, for faults. */
export const TELEMETRY = /_utilization|_average|_hits_|_disk_|^network|^smb|^current|^appliance_health/;

/** Everything that the portal is asked beside telemetry and tokens. */
export const ACCOUNT = /^serials$|^edges$|^volume_connections$|^license$|^account|^jobs$|^notifications$/;

/** Everything that the portal is asked. */
export const PORTAL = /^(?!data$)/;

/** How a process ends. */
export type Ending = 'asked' | 'killed' | 'wiped';

/** Sleepers that there may be: a worker or a request each, and the few that wake by themselves. */
const MAX_ASLEEP = 60;

/** Between two looks of `until`, and what it waits for at most, in milliseconds. */
const UNTIL = { stepMs: 5 * SECOND, mostMs: HOUR } as const;

const RECEIVER = 'http://receiver.test';

const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0';

/** What an operator sees at one moment. */
export interface Seen {
  readonly scrape: Scrape;
  readonly ready: boolean;
}

/** The exporter with both services in one process, and time that moves when told. */
export class World {
  readonly clock: NappingClock;
  readonly services: MockServices;
  readonly sent: Sent;
  readonly judge: Judge;
  readonly network = new Network();
  readonly disk = new MemoryStore();
  /** The lines of the log so far, those of earlier processes included. */
  readonly log: LogLine[] = [];
  /** The last page that somebody looked at. */
  last = '';
  readonly #setup: Setup;
  readonly #editor: Editor;
  #exporter: Exporter | undefined;
  readonly #others: Exporter[] = [];
  #begun = 0;
  #isOver = false;
  /** The exporter was killed: nothing that it does until it has ended arrives. */
  #isDying = false;
  /** Whether the next exporter goes on with what this one has counted. */
  #isKept = false;
  /** Monotonic milliseconds of the latest time that the story changed anything. */
  #acts = 0;

  private constructor(setup: Setup, clock: NappingClock, services: MockServices) {
    this.#setup = setup;
    this.clock = clock;
    this.services = services;
    this.#editor = new Editor(services.serve);
    this.sent = new Sent(clock.others);
    const evidence = new Evidence(clock.others, services, this.sent, toldOf(setup));
    evidence.wokeAt = () => clock.wokeAt;
    this.judge = new Judge(evidence);
    this.sent.hears = (path, answer) => this.judge.answered(path, answer);
    this.network.listens(services.portalUrl, this.#editor.serve, this.sent);
    const { receiver } = setup;
    if (receiver === undefined) return;
    const never = new Promise<never>(() => {});
    const send: typeof receiver = (...request) => (this.#isDying ? never : receiver(...request));
    this.network.listens(RECEIVER, receiverServer(send));
  }

  /** A new world, with its exporter started. It ends with the test, and what broke a promise meanwhile breaks the test. */
  static async begin(setup: Setup = {}): Promise<World> {
    const clock = new ManualClock(setup.at);
    const { appliances = 3, volumes = 2, seed = 1, isCalm, variations = {} } = setup;
    const napping = new NappingClock(clock);
    const options = { appliances, volumes, seed, variations, ...(isCalm !== undefined && { isCalm }) };
    const services = await startMockServices({ clock: napping.others, ...options });
    const world = new World(setup, napping, services);
    onTestFinished(() => world.ends());
    if (!setup.later) await world.starts();
    return world;
  }

  /** The appliances that there are. */
  get serials(): readonly string[] {
    return this.services.fleet.appliances.map(({ serial }) => serial);
  }

  /** What was seen, moment by moment, is what is to be seen. */
  expects(seen: readonly unknown[], wanted: readonly unknown[]): void {
    expect(seen).toEqual(wanted.map((one) => (one instanceof RegExp ? expect.stringMatching(one) : one)));
  }

  /** The exporter starts, with these variables beside those of its setup. */
  async starts(variables: Readonly<Record<string, string>> = {}): Promise<void> {
    this.act();
    this.judge.started(this.#isKept && this.disk.fault === undefined);
    this.#isKept = hasState(this.#setup);
    this.#begun += 1;
    this.#exporter = new Exporter(
      { ...this.#environment(), ...variables },
      {
        clock: this.clock,
        random: seededRandom(this.#begun),
        connect: () => this.network.connect(),
        openState: () => this.disk,
      },
      (work) => this.#through(work),
      (line) => {
        this.log.push(line);
        this.judge.logged(line);
      },
    );
    await this.#starting(this.#exporter);
    await settle();
  }

  /** One more exporter before the same services, of which the judge hears nothing. */
  async exporter(variables: Readonly<Record<string, string>>, given: Partial<Given> = {}): Promise<Exporter> {
    const exporter = this.prepared(variables, given);
    await this.#starting(exporter);
    return exporter;
  }

  /** The same, not started. */
  prepared(variables: Readonly<Record<string, string>>, given: Partial<Given> = {}): Exporter {
    const network = new Network();
    network.listens(this.services.portalUrl, this.#editor.serve);
    const own = { clock: this.clock, connect: () => network.connect(), ...given };
    const exporter = new Exporter(variables, own, (work) => this.#through(work));
    this.#others.push(exporter);
    return exporter;
  }

  /** Until it serves. The clock moves only while the start waits for it: a disk that fails is tried again. */
  async #starting(exporter: Exporter): Promise<void> {
    let isOver = false;
    const serving = exporter.start().finally(() => {
      isOver = true;
    });
    for (await settle(); !isOver && this.disk.fault !== undefined; await settle()) await this.clock.advance(SECOND / 2);
    return serving;
  }

  /** Lets time pass until something is over, and resolves with what came of it. */
  #through<Result>(work: Promise<Result>): Promise<Result> {
    return this.clock.through(work, UNTIL.stepMs);
  }

  /** The exporter stops: asked to, killed with what it had saved by then, or with its state file gone. */
  async stops(how: Ending = 'asked'): Promise<void> {
    this.act();
    this.#isKept &&= how !== 'wiped' && this.disk.fault === undefined;
    const kept = this.disk.content;
    this.#isDying = how === 'killed';
    const stopped = this.#exporter?.stopping();
    this.#exporter = undefined;
    await this.clock.advance(15 * SECOND);
    await stopped;
    this.#isDying = false;
    if (how === 'killed') this.disk.content = kept;
    if (how === 'wiped') this.disk.content = undefined;
    if (this.clock.sleeping > 0) this.judge.complain(`asleep: ${this.clock.sleeping} after the exporter was ${how}`);
  }

  /** It is stopped, and after a while the next one starts; without a state file that knows nothing of the one before. */
  async restarts(afterMs = 30 * SECOND, how: Ending = 'asked'): Promise<void> {
    await this.stops(how);
    await this.clock.advance(afterMs);
    await this.starts();
  }

  /** What is denied rests, and is asked again with the next list of appliances. */
  get denialEchoMs(): number {
    return (4 / 3) * toldOf(this.#setup).discoveryMs;
  }

  /** Something goes wrong at the services, until what it returns is called. */
  fails(fault: SimulatedFailure): () => void {
    const lift = this.services.fail(fault);
    // What is tried again, and answered then, is not felt.
    if (fault.times === 1 && isTriedAgain(fault)) {
      this.act();
      return lift;
    }
    const { kind, operation, serial, times } = fault;
    const isDenial = kind === 'status' && [403, 404, 422].includes(fault.status);
    const echoMs = isRefusal(fault) ? HOUR : isDenial ? this.denialEchoMs : 0;
    const scope = { ...(operation !== undefined && { operation }), ...(serial !== undefined && { serial }) };
    // A rejection holds up everything.
    const troubled = this.troubled(isRefusal(fault) ? {} : scope, echoMs);
    // What spoils a few requests is over by itself.
    if (times !== undefined) troubled();
    return () => {
      lift();
      troubled();
    };
  }

  /** The services answer something else, until what it returns is called. */
  edits(edit: Edit): () => void {
    const troubled = this.troubled({ path: edit.path }, 0);
    const lift = this.#editor.add(edit);
    return () => {
      lift();
      troubled();
    };
  }

  /** The services are others until what it returns is called; as ever then, but for what the story has changed since. */
  varies(change: Partial<Variations>, { scope = {}, echoMs = 0 }: { scope?: Scope; echoMs?: number } = {}): () => void {
    const troubled = this.troubled(scope, echoMs);
    this.services.vary(change);
    return () => {
      const before = { ...defaultVariations, ...this.#setup.variations };
      this.services.vary(
        Object.fromEntries(Object.keys(change).map((name) => [name, before[name as keyof Variations]])),
      );
      troubled();
    };
  }

  /** The portal returns a status, and no records, to requests for some periods, until what it returns is called. */
  refuses(statusOf: (period: RequestedPeriod) => number | undefined): () => void {
    const troubled = this.troubled({ operation: TELEMETRY });
    this.sent.refuses = (period) => {
      const parsed = parsePeriod(period, this.clock.others.now());
      return typeof parsed === 'string' ? undefined : statusOf(parsed);
    };
    return () => {
      this.sent.refuses = () => undefined;
      troubled();
    };
  }

  /** Something is wrong, by the story, until what it returns is called. */
  troubled(scope: Scope, echoMs = 0): () => void {
    this.act();
    const ended = this.judge.troubled(scope, echoMs);
    return () => {
      ended();
      this.act();
    };
  }

  /** An appliance, or all of them, is off: its telemetry has no records. */
  off(...serials: readonly string[]): () => void {
    const path = new RegExp(`/telemetry/appliances/(?:${serials.length === 0 ? '[^/]+' : serials.join('|')})/`);
    return this.edits({ path, change: (body) => ({ ...(body as object), items: [] }) });
  }

  /** Says that the story did something: what is seen may change once for it. */
  act(): void {
    this.#acts += 1;
  }

  /** Time passes, and somebody looks every few minutes of it. */
  async passes(ms: number): Promise<Seen> {
    const { lookMs = 2 * MINUTE } = this.#setup;
    let left = ms;
    while (left > 0) {
      const step = Math.min(left, lookMs);
      await this.clock.advance(step);
      left -= step;
      if (left > 0) await this.sees();
    }
    return this.sees();
  }

  /** Time passes until there is something to see, and this resolves with it: anything but undefined and false. */
  async until<Found>(what: string, look: () => Found | Promise<Found>): Promise<Exclude<Found, undefined | false>> {
    const begun = this.clock.awakeMs;
    for (;;) {
      const found = await look();
      if (found !== undefined && found !== false) return found as Exclude<Found, undefined | false>;
      if (this.clock.awakeMs - begun > UNTIL.mostMs) throw new Error(`waited for ${what} for an hour of the clock`);
      await this.clock.advance(UNTIL.stepMs);
    }
  }

  /** What is seen now. */
  async sees(): Promise<Seen> {
    if (this.#exporter === undefined) return { scrape: new Scrape(''), ready: false };
    const scrape = await this.#exporter.scrape();
    this.last = scrape.text;
    const ready = this.#exporter.app.pages.ready();
    this.judge.looked(scrape, ready);
    if (this.clock.sleeping > MAX_ASLEEP) this.judge.complain(`asleep: ${this.clock.sleeping}`);
    return { scrape, ready };
  }

  /** Time passes, and then the standing of all is told in a few words. */
  async after(ms: number): Promise<string> {
    return standing((await this.passes(ms)).scrape);
  }

  /** A page of the exporter. */
  page(path: string): Promise<Page> {
    return this.#exporter === undefined ? Promise.reject(new Error('no exporter runs')) : this.#exporter.page(path);
  }

  #environment(): Readonly<Record<string, string>> {
    const { gfaUrl, portalUrl, credentials } = this.services;
    const { series = SERIES, gfa = false, portal = true, receiver, environment = {} } = this.#setup;
    return {
      ...(gfa ? { GFA_URL: gfaUrl, GFA_TOKEN: credentials.gfaToken } : {}),
      ...(portal
        ? {
            PORTAL_URL: portalUrl,
            PORTAL_SERVICE_KEY: credentials.serviceKey,
            PORTAL_SERVICE_SECRET: credentials.serviceSecret,
            PORTAL_SERIES: series.join(','),
          }
        : {}),
      ...(hasState(this.#setup) ? { STATE_FILE: '/state' } : {}),
      ...(receiver === undefined ? {} : { REMOTE_WRITE_URL: `${RECEIVER}/write` }),
      EVENT_BUCKETS: '1m,1h',
      ALLOW_INSECURE_UPSTREAM: 'true',
      ...environment,
    };
  }

  /** The exporter stops, and what broke a promise throws. Called at the end of the test where the test does not. */
  async ends(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#exporter !== undefined) {
      parseExposition((await get(`${this.#exporter.url}/metrics`, { accept: OPEN_METRICS })).text, 'openmetrics');
      await this.stops();
    }
    for (const other of this.#others) await other.stop();
    await this.services.close();
    this.judge.expectPromises(this.log, this.#acts);
  }
}

/** Statuses after which a request is tried again at once. */
const TRIED_AGAIN = [401, 408, 500, 502, 503, 504];

function isTriedAgain(fault: SimulatedFailure): boolean {
  return fault.kind === 'status' ? TRIED_AGAIN.includes(fault.status) : ['reset', 'cut'].includes(fault.kind);
}

function isRefusal(fault: SimulatedFailure): boolean {
  return fault.kind === 'status' && fault.status === 429;
}

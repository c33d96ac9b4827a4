import { setMaxListeners } from 'node:events';
import process from 'node:process';
import { request } from 'undici';
import { expect, onTestFinished } from 'vitest';
import { type App, createApp } from '../../src/app/app.ts';
import type { Environment } from '../../src/app/environment.ts';
import { lineMask } from '../../src/cli/load.ts';
import { credentials, type DemoRequest, type Fault, SimulatedServices } from '../../src/demo/services.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { createLog, type Log } from '../../src/runtime/log.ts';
import { type Duration, HOUR, milliseconds, SECOND } from '../harness/duration.ts';
import type { LogLine } from '../harness/kept-log.ts';
import { type BothConfig, configOf } from '../harness/load-config.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { MemoryConnection, URLS } from '../harness/memory-connection.ts';
import { MemoryStore } from '../harness/memory-store.ts';
import { Scrape } from '../harness/scrape.ts';
import { seededRandom } from '../harness/seeded-random.ts';
import { Evidence } from './evidence.ts';
import { type Invariant, Invariants } from './invariants.ts';

type Env = Readonly<Record<string, string>>;
type ServiceOptions = Exclude<ConstructorParameters<typeof SimulatedServices>[1], undefined>;

export interface ScenarioOptions {
  /** 3 if not given. */
  readonly appliances?: number;
  /** Whether file acceleration is polled. */
  readonly gfa?: boolean;
  /** Whether the portal is polled; it is unless this is false. */
  readonly portal?: boolean;
  readonly series?: readonly string[];
  /** Whether the exporter has a state file. */
  readonly state?: boolean;
  readonly env?: Env;
  readonly services?: Omit<ServiceOptions, 'appliances'>;
  /** Creates the services, in place of these options. */
  readonly createServices?: (clock: Clock) => SimulatedServices;
  /** Whether the exporter waits for `start()`. */
  readonly later?: boolean;
  /** How often the invariants are checked. */
  readonly checkEvery?: Duration;
  /** The time at the beginning, in epoch milliseconds. */
  readonly at?: number;
}

/** Lines of the log that a start takes, and those of one act with and without an appliance. */
const LOG_LINES = { start: 20, act: 8, appliance: 3 } as const;

/** The whole program with both services in this process, on a clock that moves only when told. It ends with the test. */
export async function simulate(options: ScenarioOptions = {}): Promise<Scenario> {
  const config = await configOf({ ...environmentOf(options), ...options.env });
  const scenario = new Scenario(options, config);
  onTestFinished(() => scenario.end());
  if (!options.later) await scenario.start();
  return scenario;
}

export class Scenario {
  readonly clock: ManualClock;
  readonly services: SimulatedServices;
  readonly disk = new MemoryStore();
  readonly config: BothConfig;
  readonly invariants: Invariants;
  /** The lines of all processes so far. */
  readonly log: LogLine[] = [];
  /** What each response takes. */
  latencyMs = 0;
  readonly #options: ScenarioOptions;
  /** The services have a clock of their own, which nobody sets. */
  readonly #servicesClock: Clock;
  readonly #evidence: Evidence;
  readonly #allowed = new Set<Invariant>();
  #app: App | undefined;
  #port = 0;
  #starts = 0;
  /** How often the scenario changed anything. */
  #acts = 0;
  #isUnplugged = false;
  #remembers = false;

  constructor(options: ScenarioOptions, config: BothConfig) {
    this.#options = options;
    this.config = config;
    this.clock = new ManualClock(options.at);
    const { clock } = this;
    const startedAt = clock.now();
    this.#servicesClock = {
      now: () => startedAt + clock.monotonic(),
      monotonic: () => clock.monotonic(),
      sleep: clock.sleep.bind(clock),
    };
    const { appliances = 3, services, createServices } = options;
    this.services =
      createServices?.(this.#servicesClock) ?? new SimulatedServices(this.#servicesClock, { appliances, ...services });
    this.#evidence = new Evidence(() => clock.monotonic());
    this.invariants = new Invariants(config, this.#evidence, this.services, this.#servicesClock);
  }

  get serials(): readonly string[] {
    return this.services.fleet.appliances.map(({ serial }) => serial);
  }

  /** Starts an exporter. */
  async start(): Promise<void> {
    this.#acts += 1;
    this.#starts += 1;
    this.invariants.started();
    this.#evidence.started(this.#remembers);
    const { config } = this;
    const write = (line: string) => void this.log.push(JSON.parse(line) as LogLine);
    // As for the process.
    setMaxListeners(100);
    const log = createLog('info', { write }, lineMask(config));
    this.#app = createApp(config, this.environment(log));
    void this.#app.failed.then((error) => this.invariants.violate('log', `the program failed: ${error.stack}`));
    this.#port = await this.#app.start();
  }

  /** What a program of this machine gets. */
  environment(log: Log): Environment {
    return {
      clock: this.clock,
      random: seededRandom(this.#starts),
      log,
      version: '0.0.0',
      revision: 'test',
      nodeVersion: process.version,
      openState: () => this.disk,
      connect: () =>
        new MemoryConnection(
          (...request) => this.respond(...request),
          this.clock,
          () => this.latencyMs,
        ),
    };
  }

  /** Lets time pass, checks the invariants meanwhile, and resolves with the last scrape. */
  async advance(duration: Duration): Promise<Scrape> {
    const stepMs = milliseconds(this.#options.checkEvery ?? '2m');
    let scrape = new Scrape('');
    for (let leftMs = milliseconds(duration); leftMs > 0; leftMs -= stepMs) {
      await this.clock.advance(Math.min(leftMs, stepMs));
      scrape = await this.scrape();
    }
    return scrape;
  }

  /** Scrapes and checks the invariants. */
  async scrape(): Promise<Scrape> {
    const scrape = new Scrape((await this.get('/metrics')).text);
    this.invariants.check(scrape);
    return scrape;
  }

  /** A page of the exporter. */
  async get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const { statusCode: status, body } = await request(`http://127.0.0.1:${this.#port}${path}`);
    return { status, text: await body.text() };
  }

  /** Begins a fault of the services; returns the function that ends it. */
  fail(fault: Fault): () => void {
    const { service, path, status, times } = fault;
    const isLimit = status === 429;
    const discoveryMs = this.invariants.portal?.discoveryIntervalMs ?? 0;
    const echoMs = isLimit ? HOUR : [403, 404, 422].includes(status ?? 0) ? (4 / 3) * discoveryMs : 0;
    const end = this.disturb(
      (ofService, ofPath) =>
        (service === undefined || service === ofService) &&
        // One 429 may hold back all requests of a service.
        (path === undefined || path.test(ofPath) || (isLimit && ofService === 'portal')),
      echoMs,
    );
    const endFault = this.services.fail(fault);
    // A fault of a few requests ends by itself.
    if (times !== undefined) end();
    return () => {
      endFault();
      end();
    };
  }

  /** Changes responses; returns the function that ends it. */
  edit(path: RegExp, change: (body: unknown, request: DemoRequest) => unknown): () => void {
    const end = this.disturb((_, ofPath) => path.test(ofPath));
    const endEdit = this.services.edit(path, change);
    return () => {
      endEdit();
      end();
    };
  }

  /** Says that something is wrong with requests; by default with all of them. Returns the function that says that it is over. */
  disturb(concerns: Parameters<Evidence['disturb']>[0] = () => true, echoMs = 0): () => void {
    this.#acts += 1;
    const end = this.#evidence.disturb(concerns, echoMs);
    return () => {
      this.#acts += 1;
      end();
    };
  }

  /** The number of requests whose path and query fit, in the time before now; all if no time is given. */
  requests(path: RegExp, last?: Duration): number {
    const from = last === undefined ? Number.NEGATIVE_INFINITY : this.#servicesClock.now() - milliseconds(last);
    return this.services.requests(path).filter(({ at }) => at > from).length;
  }

  /** Ends the exporter, by a stop or by a kill, and starts another one after a while. */
  async restart(how: 'stop' | 'kill', away: Duration = '30s'): Promise<void> {
    await this.stop(how);
    await this.clock.advance(milliseconds(away));
    await this.start();
  }

  async stop(how: 'stop' | 'kill' = 'stop'): Promise<void> {
    this.disk.isFrozen = how === 'kill';
    this.#isUnplugged = how === 'kill';
    await this.clock.through(this.#app?.stop() ?? Promise.resolve(), SECOND);
    this.#app = undefined;
    this.disk.isFrozen = false;
    this.#isUnplugged = false;
    this.#remembers = this.#options.state === true && how === 'stop' && this.disk.fault === undefined;
  }

  /** Accepts that an invariant does not hold in this scenario. */
  allow(invariant: Invariant, _because: string): void {
    this.#allowed.add(invariant);
  }

  /** Stops the exporter; throws if an invariant was broken that is not allowed to be. */
  async end(): Promise<void> {
    await this.stop();
    const lines = LOG_LINES.act + LOG_LINES.appliance * this.services.fleet.everyAppliance.length;
    this.invariants.end(this.#acts, this.log.length, LOG_LINES.start * this.#starts + lines * this.#acts);
    const broken = [...this.invariants.broken].filter(([, invariant]) => !this.#allowed.has(invariant));
    expect(broken.map(([violation]) => violation).slice(0, 10)).toEqual([]);
  }

  /** What the services send to the exporter; undefined while it is killed. */
  respond(...[service, request]: Parameters<SimulatedServices['respond']>) {
    if (this.#isUnplugged) return undefined;
    const sent = this.services.respond(service, request);
    this.#evidence.take(service, request.path, sent);
    return sent;
  }
}

const SERIES = ['cpu_utilization', 'load_average', 'cache_utilization'];

/** Shorter than by default, so that an outage takes fewer hours of the clock. */
const INTERVALS = { PORTAL_INTERVAL: '2m', PORTAL_DISCOVERY_INTERVAL: '6m', GFA_INTERVAL: '60s' } as const;

function environmentOf({ gfa = false, portal = true, state = false, series = SERIES }: ScenarioOptions): Env {
  return {
    LISTEN_ADDRESS: '127.0.0.1:0',
    ALLOW_INSECURE_UPSTREAM: 'true',
    // Most lines of a page are buckets.
    EVENT_BUCKETS: '1m,1h',
    ...INTERVALS,
    ...(gfa && { GFA_URL: URLS.gfa, GFA_TOKEN: credentials.gfaToken }),
    ...(portal && {
      PORTAL_URL: URLS.portal,
      PORTAL_SERVICE_KEY: credentials.serviceKey,
      PORTAL_SERVICE_SECRET: credentials.serviceSecret,
      PORTAL_SERIES: series.join(','),
    }),
    ...(state && { STATE_FILE: '/state' }),
  };
}

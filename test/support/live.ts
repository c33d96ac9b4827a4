import { once, setMaxListeners } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { App } from '../../src/app/app.ts';
import { type MockServices, type MockServicesOptions, startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { Network } from '../harness/network.ts';
import { type Page, pageOf } from '../harness/page.ts';
import { assemble, type Given } from './assemble.ts';
import { ManualClock } from './manual-clock.ts';
import type { LogLine } from './program.ts';
import { Scrape } from './scrape.ts';

type Environment = Readonly<Record<string, string>>;

// As run.ts does for the process.
setMaxListeners(100);

/** The one clock of the services and exporters here. It moves in `until`, and where a test moves it. */
export const clock = new ManualClock();

/** Where {@link services} listen. */
const wires = new Network();

/** Between two looks of `until`, in milliseconds. */
const STEP_MS = 5_000;

/** What `until` waits for at most, in milliseconds; no test here needs as much. */
const PATIENCE_MS = 3_600_000;

/** Of the looks at `/metrics` one in so many is read strictly. */
const STRICT_EACH = 10;

/** Moves the clock until there is something to see, and gives it: anything but undefined and false. */
export async function until<Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
): Promise<Exclude<Seen, undefined | false>> {
  const begun = clock.monotonic();
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen as Exclude<Seen, undefined | false>;
    if (clock.monotonic() - begun > PATIENCE_MS) throw new Error(`waited ${PATIENCE_MS} ms of the clock for ${what}`);
    await clock.advance(STEP_MS);
  }
}

/** Both services in this process, for one test. */
export async function services(options: Partial<MockServicesOptions> = {}): Promise<MockServices> {
  const mocks = await startMockServices({ clock, appliances: 4, volumes: 2, ...options });
  const ends = wires.listens(mocks.portalUrl, mocks.serve);
  onTestFinished(async () => {
    ends();
    await mocks.close();
  });
  return mocks;
}

/** Connects an exporter to {@link services}. */
export const network = { connect: () => wires.connect() };

/** What points an exporter at a mock portal: two series of each appliance, everything every ten seconds. */
export function portalEnvironment({ portalUrl, credentials }: MockServices): Environment {
  return {
    PORTAL_URL: portalUrl,
    PORTAL_SERVICE_KEY: credentials.serviceKey,
    PORTAL_SERVICE_SECRET: credentials.serviceSecret,
    PORTAL_INTERVAL: '10s',
    PORTAL_DISCOVERY_INTERVAL: '10s',
    PORTAL_SERIES: 'cpu_utilization,load_average',
    PORTAL_COLLECTORS: 'telemetry,volumes=10s,edges=10s,license=10s',
  };
}

/** What points it at its file acceleration service, every ten seconds. */
export function gfaEnvironment({ gfaUrl, credentials }: MockServices): Environment {
  return { GFA_URL: gfaUrl, GFA_TOKEN: credentials.gfaToken, GFA_INTERVAL: '10s' };
}

/** Both services over connections, by the clock of this machine, for one test; and what points an exporter at them. */
export async function realServices(options: Partial<MockServicesOptions> = {}) {
  const mocks = await startMockServices({ clock: systemClock, appliances: 4, volumes: 2, ...options });
  onTestFinished(() => mocks.close());
  return { mocks, environment: { ...gfaEnvironment(mocks), ...portalEnvironment(mocks) } };
}

/** An exporter in this process, its whole program but for the process. */
export interface Live {
  readonly url: string;
  readonly app: App;
  readonly log: readonly LogLine[];
  get(path: string): Promise<Page>;
  scrape(): Promise<Scrape>;
  stop(): Promise<void>;
}

/** Starts an exporter as an environment configures it; it is stopped when the test is over, or before. */
export async function exporter(environment: Environment, given: Partial<Given> = {}): Promise<Live> {
  const lines: LogLine[] = [];
  const log = createLog('debug', { write: (line) => lines.push(JSON.parse(line) as LogLine) });
  const app = assemble(environment, { clock, log, ...network, ...given });
  const url = `http://127.0.0.1:${await app.start()}`;
  let looks = 0;
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= stopped(app);
    return stopping;
  };
  onTestFinished(stop);
  return {
    url,
    app,
    log: lines,
    stop,
    get: (path) => pageOf(app, path),
    scrape: async () => {
      looks += 1;
      return new Scrape((await pageOf(app, '/metrics')).text, looks % STRICT_EACH === 1);
    },
  };
}

/** Gets a page. */
export async function get(url: string): Promise<{ readonly status: number; readonly text: string }> {
  // Not by `fetch`: undici fails an assertion if a connection ends while its reader lags, and each of ours ends.
  const request = httpGet(url, { agent: false, timeout: 100_000 });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await text(response) };
}

/** Scrapes an exporter once, in the text format. */
export async function scrape(url: string): Promise<Scrape> {
  return new Scrape((await get(`${url}/metrics`)).text);
}

/** Stops an exporter, which may take time of the clock. */
export async function stopped(app: App): Promise<void> {
  await clock.through(app.stop(), STEP_MS);
}

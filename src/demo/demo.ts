import type { Clock } from '../runtime/clock.ts';
import { startServer } from './server.ts';
import { credentials, type Options, SimulatedServices } from './services.ts';
import { troubles } from './troubles.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** What goes wrong in the demo: nothing, one appliance is off, or about ten things. */
export type DemoTroubles = 'none' | 'one' | 'all';

/** A running demo. */
export interface Demo {
  /** What points an exporter at the demo, in place of the user's own services. */
  readonly environment: Variables;
  /** Paragraphs for the top of every page; code in backticks. */
  readonly notice: readonly string[];
  close(): Promise<void>;
}

/** Higher than real limits, because the exporter polls the demo ten times as often. */
const LIMITS: Options['limits'] = {
  burst: { requests: 3_000, windowMs: 30_000 },
  daily: 10_000_000,
  retryAfter: 'seconds',
};

export async function startDemo(clock: Clock, own: Variables, begun: DemoTroubles): Promise<Demo> {
  const services = demoServices(clock, begun);
  const server = await startServer(services);
  return {
    environment: demoEnvironment(own, server),
    notice: demoNotice(begun),
    close: () => server.close(),
  };
}

/** The services of the demo, without a server. */
export function demoServices(clock: Clock, begun: DemoTroubles): SimulatedServices {
  const services = new SimulatedServices(clock, { limits: LIMITS });
  for (const { begin } of troublesOf(begun)) begin(services);
  return services;
}

/**
 * The environment of an exporter of the demo. Its intervals are short, so that a visitor sees values change. Of the
 * visitor's own environment it keeps what is about neither services nor proxies, such as `LISTEN_ADDRESS`.
 */
export function demoEnvironment(
  own: Variables,
  urls: { readonly gfaUrl: string; readonly portalUrl: string },
): Variables {
  const kept = Object.entries(own).filter(([name]) => !/^(?:GFA|PORTAL)_|_PROXY$/i.test(name));
  const { burst, daily } = LIMITS;
  return {
    ...Object.fromEntries(kept),
    GFA_URL: urls.gfaUrl,
    GFA_TOKEN: credentials.gfaToken,
    GFA_INTERVAL: '10s',
    PORTAL_URL: urls.portalUrl,
    PORTAL_SERVICE_KEY: credentials.serviceKey,
    PORTAL_SERVICE_SECRET: credentials.serviceSecret,
    PORTAL_INTERVAL: '30s',
    PORTAL_DISCOVERY_INTERVAL: '1m',
    PORTAL_SERIES: 'all,appliance_health_score=1m',
    PORTAL_COLLECTORS: 'all=30s',
    PORTAL_RATE_LIMIT: `${burst.requests}/${burst.windowMs}ms`,
    PORTAL_DAILY_LIMIT: String(daily),
  };
}

function troublesOf(begun: DemoTroubles) {
  const [first] = troubles;
  return begun === 'none' ? [] : begun === 'one' ? [first] : troubles;
}

function demoNotice(begun: DemoTroubles): Demo['notice'] {
  const failing = troublesOf(begun).map(({ shows }) => shows);
  return [
    'This is the demo. The fleet and all its numbers are simulated, and the services are part of this process.',
    `What fails on purpose: ${failing.join('; ')}.`,
    'For your own fleet, set `GFA_URL` or `PORTAL_URL` with credentials and start without `--demo`.',
  ];
}

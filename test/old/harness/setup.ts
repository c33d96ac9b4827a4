import { parseDuration } from '../../src/config/duration.ts';
import type { Variations } from '../../src/demo/mock-services.ts';
import type { Send } from '../../src/history/delivery.ts';
import type { Told } from './evidence.ts';

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

/** The series of appliances that exporters poll unless they say otherwise. */
export const SERIES = ['cpu_utilization', 'load_average', 'cache_utilization'] as const;

/** What a world begins with. */
export interface Setup {
  readonly appliances?: number;
  readonly volumes?: number;
  /** Of the services; 1 by default. */
  readonly seed?: number;
  /** Whether the simulated fleet has no failures of its own. */
  readonly isCalm?: boolean;
  readonly series?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly variations?: Partial<Variations>;
  /** Whether it has a state file. */
  readonly state?: boolean;
  /** Whether the file acceleration service is polled. */
  readonly gfa?: boolean;
  readonly portal?: boolean;
  /** Takes the minutes of history that the exporter sends; without one it sends none. */
  readonly receiver?: Send;
  /** How often somebody looks, in milliseconds; every other minute unless this says otherwise. */
  readonly lookMs?: number;
  /** Not to be started yet. */
  readonly later?: boolean;
  /** Epoch milliseconds at the beginning. */
  readonly at?: number;
}

/** Whether what is counted outlives the process. */
export function hasState({ state = false }: Setup): boolean {
  return state;
}

function ceilingsOf({ PORTAL_RATE_LIMIT = '500/30s', PORTAL_DAILY_LIMIT = '1000000' }: Setup['environment'] & {}) {
  const [requests = '', window = ''] = PORTAL_RATE_LIMIT.split('/');
  const aDay = Number(PORTAL_DAILY_LIMIT) || Number.POSITIVE_INFINITY;
  return { requests: Number(requests), windowMs: parseDuration(window) ?? 0, aDay };
}

/** What the exporter of such a world is told. */
export function toldOf({ series = SERIES, environment = {}, portal = true, gfa = false }: Setup): Told {
  const duration = (name: string, usual: number) => parseDuration(environment[name] ?? '') ?? usual;
  return {
    series: portal ? series : [],
    intervalMs: duration('PORTAL_INTERVAL', 5 * MINUTE),
    discoveryMs: duration('PORTAL_DISCOVERY_INTERVAL', 15 * MINUTE),
    dataMs: duration('GFA_INTERVAL', MINUTE),
    portal,
    gfa,
    ceilings: ceilingsOf(environment),
    licence: portal && /license|all/.test(environment.PORTAL_COLLECTORS ?? 'license'),
  };
}

import fc from '../support/fast-check.ts';
import { EFFECTS, type Event, OPERATIONS, type Plan } from './plan.ts';
import type { Setup } from './setup.ts';

const minutes = (min: number, max: number) => fc.integer({ min, max }).map((value) => `${value}m`);
const one = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);
const names = <Table extends object>(table: Table) => fc.constantFrom(...(Object.keys(table) as (keyof Table)[]));
const part = fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 3 });

/** Each kind of event with everything that it needs: leaving one out of a plan changes none of the others. */
const KINDS = {
  fault: fc.record({ of: names(OPERATIONS), effect: names(EFFECTS) }),
  'appliances fail': fc.record({ appliances: part, effect: names(EFFECTS) }),
  'appliances are off': fc.record({ appliances: part }),
  throttle: one({ wait: 900 }, { wait: 60 }, {}),
  'licence lapses': fc.constant({}),
  'short lists': fc.record({ share: one(0, 0.5) }),
  'token revoked': fc.constant({}),
  restart: fc.record({ how: one('asked', 'killed', 'wiped'), away: one('30s', '2m', '10m') }),
  'one filer an answer': fc.constant({}),
  'no filers': fc.constant({}),
  'dated ahead': fc.record({ group: one('filers', 'locks', 'propagation'), by: one('8h', '1d') }),
  'disk full': fc.constant({}),
  rename: fc.record({ appliance: fc.nat(4), to: one('edge "1" \\ \n', 'edge-2') }),
  join: fc.constant({}),
  vary: one(
    { variations: { nulls: 0.1 } },
    { variations: { nulls: 0.4, shuffled: true } },
    { variations: { tokenLifetimeMs: 240_000 } },
  ),
  suspend: fc.record({ sleeps: one('1h', '3h', '8h') }),
  clock: fc.record({ step: one('-1h', '1h', '1d') }),
} as const satisfies Readonly<Record<Event['do'] extends infer D ? Exclude<D, 'limit'> & string : never, unknown>>;

const setups: fc.Arbitrary<Setup> = fc.record({
  appliances: fc.integer({ min: 3, max: 5 }),
  gfa: fc.constant(true),
  state: fc.boolean(),
  series: one(
    ['cpu_utilization', 'load_average'],
    ['cpu_utilization', 'memory_utilization', 'memory_utilization_details'],
  ),
  environment: one('5m', '15m').map((interval) => ({
    PORTAL_COLLECTORS: 'telemetry,volumes,edges,license,jobs,notifications,volume_telemetry=5m',
    PORTAL_DISCOVERY_INTERVAL: interval,
  })),
  variations: fc.record({ delivery: one('incremental', 'overlapping') }),
});

const event = fc.oneof(
  ...Object.entries(KINDS).map(([kind, more]) =>
    fc
      .record({ at: minutes(20, 100), lasts: minutes(1, 40), more: more as fc.Arbitrary<object> })
      .map(({ more: own, ...when }) => ({ do: kind, ...when, ...own }) as Event),
  ),
);

/**
 * Plans of some hours. Each first draws which kinds of events it may have: where everything happens at once, one trouble
 * hides what another alone would show.
 */
export const plans: fc.Arbitrary<Plan> = fc
  .record({
    setup: setups,
    allowed: fc.subarray(Object.keys(KINDS), { minLength: 1 }),
    events: fc.array(event, { minLength: 1, maxLength: 14 }),
  })
  .map(({ setup, allowed, events }) => ({
    setup,
    events: events
      .filter((chosen) => allowed.includes(chosen.do))
      .toSorted((a, b) => Number.parseInt(a.at, 10) - Number.parseInt(b.at, 10)),
    quiet: '70m',
  }));

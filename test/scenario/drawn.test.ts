import process from 'node:process';
import { expect, test } from 'vitest';
import type { Fault } from '../../src/demo/services.ts';
import { DAY, type Duration, HOUR, MINUTE, SECOND } from '../harness/duration.ts';
import fc from '../harness/fast-check.ts';
import { type Scenario, type ScenarioOptions, simulate } from './simulate.ts';

/* Several failures at once, as nobody would think of them together. The invariants hold throughout, and all is well afterwards. */

const TARGETS = {
  telemetry: { path: /^\/telemetry\// },
  'the account': { path: /^\/(?!telemetry|auth|data)/ },
  'the portal': { service: 'portal' },
  'the inventory': { path: /^\/(?:serials|edges)/ },
  'the token': { path: /^\/auth\/token/ },
  'one series': { path: /cpu_utilization/ },
  '/data': { service: 'gfa' },
} as const satisfies Record<string, Fault>;

const EFFECTS = {
  'returns 503': { status: 503 },
  'returns 500': { status: 500 },
  'returns 404': { status: 404 },
  'returns 403': { status: 403 },
  'sends a web page': { text: '<html>We will be back.</html>' },
  'sends null': { text: 'null' },
  'sends a list': { text: '[]' },
  'sends odd items': { text: '{"items":[null,{}]}' },
  'sends half an object': { text: '{"items":[' },
  'is cut': { how: 'cut' },
  'is reset': { how: 'reset' },
  hangs: { how: 'hang' },
  'hangs in the middle': { how: 'hang-half' },
  drips: { how: 'drip' },
} as const satisfies Record<string, Fault>;

/** What happens, in which minute, and for how many minutes. */
type Event = { readonly at: number; readonly lasts: number } & (
  | { readonly what: keyof typeof TARGETS; readonly effect: keyof typeof EFFECTS; readonly times?: number }
  | { readonly appliances: readonly number[]; readonly effect: keyof typeof EFFECTS }
  | { readonly retryAfter: number | undefined }
  | { readonly restart: 'stop' | 'kill' }
  | { readonly shortLists: number }
  | { readonly clock: number }
  | { readonly simple: keyof typeof SIMPLE }
);

const SIMPLE = {
  'an appliance joins': (run: Scenario) => {
    run.services.fleet.add(run.services.fleet.startedAt + run.clock.monotonic());
    return run.disturb(() => false);
  },
  'an appliance is renamed': (run: Scenario) => {
    const [appliance] = run.services.fleet.appliances;
    run.services.fleet.change(appliance?.name ?? '', { name: `edge "${run.clock.monotonic()}" \\ \n` });
    return run.disturb(() => false);
  },
  'no filers are reported': (run: Scenario) => run.edit(/^\/data/, (body) => ({ ...(body as object), metrics: [] })),
  'the disk is full': (run: Scenario) => {
    run.disk.fault = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    const end = run.disturb(() => false);
    return () => {
      run.disk.fault = undefined;
      end();
    };
  },
} as const;

/** Begins an event; the returned function ends it. */
async function begin(run: Scenario, event: Event): Promise<() => void> {
  if ('what' in event) {
    const { what, effect, times } = event;
    return run.fail({ ...TARGETS[what], ...EFFECTS[effect], ...(times !== undefined && { times }) });
  }
  if ('appliances' in event) {
    const serials = event.appliances.map((index) => run.serials[index % run.serials.length]);
    return run.fail({ path: new RegExp(`/appliances/(?:${serials.join('|')})/`), ...EFFECTS[event.effect] });
  }
  if ('retryAfter' in event) {
    const headers: Record<string, string> =
      event.retryAfter === undefined ? {} : { 'retry-after': String(event.retryAfter) };
    return run.fail({ service: 'portal', status: 429, headers });
  }
  if ('shortLists' in event) {
    let left = 5;
    // The next list comes after the discovery interval.
    const endDisturbance = run.disturb(() => true, 20 * MINUTE);
    const end = run.edit(/^\/(?:serials|edges|jobs|notifications|volume_connections)(?:\?|$)/, (body) => {
      const { items, ...rest } = body as { items: readonly unknown[] };
      left -= 1;
      return left < 0 ? body : { ...rest, items: items.slice(0, items.length * event.shortLists) };
    });
    return () => {
      end();
      endDisturbance();
    };
  }
  if ('clock' in event) {
    run.clock.step(event.clock);
    return run.disturb(() => false);
  }
  if ('simple' in event) return SIMPLE[event.simple](run);
  await run.restart(event.restart, '2m');
  return () => {};
}

interface Plan {
  readonly options: ScenarioOptions;
  readonly events: readonly Event[];
}

/** After the last event has ended, all is well within this time. Limits that were met are felt for an hour. */
function quietAfter(events: readonly Event[]): Duration {
  return events.some((event) => 'retryAfter' in event) ? '65m' : '30m';
}

async function play({ options, events }: Plan): Promise<void> {
  const run = await simulate({ checkEvery: '3m', ...options });
  const due = events.map((event) => ({
    at: event.at * MINUTE,
    act: () => begin(run, event),
    lasts: event.lasts * MINUTE,
  }));
  const ends: { readonly at: number; readonly end: () => void }[] = [];
  while (due.length > 0 || ends.length > 0) {
    due.sort((one, other) => one.at - other.at);
    ends.sort((one, other) => one.at - other.at);
    const [begins, ending] = [due[0], ends[0]];
    const at = Math.min(begins?.at ?? Number.POSITIVE_INFINITY, ending?.at ?? Number.POSITIVE_INFINITY);
    const waitMs = at - run.clock.monotonic();
    if (waitMs > 0) await run.advance(`${waitMs / SECOND}s`);
    if (ending !== undefined && ending.at === at) ends.shift()?.end();
    else if (begins !== undefined) {
      due.shift();
      ends.push({ at: at + begins.lasts, end: await begins.act() });
    }
  }
  const scrape = await run.advance(quietAfter(events));
  const apis = Number(options.gfa ?? false) + 1;
  expect([scrape.sum('filer_api_up'), scrape.sum('filer_appliance_up')]).toEqual([apis, run.serials.length]);
  await run.end();
}

const one = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);
const names = <Table extends object>(table: Table) => fc.constantFrom(...(Object.keys(table) as (keyof Table)[]));
const effect = names(EFFECTS);

/** Each kind of event. A plan draws first which kinds it may have, because one failure hides what another would show. */
const KINDS = [
  fc.record({ what: names(TARGETS), effect }),
  fc.record({ what: names(TARGETS), effect, times: one(1, 3) }),
  fc.record({ appliances: fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 3 }), effect }),
  fc.record({ retryAfter: one(900, 60, undefined) }),
  fc.record({ restart: one('stop' as const, 'kill' as const) }),
  fc.record({ shortLists: one(0, 0.5) }),
  fc.record({ clock: one(-HOUR, HOUR, DAY) }),
  fc.record({ simple: names(SIMPLE) }),
];

const when = fc.record({ at: fc.integer({ min: 8, max: 40 }), lasts: fc.integer({ min: 1, max: 20 }) });

const plans: fc.Arbitrary<Plan> = fc.record({
  options: fc.record({
    appliances: fc.integer({ min: 3, max: 4 }),
    gfa: fc.boolean(),
    state: fc.boolean(),
    series: one(
      ['cpu_utilization', 'load_average'],
      ['cpu_utilization', 'memory_utilization', 'memory_utilization_details'],
    ),
  }),
  events: fc
    .subarray(KINDS, { minLength: 1, maxLength: 4 })
    .chain((kinds) => fc.array(fc.tuple(when, fc.oneof(...kinds)), { minLength: 1, maxLength: 10 }))
    .map((drawn) => drawn.map(([moment, happening]) => ({ ...moment, ...happening }) as Event)),
});

/** `FUZZ_SEED` draws other plans, and more of them. */
const numRuns = process.env.FUZZ_SEED === undefined ? 3 : 40;

test('property: whatever happens together, what is shown is so, and all is well afterwards', async () => {
  await fc.assert(fc.asyncProperty(plans, play), { numRuns, endOnFailure: true });
}, 600_000);

test.each<[string, Plan]>([
  [
    'most appliances hang, then the token service fails',
    {
      options: { appliances: 10, env: { PORTAL_CONCURRENCY: '2' } },
      events: [
        { at: 10, lasts: 50, appliances: [0, 2, 3, 4, 6, 7, 8, 9], effect: 'hangs' },
        { at: 30, lasts: 0, what: 'one series', effect: 'returns 503', times: 3 },
        { at: 40, lasts: 14, what: 'the token', effect: 'sends a list' },
      ],
    },
  ],
  [
    'telemetry and the account fail together with a restart and a renamed appliance',
    {
      options: { gfa: true, state: true },
      events: [
        { at: 10, lasts: 7, what: 'telemetry', effect: 'sends half an object' },
        { at: 18, lasts: 20, appliances: [1], effect: 'sends a web page' },
        { at: 25, lasts: 0, restart: 'stop' },
        { at: 28, lasts: 10, simple: 'no filers are reported' },
        { at: 29, lasts: 0, simple: 'an appliance is renamed' },
        { at: 32, lasts: 12, what: 'the account', effect: 'returns 503' },
        { at: 34, lasts: 12, what: 'telemetry', effect: 'returns 503' },
      ],
    },
  ],
])('found once: %s', async (_, plan) => {
  await play(plan);
});

import { expect } from 'vitest';
import { parseDuration } from '../../src/config/duration.ts';
import type { FaultEffect } from '../../src/demo/faults.ts';
import type { Variations } from '../../src/demo/mock-services.ts';
import { ahead, oneByOne, parts, records, shortened } from './bodies.ts';
import { API_UP, APPLIANCE_UP } from './names.ts';
import type { Setup } from './setup.ts';
import { ACCOUNT, type Ending, HOUR, MINUTE, PORTAL, SECOND, TELEMETRY, World } from './world.ts';

/** A Prometheus duration, such as `90s`; with a minus where a clock is set back. */
export type Duration = string;

/** What can be in trouble. */
export const OPERATIONS = {
  telemetry: TELEMETRY,
  account: ACCOUNT,
  portal: PORTAL,
  inventory: /^(?:serials|edges)$/,
  token: 'token',
  one_series: 'cpu_utilization',
  data: 'data',
} as const;

const body = (text: string) => ({ kind: 'body', body: text }) as const;
const status = (code: number) => ({ kind: 'status', status: code }) as const;

/** How a request can go wrong. Behind the client only its code is known, so that few are enough. */
export const EFFECTS = {
  unavailable: status(503),
  error: status(500),
  not_found: status(404),
  forbidden: status(403),
  html: body('<html>We will be back.</html>'),
  reset: { kind: 'reset' },
  cut: { kind: 'cut' },
  drip: { kind: 'drip' },
  hang: { kind: 'hang' },
  hang_in_body: { kind: 'hang-body' },
  nothing: body(''),
  null: body('null'),
  list: body('[]'),
  odd_items: body('{"items":[null,{}]}'),
  half: body('{"items":['),
} as const satisfies Record<string, FaultEffect>;

/** Something that happens. */
export type Happening =
  | {
      readonly do: 'fault';
      readonly of: keyof typeof OPERATIONS;
      readonly effect: keyof typeof EFFECTS;
      readonly times?: number;
    }
  | {
      readonly do: 'appliances fail';
      readonly appliances: readonly number[];
      readonly effect: keyof typeof EFFECTS;
    }
  | { readonly do: 'appliances are off'; readonly appliances: readonly number[] }
  /** `wait`: the value of `Retry-After`, in seconds. */
  | { readonly do: 'throttle'; readonly wait?: number }
  | { readonly do: 'licence lapses' }
  /** The next answer of each list has this share of its items. */
  | { readonly do: 'short lists'; readonly share: number }
  | { readonly do: 'token revoked' }
  /** The portal accepts this many requests in 30 s. */
  | { readonly do: 'limit'; readonly requests: number }
  | { readonly do: 'restart'; readonly how: Ending; readonly away: Duration }
  | { readonly do: 'one filer an answer' | 'no filers' | 'disk full' }
  | {
      readonly do: 'dated ahead';
      readonly group: 'filers' | 'locks' | 'propagation';
      readonly by: Duration;
    }
  | { readonly do: 'rename'; readonly appliance: number; readonly to: string }
  | { readonly do: 'join' }
  | { readonly do: 'vary'; readonly variations: Partial<Variations> }
  | { readonly do: 'suspend'; readonly sleeps: Duration }
  | { readonly do: 'clock'; readonly step: Duration };

/** Something that happens at a time, and ends after another. */
export type Event = Happening & { readonly at: Duration; readonly lasts?: Duration };

/** What happens to an exporter, as data: kept as JSON in `test/simulation/found/`. */
export interface Plan {
  /** What it found, in one sentence. */
  readonly found?: string;
  readonly setup: Setup;
  /** The first requests already meet this. */
  readonly before?: Happening;
  readonly events: readonly Event[];
  /** Nothing happens for so long at the end, and then all is well. */
  readonly quiet: Duration;
}

/** Plays a plan to its end. Rejects with what the judge has against it. */
export async function play(plan: Plan): Promise<World> {
  const world = await World.begin({ lookMs: 4 * MINUTE, ...plan.setup, later: true });
  const due: { readonly at: number; readonly act: () => void | Promise<void> }[] = [];
  const after = (at: number, act: () => void | Promise<void>) => {
    due.push({ at, act });
    due.sort((one, other) => one.at - other.at);
  };
  const end = plan.before && (await does(world, plan.before));
  await world.starts();
  if (end !== undefined) after(10 * MINUTE, end);
  for (const event of plan.events) {
    after(milliseconds(event.at), async () => {
      const minute = Math.round(world.clock.awakeMs / MINUTE);
      world.judge.tale.push(`${event.do} at minute ${minute}`);
      const ends = await does(world, event);
      after(world.clock.awakeMs + milliseconds(event.lasts ?? '0s'), ends);
    });
  }
  for (let next = due.shift(); next !== undefined; next = due.shift()) {
    const wait = next.at - world.clock.awakeMs;
    if (wait > 0) await world.passes(wait);
    await next.act();
  }
  const quietMs = milliseconds(plan.quiet);
  const { scrape } = await world.passes(quietMs);
  const there = world.services.fleet.appliances.length;
  const { gfa = false, portal = true } = plan.setup;
  const up = { apis: scrape.sum(API_UP), appliances: scrape.sum(APPLIANCE_UP) };
  // Who joined, and what was denied, is polled with the next list of appliances.
  if (quietMs >= world.denialEchoMs) {
    const all = { apis: Number(gfa) + Number(portal), appliances: portal ? there : 0 };
    expect(up, `all is well after: ${world.judge.tale.join(', ')}`).toEqual(all);
  }
  await world.ends();
  return world;
}

/** Makes something happen; what it resolves with ends it. */
export async function does(world: World, happening: Happening): Promise<() => void | Promise<void>> {
  const serials = (appliances: readonly number[]) => {
    const all = world.serials;
    return [...new Set(appliances.map((index) => all[index % all.length] ?? ''))];
  };
  switch (happening.do) {
    case 'fault': {
      const { of, effect, times } = happening;
      return world.fails({ operation: OPERATIONS[of], ...EFFECTS[effect], ...(times !== undefined && { times }) });
    }
    case 'appliances fail': {
      const ends = serials(happening.appliances).map((serial) => world.fails({ serial, ...EFFECTS[happening.effect] }));
      return () => {
        for (const end of ends) end();
      };
    }
    case 'appliances are off':
      return world.off(...serials(happening.appliances));
    case 'throttle': {
      const { wait } = happening;
      const headers: Readonly<Record<string, string>> = wait === undefined ? {} : { 'retry-after': String(wait) };
      return world.fails({ operation: PORTAL, kind: 'status', status: 429, headers });
    }
    case 'licence lapses':
      return world.varies({ opsIqPremium: false }, { scope: { operation: TELEMETRY }, echoMs: world.denialEchoMs });
    case 'short lists':
      return shortLists(world, happening.share);
    case 'token revoked':
      world.fails({ operation: 'token', times: 1, ...EFFECTS.unavailable });
      return world.fails({ operation: TELEMETRY, times: 1, kind: 'status', status: 401 });
    case 'limit': {
      const rateLimit = { kind: 'sliding-window', requests: happening.requests, windowMs: 30_000 } as const;
      // Until the exporter has found the limit, everything may be answered 429.
      world.troubled({}, HOUR / 2)();
      const end = world.varies({ rateLimit }, { scope: { path: /^$/ } });
      return async () => {
        end();
        // What this does is over within seconds.
        for (let looks = 0; looks < 24; looks += 1) await world.passes(5 * SECOND);
      };
    }
    case 'restart':
      await world.restarts(milliseconds(happening.away), happening.how);
      return () => {};
    case 'one filer an answer': {
      const one = oneByOne();
      return world.edits({ path: DATA, change: (answer) => records(answer, 'filers', one) });
    }
    case 'no filers':
      return world.edits({ path: DATA, change: emptied });
    case 'dated ahead': {
      const { group, by } = happening;
      const seconds = milliseconds(by) / 1000;
      return world.edits({
        path: DATA,
        change: (answer) => records(answer, group, (all) => all.map((record) => ahead(record, seconds))),
      });
    }
    case 'disk full': {
      const ends = world.troubled({ path: /^$/ });
      world.disk.fault = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      return () => {
        world.disk.fault = undefined;
        ends();
      };
    }
    case 'rename':
      world.act();
      world.services.renameAppliance(serials([happening.appliance])[0] ?? '', happening.to);
      return () => {};
    case 'join':
      world.act();
      world.services.addAppliance();
      return () => {};
    case 'vary':
      return world.varies(happening.variations, { scope: { operation: TELEMETRY } });
    case 'suspend': {
      const awake = world.troubled({});
      world.clock.nap(milliseconds(happening.sleeps));
      // The program notices within a second.
      await world.passes(2 * SECOND);
      return awake;
    }
    case 'clock':
      world.act();
      world.clock.step(milliseconds(happening.step));
      return () => {};
  }
}

const DATA = /\/gfa\/v1\/data/;

/** Lists, and how many requests read one. */
const LISTS = [
  [/\/portal\/serials/, 2],
  [/\/portal\/edges/, 1],
  [/\/portal\/jobs/, 1],
  [/\/portal\/notifications/, 1],
  [/\/portal\/volume_connections/, 1],
] as const;

function shortLists(world: World, share: number): () => void {
  const ends = LISTS.map(([path, requests]) => {
    let left: number = requests;
    return world.edits({
      path,
      change: (answer) => {
        left -= 1;
        return left < 0 ? answer : shortened(answer, share);
      },
    });
  });
  return () => {
    for (const end of ends) end();
  };
}

function emptied(answer: unknown): unknown {
  return {
    ...parts(answer, (part) => ({ ...part, filers: [], volumes: [], locks: [], propagation: [] })),
    info: { ...(answer as { info: object }).info, volumes: [] },
  };
}

function milliseconds(duration: Duration): number {
  const isBack = duration.startsWith('-');
  const parsed = parseDuration(isBack ? duration.slice(1) : duration);
  if (parsed === undefined) throw new Error(`${duration}: expected a duration such as 90s`);
  return isBack ? -parsed : parsed;
}

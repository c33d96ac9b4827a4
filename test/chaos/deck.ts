import type { FaultEffect } from '../../src/demo/faults.ts';
import { ahead, oneByOne, parts, records, shortened } from '../lives/bodies.ts';
import { ACCOUNT, HOUR, type Life, MINUTE, PORTAL, SECOND, TELEMETRY } from '../lives/life.ts';
import type { Chance } from './chance.ts';

/** Ends what has happened. */
export type End = () => void | Promise<void>;

/** Something that happens in a life. */
export type Card = (life: Life, chance: Chance) => End | Promise<End>;

/** Cards by what they are about. */
export type Cards = Readonly<Record<string, Card>>;

const DATA = /\/gfa\/v1\/data/;
const INVENTORY = /^(?:serials|edges)$/;
const TOKENS = 'token';
const DAY_SECONDS = 86_400;
const unavailable = { kind: 'status', status: 503 } as const;
const hanging = { kind: 'hang' } as const;

const EFFECTS: readonly FaultEffect[] = [
  unavailable,
  { kind: 'status', status: 500 },
  { kind: 'status', status: 404 },
  { kind: 'status', status: 403 },
  { kind: 'body', body: '<html>We will be back.</html>' },
  { kind: 'reset' },
  { kind: 'cut' },
  { kind: 'drip' },
  { kind: 'hang-body' },
  ...['', 'null', '[]', '{"items":[null,{}]}', '{"items":['].map((body) => ({ kind: 'body', body }) as const),
  hanging,
];

/** A refusal that says to come back late, soon, or says nothing. */
export function refusal(chance: Chance): FaultEffect {
  return { kind: 'status', status: 429, headers: chance.one([{ 'retry-after': '900' }, { 'retry-after': '60' }, {}]) };
}

/** What happens to a fleet and to what is told of it. */
export const fleetCards: Cards = {
  'part of the fleet fails or hangs, and one of the others fails once': async (life, chance) => {
    const [well = '', ...others] = chance.shuffled(life.serials);
    const effect = chance.happens(0.5) ? hanging : chance.one(EFFECTS);
    const lifts = chance.part(others).map((serial) => life.fails({ serial, ...effect }));
    await life.passes(chance.between(20, 50) * MINUTE);
    // All of its tries.
    life.fails({ serial: well, operation: 'cpu_utilization', times: 3, ...unavailable });
    await life.passes(20 * MINUTE);
    return together(lifts);
  },
  'part of the fleet is off': async (life, chance) => {
    const on = life.off(...chance.part(life.serials));
    await life.passes(25 * MINUTE);
    return on;
  },
  'one kind of operation fails': (life, chance) => life.fails({ operation: chance.one(KINDS), ...chance.one(EFFECTS) }),
  'everything fails, and the account for longer': async (life, chance) => {
    const over = life.fails({ operation: ACCOUNT, ...unavailable });
    const telemetry = life.fails({ operation: TELEMETRY, ...unavailable });
    await life.passes(chance.between(5, 40) * MINUTE);
    telemetry();
    return over;
  },
  'every list is empty or half once': (life, chance) =>
    together(
      LISTS.map(([path, requests]) => {
        const share = chance.one([0, 0.5]);
        let left: number = requests;
        return life.edits({
          path,
          change: (body) => {
            left -= 1;
            return left < 0 ? body : shortened(body, share);
          },
        });
      }),
    ),
};

/** What happens to an account. */
export const accountCards: Cards = {
  'the licence lapses': async (life) => {
    const scope = { operation: TELEMETRY };
    const bought = life.varies({ opsIqPremium: false }, { scope, echoMs: life.denialEchoMs });
    await life.passes(25 * MINUTE);
    return bought;
  },
  'the token is revoked, and its service fails once': (life) => {
    life.fails({ operation: TOKENS, times: 1, ...unavailable });
    return life.fails({ operation: TELEMETRY, times: 1, kind: 'status', status: 401 });
  },
  'everything is refused': (life, chance) => life.fails({ operation: PORTAL, ...refusal(chance) }),
  'the exporter is started again': async (life, chance) => {
    await life.restarts(chance.between(30, 600) * SECOND, chance.one(['asked', 'killed', 'wiped']));
    return () => {};
  },
};

/** What happens to limits. */
export const limitCards: Cards = {
  'the limit allows little of what is asked for, for an hour': async (life, chance) => {
    const rateLimit = { kind: 'sliding-window', requests: chance.between(3, 4), windowMs: 30_000 } as const;
    // Until it is found everything may be refused.
    life.troubled({}, HOUR / 2)();
    const lifted = life.varies({ rateLimit }, { scope: { path: /^$/ } });
    await life.passes(HOUR);
    return async () => {
      lifted();
      // What this does is over within seconds.
      for (let looks = 0; looks < 24; looks += 1) await life.passes(5 * SECOND);
    };
  },
};

/** What happens to the file acceleration service. */
export const dataCards: Cards = {
  'filers are named one an answer': (life) => {
    const one = oneByOne();
    return life.edits({ path: DATA, change: (body) => records(body, 'filers', one) });
  },
  'filers or events are dated ahead': (life, chance) => {
    const group = chance.one(['filers', 'locks', 'propagation']);
    const seconds = chance.one([DAY_SECONDS / 3, DAY_SECONDS]);
    return life.edits({
      path: DATA,
      change: (body) => records(body, group, (all) => all.map((record) => ahead(record, seconds))),
    });
  },
  'nothing is named for a while': (life) =>
    life.edits({
      path: DATA,
      change: (body) => ({
        ...parts(body, (part) => ({ ...part, filers: [], volumes: [], locks: [], propagation: [] })),
        info: { ...(body as { info: object }).info, volumes: [] },
      }),
    }),
};

/** What changes without being wrong. */
export const worldCards: Cards = {
  'names change': (life, chance) => {
    life.act();
    life.services.renameAppliance(chance.one(life.serials), `edge "${chance.between(1, 9)}" \\ \n`);
    life.services.renameVolume(life.services.fleet.volumes[0]?.guid ?? '', `volume ${chance.between(1, 9)}`);
    return () => {};
  },
  'an appliance joins': (life) => {
    life.act();
    life.services.addAppliance();
    return () => {};
  },
  'tokens live for other times': (life, chance) =>
    life.varies({ tokenLifetimeMs: chance.between(4, 20) * MINUTE }, { scope: { path: /^$/ } }),
  'values are null or out of order': (life, chance) =>
    life.varies({ nulls: chance.one([0.1, 0.4]), shuffled: chance.happens(0.5) }, { scope: { operation: TELEMETRY } }),
};

/** What happens to the machine. */
export const machineCards: Cards = {
  'the machine sleeps': async (life, chance) => {
    const awake = life.troubled({});
    life.clock.nap(chance.between(1, 8) * HOUR);
    // The program notices within a second.
    await life.passes(2_000);
    return awake;
  },
  'the disk is full': (life) => {
    const room = life.troubled({ path: /^$/ });
    life.disk.fault = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    return () => {
      life.disk.fault = undefined;
      room();
    };
  },
  'the clock is set': (life, chance) => {
    life.act();
    life.clock.step(chance.one([-HOUR, HOUR, 24 * HOUR]));
    return () => {};
  },
};

const KINDS = [TELEMETRY, ACCOUNT, PORTAL, INVENTORY, TOKENS, 'cpu_utilization', 'data'];

/** Lists, and how many requests read one. */
const LISTS = [
  [/\/portal\/serials/, 2],
  [/\/portal\/edges/, 1],
  [/\/portal\/jobs/, 1],
  [/\/portal\/notifications/, 1],
  [/\/portal\/volume_connections/, 1],
] as const;

function together(acts: readonly (() => void)[]): End {
  return () => {
    for (const act of acts) act();
  };
}

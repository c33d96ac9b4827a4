import { seededRandom } from '../../src/runtime/random.ts';
import { type Beginning, HOUR, MINUTE, PORTAL } from '../lives/life.ts';
import type { Story } from '../lives/story.ts';
import { Chance } from './chance.ts';
import {
  accountCards,
  type Cards,
  dataCards,
  type End,
  fleetCards,
  limitCards,
  machineCards,
  refusal,
  worldCards,
} from './deck.ts';

/** A kind of installation: what it begins with, and what may happen to it. */
interface Installation {
  readonly begins: (chance: Chance) => Beginning;
  readonly cards: Cards;
  /** Of the cards, drawn one or two at a time, so many in all. */
  readonly draws: number;
}

const COLLECTORS = 'telemetry,volumes,edges,license,jobs,notifications,volume_telemetry=5m';

const INSTALLATIONS = {
  usual: {
    begins: (chance) => ({
      appliances: chance.between(3, 5),
      gfa: true,
      lookMs: 4 * MINUTE,
      state: chance.happens(0.5),
      series: chance.one([
        ['cpu_utilization', 'load_average'],
        ['cpu_utilization', 'memory_utilization', 'memory_utilization_details'],
      ]),
      environment: {
        PORTAL_COLLECTORS: COLLECTORS,
        PORTAL_DISCOVERY_INTERVAL: chance.one(['5m', '15m', '6h']),
      },
      variations: { delivery: chance.one(['incremental', 'overlapping']) },
    }),
    cards: { ...fleetCards, ...accountCards, ...dataCards, ...machineCards, ...worldCards },
    draws: 10,
  },
  /** Few requests at once: those that hang are in the way of others. */
  large: {
    begins: (chance) => ({
      appliances: chance.between(20, 24),
      lookMs: 4 * MINUTE,
      series: ['cpu_utilization', 'load_average', 'cache_utilization'],
      environment: { PORTAL_CONCURRENCY: '4', PORTAL_DISCOVERY_INTERVAL: chance.one(['15m', '6h']) },
    }),
    cards: fleetCards,
    draws: 3,
  },
  /** The limits that it is told allow an eighth of what is asked for. */
  overloaded: {
    begins: (chance) => ({
      appliances: chance.between(20, 28),
      series: ['cpu_utilization', 'load_average'],
      lookMs: MINUTE,
      environment: { PORTAL_RATE_LIMIT: '6/300s' },
    }),
    cards: {},
    draws: 4,
  },
  /** The limits that it is told are above those that there are, or far above. */
  misled: {
    begins: (chance) => ({
      appliances: chance.between(16, 24),
      lookMs: MINUTE,
      environment: {
        PORTAL_RATE_LIMIT: chance.one(['50/30s', '100000/1s']),
        PORTAL_DAILY_LIMIT: '0',
        PORTAL_INTERVAL: '60s',
      },
    }),
    cards: limitCards,
    draws: 1,
  },
  /** Tokens say that they live for ever, and live for more than a day. */
  quiet: {
    begins: () => ({
      appliances: 2,
      series: ['cpu_utilization'],
      gfa: false,
      lookMs: 30 * MINUTE,
      variations: { expiresIn: Number.MAX_VALUE, tokenLifetimeMs: 30 * HOUR },
    }),
    cards: { 'nothing happens': (life, chance) => life.passes(chance.between(8, 12) * HOUR).then(() => () => {}) },
    draws: 4,
  },
} satisfies Record<string, Installation>;

/** The kinds of installations. */
export const kinds = Object.keys(INSTALLATIONS) as readonly (keyof typeof INSTALLATIONS)[];

/** A life of a kind of installation, drawn by chance. */
export function drawn(kind: keyof typeof INSTALLATIONS, seed: number): Story {
  const chance = new Chance(seededRandom(seed));
  const { begins, cards, draws }: Installation = INSTALLATIONS[kind];
  return {
    name: `a life drawn by chance, ${kind}, seed ${seed}`,
    begins: { ...begins(chance), later: true },
    tells: async (life) => {
      const refused = chance.happens(0.3) ? life.fails({ operation: PORTAL, ...refusal(chance) }) : () => {};
      await life.starts();
      await life.passes(10 * MINUTE);
      refused();
      await life.passes(20 * MINUTE);
      const deck = chance.shuffled(Object.entries(cards));
      for (let drawn = 0; drawn < draws; ) {
        const ends: End[] = [];
        for (const count = drawn + chance.between(1, 2); drawn < count; drawn += 1) {
          const [name, card] = deck[drawn % deck.length] ?? ['nothing', () => () => {}];
          life.judge.tale.push(`${name} at minute ${Math.round(life.clock.monotonic() / MINUTE)}`);
          ends.push(await card(life, chance));
          await life.passes(chance.between(1, 30) * MINUTE);
        }
        for (const end of chance.shuffled(ends)) {
          await end();
          await life.passes(chance.between(1, 10) * MINUTE);
        }
        await life.passes(chance.between(16, 40) * MINUTE);
      }
    },
  };
}

/**
 * Lock and propagation events as a function of time. Each pair of appliance and volume has slots of ten minutes on a
 * grid of its own, and a slot's events depend on its number alone, so every call sees the same history. Unlike the
 * real P2 locks, those of several appliances on one volume may overlap.
 */

import { hash32, type Random } from '../../runtime/random.ts';
import { seededRandom } from '../seeded-random.ts';
import { silentSince } from '../world/reach.ts';
import { draw, MINUTE_MS } from '../world/waveforms.ts';
import type { DemoAppliance, SimulatedFleet, Volume } from '../world/world.ts';

/** One event of a pair; the service receives it some seconds later, at `knownAt`. */
export interface PairEvent {
  readonly at: number;
  readonly knownAt: number;
  readonly appliance: DemoAppliance;
  readonly volume: Volume;
  /** A random number from 0 to 1 of this event, for values that differ by event. */
  readonly luck: number;
}

/** A filer took or released the lock of a volume; only a release has `heldSeconds`. */
export interface LockEvent extends PairEvent {
  readonly state: 'ACQUIRED' | 'RELEASED';
  readonly heldSeconds: number | undefined;
}

/** Data became available at an appliance. */
export interface PropagationEvent extends PairEvent {
  readonly kind: 'data' | 'metadata';
  readonly seconds: number;
}

/** One slot of one pair, and its random numbers. */
interface Slot {
  readonly appliance: DemoAppliance;
  readonly volume: Volume;
  readonly start: number;
  readonly random: Random;
}

const SLOT_MS = 10 * MINUTE_MS;

/** The lock events that the service receives after `from` and not after `to`, in that order. */
export function lockEvents(world: SimulatedFleet, from: number, to: number): readonly LockEvent[] {
  return slotEvents(world, 'lock', from, to, ({ appliance, volume, start, random }) => {
    // Within the first half of the slot, so that the next lock is five to fifteen minutes away.
    const acquiredAt = start + random() * (SLOT_MS / 2);
    const heldSeconds = Math.round(5 + 115 * random() ** 3);
    const releasedAt = acquiredAt + heldSeconds * 1000;
    const luck = random();
    const event = (state: LockEvent['state'], at: number, held: number | undefined): LockEvent => {
      return { appliance, volume, luck, at, knownAt: at + delayMs(random), state, heldSeconds: held };
    };
    return [event('ACQUIRED', acquiredAt, undefined), event('RELEASED', releasedAt, heldSeconds)];
  });
}

/** The propagation events that the service receives after `from` and not after `to`, in that order. */
export function propagationEvents(world: SimulatedFleet, from: number, to: number): readonly PropagationEvent[] {
  const kinds = ['data', 'metadata'] as const;
  return slotEvents(world, 'propagation', from, to, ({ appliance, volume, start, random }) =>
    kinds.flatMap((kind) => {
      if (random() > 0.75) return [];
      const at = start + random() * SLOT_MS;
      const seconds = propagationSeconds(random, kind, volume);
      return { appliance, volume, luck: random(), at, knownAt: at + delayMs(random), kind, seconds };
    }),
  );
}

/** Tens of seconds for metadata up to hours for the data of a slow volume; the long ones are rare. */
function propagationSeconds(random: Random, kind: PropagationEvent['kind'], volume: Volume): number {
  const shortest = kind === 'data' ? 60 : 20;
  const stretch = kind === 'data' ? 60 : 30;
  const slowness = volume.trait === 'slow' ? 4 : 1;
  return Math.round(shortest * slowness * stretch ** (random() ** 2));
}

function delayMs(random: Random): number {
  return 1000 + random() * 19_000;
}

function slotEvents<Event extends PairEvent>(
  world: SimulatedFleet,
  group: string,
  from: number,
  to: number,
  inSlot: (slot: Slot) => readonly Event[],
): readonly Event[] {
  const events: Event[] = [];
  for (const appliance of world.everyAppliance) {
    // An appliance that is off takes no lock and sends nothing.
    const lastAt = Math.min(appliance.leftAt, silentSince(world, appliance));
    if (lastAt <= from - 2 * SLOT_MS) continue;
    for (const volume of world.volumesOf(appliance)) {
      const name = hash32(`${appliance.serial}/${volume.guid}/${group}`);
      const phase = draw(name, 'phase') * SLOT_MS;
      // The previous slot is read too, because the service receives its last events in this one.
      const first = Math.floor((from - phase) / SLOT_MS) - 1;
      const last = Math.floor((to - phase) / SLOT_MS);
      for (let slot = first; slot <= last; slot += 1) {
        const random = seededRandom(hash32(`${name}/${slot}`));
        for (const event of inSlot({ appliance, volume, start: phase + slot * SLOT_MS, random })) {
          if (event.at > appliance.joinedAt && event.at <= lastAt && event.knownAt > from && event.knownAt <= to)
            events.push(event);
        }
      }
    }
  }
  return events.sort((one, other) => one.knownAt - other.knownAt);
}

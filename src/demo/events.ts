/**
 * Lock and propagation events as a function of time. Each pair of an appliance and a volume has slots of ten minutes on a
 * grid of its own, and the events of a slot depend on its number alone, so that every client sees the same events. Unlike
 * real locks, those of several appliances on one volume may overlap.
 */
import type { Random } from '../runtime/random.ts';
import { type Appliance, type Fleet, lastContact, type Volume } from './fleet.ts';
import { draw, draws, MINUTE_MS } from './values.ts';

export type EventGroup = 'locks' | 'propagation';

/** An event of a pair in a slot, as the schedule of the demo has it. */
interface SlotEvent {
  readonly at: number;
  /** The fields that only this kind of event has. */
  readonly fields: Readonly<Record<string, string | number>>;
}

export interface GfaEvent extends SlotEvent {
  readonly appliance: Appliance;
  readonly volume: Volume;
  /** The service learns of an event some seconds later. */
  readonly knownAt: number;
}

const SLOT_MS = 10 * MINUTE_MS;
const MAX_DELAY_MS = 20_000;

/** The events of a group that the service learns after `from` and not after `to`, in this order. */
export function eventsBetween(fleet: Fleet, group: EventGroup, from: number, to: number): readonly GfaEvent[] {
  const events: GfaEvent[] = [];
  for (const appliance of fleet.everyAppliance) {
    // An appliance has events from the first slot after it joined until it leaves or loses contact.
    const endMs = Math.min(appliance.leftAt, lastContact(appliance));
    for (const volume of appliance.volumes) {
      const name = `${appliance.serial}/${volume.guid}`;
      const phaseMs = draw(name, 'phase') * SLOT_MS;
      const first = Math.floor((from - MAX_DELAY_MS - phaseMs) / SLOT_MS);
      const last = Math.floor((to - phaseMs) / SLOT_MS);
      for (let slot = first; slot <= last; slot += 1) {
        const slotMs = phaseMs + slot * SLOT_MS;
        if (slotMs <= appliance.joinedAt) continue;
        const random = draws(name, group, slot);
        for (const happening of group === 'locks' ? locks(slotMs, random) : propagations(slotMs, volume, random)) {
          const knownAt = happening.at + 1000 + random() * (MAX_DELAY_MS - 1000);
          if (knownAt > from && knownAt <= to && happening.at <= endMs) {
            events.push({ ...happening, appliance, volume, knownAt });
          }
        }
      }
    }
  }
  return events.sort((one, other) => one.knownAt - other.knownAt);
}

/** A lock is taken in the first half of the slot and released soon, so that the next one is at least three minutes away. */
function locks(slotMs: number, random: Random): readonly SlotEvent[] {
  const acquiredAt = slotMs + random() * (SLOT_MS / 2);
  const heldSeconds = Math.round(5 + 115 * random() ** 3);
  const acquired = { lock_phase: 'P2', lock_state: 'ACQUIRED' };
  const released = { lock_phase: 'P2', lock_state: 'RELEASED', lock_duration: heldSeconds };
  return [
    { at: acquiredAt, fields: acquired },
    { at: acquiredAt + heldSeconds * 1000, fields: released },
  ];
}

/** Tens of seconds for metadata up to hours for the data of a slow volume; long ones are rare. */
function propagations(slotMs: number, volume: Volume, random: Random): readonly SlotEvent[] {
  const kinds = [
    { kind: 'data', shortest: 60, stretch: 60 },
    { kind: 'metadata', shortest: 20, stretch: 30 },
  ] as const;
  return kinds.flatMap(({ kind, shortest, stretch }): readonly SlotEvent[] => {
    const [chance, part, length, files] = [random(), random(), random(), random()];
    if (chance > 0.75) return [];
    const seconds = Math.round(shortest * (volume.isSlow ? 4 : 1) * stretch ** (length ** 2));
    const fields = { kind, prop_seconds: seconds, data_protected: Math.ceil(5000 * files ** 3) };
    return [{ at: slotMs + part * SLOT_MS, fields }];
  });
}

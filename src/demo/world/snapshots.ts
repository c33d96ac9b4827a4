/**
 * Snapshots of volumes as a function of time. Each volume has slots of three minutes on a grid of its own; in each one
 * of its appliances, in turn, takes a snapshot: a data phase, and after it the metadata phase that makes a new version.
 * A slot depends on its number and on the appliances of that time, so every call sees the same history.
 */
import { hash32 } from '../../runtime/random.ts';
import { seededRandom } from '../seeded-random.ts';
import { silentSince } from './reach.ts';
import { draw, HOUR_MS, MINUTE_MS } from './waveforms.ts';
import type { DemoAppliance, SimulatedFleet, Volume } from './world.ts';

/** A phase from its start to its end, in milliseconds since the Unix epoch. */
export interface Phase {
  readonly startMs: number;
  readonly endMs: number;
}

/** One snapshot of a volume, taken by an appliance. */
export interface DemoSnapshot {
  readonly volume: Volume;
  readonly appliance: DemoAppliance;
  /** One more than the version of the previous snapshot. */
  readonly version: number;
  /** When the appliance received the request for the snapshot. */
  readonly dueMs: number;
  /** Undefined if all files were locked; those are protected in another way. */
  readonly data: Phase | undefined;
  /** A metadata phase that failed and was retried. */
  readonly failed: Phase | undefined;
  readonly metadata: Phase;
  /** A random number from 0 to 1, for values that differ by snapshot. */
  readonly luck: number;
}

const SLOT_MS = 3 * MINUTE_MS;

/** Versions are counted from this long before the start of the mock services. */
const HISTORY_MS = 32 * 24 * HOUR_MS;

/** The snapshots of a volume that were finished after `from` and not after `to`, oldest first. */
export function snapshotsOf(world: SimulatedFleet, volume: Volume, from: number, to: number): readonly DemoSnapshot[] {
  const members = membersOf(world, volume);
  const found: DemoSnapshot[] = [];
  for (let slot = slotAt(volume, from); slot <= slotAt(volume, to); slot += 1) {
    const snapshot = inSlot(world, volume, members, slot);
    if (snapshot !== undefined && snapshot.metadata.endMs > from && snapshot.metadata.endMs <= to) found.push(snapshot);
  }
  return found;
}

/** The snapshots of a volume at one moment. */
export interface SnapshotState {
  /** The newest finished snapshot of each appliance, by serial. */
  readonly finished: ReadonlyMap<string, DemoSnapshot>;
  /** The snapshot of the slot at that moment, finished or not. */
  readonly current: DemoSnapshot | undefined;
}

/** The state of a volume's snapshots at a moment. */
export function snapshotState(world: SimulatedFleet, volume: Volume, now: number): SnapshotState {
  const members = membersOf(world, volume);
  const finished = new Map<string, DemoSnapshot>();
  const newest = slotAt(volume, now);
  // Each appliance has had a slot within as many slots as there are appliances.
  for (let slot = newest; slot >= newest - 2 * members.length; slot -= 1) {
    const snapshot = inSlot(world, volume, members, slot);
    if (snapshot === undefined || snapshot.metadata.endMs > now) continue;
    const { serial } = snapshot.appliance;
    if (!finished.has(serial)) finished.set(serial, snapshot);
  }
  return { finished, current: inSlot(world, volume, members, newest) };
}

/** The appliances that receive a snapshot, and when they have it. */
export function propagationOf(
  world: SimulatedFleet,
  snapshot: DemoSnapshot,
): readonly (readonly [DemoAppliance, number])[] {
  const { volume, version, metadata } = snapshot;
  const slowness = volume.trait === 'slow' ? 4 : 1;
  return membersOf(world, volume)
    .filter((member) => member !== snapshot.appliance && isPresent(world, member, metadata.endMs))
    .map((member) => {
      const chance = draw(volume.guid, version, member.serial, 'sync');
      return [member, metadata.endMs + Math.round(10_000 * slowness * 30 ** (chance ** 2))] as const;
    });
}

function membersOf(world: SimulatedFleet, volume: Volume): readonly DemoAppliance[] {
  return world.everyAppliance.filter(({ volumes }) => volumes.has(volume.guid));
}

/** A silent appliance takes no snapshots and receives none. */
function isPresent(world: SimulatedFleet, appliance: DemoAppliance, at: number): boolean {
  return appliance.joinedAt <= at && at < Math.min(appliance.leftAt, silentSince(world, appliance));
}

function phaseOf(volume: Volume): number {
  return draw(volume.guid, 'snapshots') * SLOT_MS;
}

function slotAt(volume: Volume, at: number): number {
  return Math.floor((at - phaseOf(volume)) / SLOT_MS);
}

function inSlot(
  world: SimulatedFleet,
  volume: Volume,
  members: readonly DemoAppliance[],
  slot: number,
): DemoSnapshot | undefined {
  const slotMs = Math.round(phaseOf(volume) + slot * SLOT_MS);
  const there = members.filter((member) => isPresent(world, member, slotMs));
  const appliance = there[((slot % there.length) + there.length) % there.length];
  if (appliance === undefined) return undefined;
  const random = seededRandom(hash32(`${volume.guid}/${slot}/snapshot`));
  const length = (least: number, most: number) => Math.round(1000 * (least + (most - least) * random()));
  const after = (startMs: number, lengthMs: number): Phase => ({ startMs, endMs: startMs + lengthMs });
  const due = after(slotMs, length(1, 10));
  const hasData = random() > 0.1;
  const data = after(due.endMs, length(15, 60));
  const hasFailure = random() < (volume.trait === 'slow' ? 0.3 : 0.04);
  const attempt = after((hasData ? data : due).endMs + 1000, length(4, 15));
  const metadata = after((hasFailure ? attempt : hasData ? data : due).endMs + 2000, length(5, 20));
  return {
    volume,
    appliance,
    dueMs: slotMs,
    metadata,
    luck: random(),
    version: slot - slotAt(volume, world.startedAt - HISTORY_MS),
    data: hasData ? data : undefined,
    failed: hasFailure ? attempt : undefined,
  };
}

import { busyness } from '../../world/load.ts';
import { silentSince } from '../../world/reach.ts';
import type { DemoSnapshot, SnapshotState } from '../../world/snapshots.ts';
import { draw, MINUTE_MS } from '../../world/waveforms.ts';
import type { DemoAppliance, SimulatedFleet, Volume } from '../../world/world.ts';

/** Bytes of an appliance on a volume that wait for the next snapshot: they grow until one is finished. */
export function unprotectedBytes(
  world: SimulatedFleet,
  appliance: DemoAppliance,
  volume: Volume,
  state: SnapshotState,
  now: number,
): number {
  const last = state.finished.get(appliance.serial);
  // An appliance that is off writes nothing, so what waited then still waits.
  const at = Math.min(now, silentSince(world, appliance));
  const written = last === undefined ? quietSince(world, appliance) : (last.data ?? last.metadata).startMs;
  const since = at < now ? Math.min(written, at - 20 * MINUTE_MS) : written;
  const bytesPerSecond = 3e6 * draw(appliance.serial, volume.guid, 'written') * (volume.trait === 'slow' ? 40 : 1);
  return Math.round(bytesPerSecond * (0.1 + busyness(appliance, at)) * Math.max(0, (at - since) / 1000));
}

/** The status of the snapshot of an appliance on a volume. */
export function snapshotStatus(appliance: DemoAppliance, { current, finished }: SnapshotState, now: number): string {
  if (current?.appliance === appliance && now >= current.dueMs && now < current.metadata.endMs) {
    return statusDuring(current, now);
  }
  const last = finished.get(appliance.serial);
  if (last === undefined) return 'idle';
  if (now < last.metadata.endMs + MINUTE_MS) return 'succeeded';
  return draw(appliance.serial, 'up to date') < 0.5 ? 'up_to_date' : 'idle';
}

function statusDuring({ data, failed, metadata }: DemoSnapshot, now: number): string {
  if (now < (data ?? failed ?? metadata).startMs) return 'pending';
  return failed !== undefined && now >= failed.endMs && now < metadata.startMs ? 'failed' : 'in_progress';
}

/** An appliance without a snapshot has written data since it joined, or since shortly before the start. */
function quietSince(world: SimulatedFleet, { joinedAt }: DemoAppliance): number {
  return Math.max(joinedAt, world.startedAt - 45_000);
}

import type { Scene } from '../../exchange.ts';
import { propagationOf } from '../../world/snapshots.ts';
import type { Volume } from '../../world/world.ts';
import type { Item } from '../item.ts';
import type { RequestedPeriod } from '../period.ts';
import { finished } from './snapshot-records.ts';

/** `snapshot_propagation_by_appliance`: when each appliance had the snapshots of the others. */
export function propagations(
  scene: Scene,
  volume: Volume,
  period: RequestedPeriod,
  requested: ReadonlySet<string>,
): Item {
  const items = finished(scene, volume, period, requested).flatMap((snapshot) => {
    const { appliance, metadata, version } = snapshot;
    const all = propagationOf(scene.world, snapshot);
    const mean = Math.round(all.reduce((sum, [, at]) => sum + at - metadata.endMs, 0) / all.length);
    return all
      .filter(([to, at]) => at <= scene.now && requested.has(to.serial))
      .map(([to, at]) => ({
        snapshot_appliance: appliance.title,
        snapshot_serial_number: appliance.serial,
        snapshot_time: metadata.endMs,
        snapshot_version: version,
        sync_appliance: to.title,
        sync_serial_number: to.serial,
        sync_time: at,
        propagation_duration: at - metadata.endMs,
        average_propagation_duration: mean,
        deviation: at - metadata.endMs - mean,
      }));
  });
  const names = (field: 'snapshot_appliance' | 'sync_appliance') => [...new Set(items.map((one) => one[field]))];
  return { items, snapshot_appliances: names('snapshot_appliance'), sync_appliances: names('sync_appliance') };
}

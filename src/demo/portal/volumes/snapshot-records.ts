import type { Scene } from '../../exchange.ts';
import { type DemoSnapshot, snapshotsOf } from '../../world/snapshots.ts';
import { draw } from '../../world/waveforms.ts';
import type { Volume } from '../../world/world.ts';
import { written } from '../appliances/records.ts';
import { type Item, item, worded } from '../item.ts';
import type { RequestedPeriod } from '../period.ts';

/** The requested appliances, by serial. */
type Requested = ReadonlySet<string>;

/** `snapshot_details`: everything about each finished snapshot. */
export function details(scene: Scene, volume: Volume, period: RequestedPeriod, requested: Requested): Item {
  return { items: finished(scene, volume, period, requested).map((snapshot) => detail(scene, snapshot)) };
}

/** `snapshot_timeline`: the phases of the snapshots, failed ones too. */
export function timeline(scene: Scene, volume: Volume, period: RequestedPeriod, requested: Requested): Item {
  const snapshots = finished(scene, volume, period, requested);
  const data = snapshots.flatMap((snapshot) =>
    snapshot.data === undefined ? [] : [event('data_snapshot', snapshot, snapshot.data)],
  );
  const metadata = snapshots.flatMap((snapshot) => {
    const { failed, version } = snapshot;
    const phase = worded(nameOf(snapshot), 'metadata_snapshot', 'metadata_snapshot_deferred', scene.variations);
    const versioned = (of: Item): Item => ({ ...of, volume_version: version });
    return [
      ...(failed === undefined ? [] : [versioned(event('metadata_snapshot_failed', snapshot, failed))]),
      versioned(event(phase, snapshot, snapshot.metadata)),
    ];
  });
  const starts = snapshots.map((snapshot) => (snapshot.data ?? snapshot.failed ?? snapshot.metadata).startMs);
  return {
    data_events: data,
    metadata_events: metadata,
    appliance_count: new Set(snapshots.map(({ appliance }) => appliance.serial)).size,
    min_time: starts.length === 0 ? period.startMs : Math.min(...starts),
    max_time: snapshots.at(-1)?.metadata.endMs ?? period.endMs,
  };
}

/** The finished snapshots of the requested appliances. */
export function finished(
  { world, now }: Scene,
  volume: Volume,
  period: RequestedPeriod,
  requested: Requested,
): readonly DemoSnapshot[] {
  return snapshotsOf(world, volume, period.startMs, Math.min(now, period.endMs)).filter(({ appliance }) =>
    requested.has(appliance.serial),
  );
}

function detail({ variations }: Scene, snapshot: DemoSnapshot): Item {
  const { volume, metadata, data, version, luck } = snapshot;
  const { lockFree, locked, directories } = counts(snapshot);
  const mean = protectSeconds(snapshot);
  const decimal = (value: number | undefined) => (value === undefined ? null : written(value, variations.decimals));
  return item(
    nameOf(snapshot),
    {
      ...who(snapshot),
      volume: volume.portalId,
      time: metadata.endMs,
      metadata_snapshot_start: metadata.startMs,
      metadata_snapshot_end: metadata.endMs,
      dir_count: directories,
      volume_version: version,
    },
    {
      protect_mean: decimal(mean),
      protect_max: decimal(mean && mean * (1.5 + 3 * luck)),
      data_snapshot_start: data?.startMs ?? null,
      data_snapshot_end: data?.endMs ?? null,
      oud: mean === undefined ? null : Math.round(mean * (1.5 + 3 * luck)),
      file_count_ngl: data === undefined ? null : lockFree,
      file_count_gl: locked,
      file_count_total: locked + (data === undefined ? 0 : lockFree),
    },
    variations,
  );
}

function event(phase: string, snapshot: DemoSnapshot, { startMs, endMs }: { startMs: number; endMs: number }): Item {
  return { phase, ...who(snapshot), start_time: startMs, end_time: endMs };
}

function who({ appliance }: DemoSnapshot): Item {
  return { appliance: appliance.title, serial_number: appliance.serial };
}

function nameOf({ volume, version }: DemoSnapshot): string {
  return `${volume.guid}/${version}`;
}

/** Undefined for a snapshot that has only locked files. */
function protectSeconds({ volume, data, luck }: DemoSnapshot): number | undefined {
  if (data === undefined) return undefined;
  return (volume.trait === 'slow' ? 9_000 : 240) * (0.5 + 1.5 * luck);
}

function counts({ volume, version, luck }: DemoSnapshot) {
  const files = Math.round(20 + 4_000 * luck ** 3);
  return {
    lockFree: files,
    locked: Math.round(200 * draw(volume.guid, version, 'locked') ** 2),
    directories: Math.ceil(files / 12),
  };
}

import type { Family, Table } from '../../../metrics/family.ts';
import {
  duration,
  durationMilliseconds,
  epochMilliseconds,
  milliseconds,
  plain,
  records,
  seconds,
} from '../../../metrics/units.ts';
import { volumeApplianceLabels } from './connections-table.ts';

/** Each phase by the field that says when it ended; how long it took is that less its start. */
const phases = { data_snapshot_end: { phase: 'data' }, metadata_snapshot_end: { phase: 'metadata' } } as const;

/** What the newest snapshot of a volume by an appliance yields (`snapshot_details`). */
export const latestSnapshotTable = [
  {
    name: 'filer_snapshot_latest_timestamp_seconds',
    help: 'When the newest snapshot of the volume by the appliance ended.',
    from: epochMilliseconds,
    fields: { time: {} },
  },
  {
    name: 'filer_snapshot_latest_version',
    help: 'Number of the newest snapshot; it rises by one with each snapshot of the volume.',
    from: plain,
    fields: { volume_version: {} },
  },
  {
    name: 'filer_snapshot_latest_time_to_protect_seconds',
    help: 'How long the data of the newest snapshot had waited for it: mean and maximum. Globally locked files are left out.',
    from: seconds,
    fields: { protect_mean: { statistic: 'mean' }, protect_max: { statistic: 'max' } },
    optional: true,
  },
  {
    name: 'filer_snapshot_latest_phase_duration_seconds',
    help: 'How long the newest snapshot took, by phase: data and metadata. No data phase: globally locked files only.',
    from: seconds,
    fields: phases,
    optional: true,
  },
  {
    name: 'filer_snapshot_latest_oldest_unprotected_data_age_seconds',
    help: 'Age of the oldest data that was not in cloud storage when the newest snapshot ended.',
    from: seconds,
    fields: { oud: {} },
    optional: true,
  },
  {
    name: 'filer_snapshot_latest_files',
    help: 'Files in the newest snapshot, by locking: under global locking, or under none.',
    from: plain,
    fields: { file_count_gl: { locking: 'global' }, file_count_ngl: { locking: 'none' } },
    optional: true,
  },
  {
    name: 'filer_snapshot_latest_directories',
    help: 'Directories in the newest snapshot.',
    from: plain,
    fields: { dir_count: {} },
  },
] as const satisfies readonly Family[];

/** Every finished snapshot, once. */
export const snapshotsTotal = {
  name: 'filer_snapshots_total',
  help: 'Snapshots of the volume that the appliance finished since the exporter started.',
  type: 'counter',
  from: records,
  fields: { volume_version: {} },
} as const satisfies Family;

/** The time to protect of every finished snapshot, once. */
export const timeToProtect = {
  name: 'filer_snapshot_time_to_protect_seconds',
  help: 'Mean time to protect of each snapshot finished since the exporter started.',
  type: 'histogram',
  from: duration,
  fields: { protect_mean: {} },
  optional: true,
} as const satisfies Family;

/** The phases of every finished snapshot, once. */
export const phaseDuration = {
  name: 'filer_snapshot_phase_duration_seconds',
  help: 'How long each snapshot finished since the exporter started took, by phase.',
  type: 'histogram',
  from: duration,
  fields: phases,
  optional: true,
} as const satisfies Family;

/** The files of every finished snapshot, once. */
export const snapshotFiles = {
  name: 'filer_snapshot_files_total',
  help: 'Files in the snapshots finished since the exporter started, by locking.',
  type: 'counter',
  from: plain,
  fields: { file_count_gl: { locking: 'global' }, file_count_ngl: { locking: 'none' } },
  optional: true,
} as const satisfies Family;

/** Every metadata snapshot that failed, once. */
export const metadataFailures = {
  name: 'filer_snapshot_metadata_failures_total',
  help: 'Metadata snapshots of the volume that failed on the appliance since the exporter started.',
  type: 'counter',
  from: records,
  fields: { metadata_events: {} },
} as const satisfies Family;

/** The newest failure, which may be from before the exporter started. */
export const latestMetadataFailure = {
  name: 'filer_snapshot_latest_metadata_failure_timestamp_seconds',
  help: 'When a metadata snapshot of the volume last failed on the appliance.',
  from: epochMilliseconds,
  fields: { end_time: {} },
} as const satisfies Family;

/** What the newest snapshot that reached an appliance yields (`snapshot_propagation_by_appliance`). */
export const latestPropagationTable = [
  {
    name: 'filer_snapshot_latest_propagation_seconds',
    help: 'How long the newest snapshot of the volume that reached this appliance was on its way.',
    from: milliseconds,
    fields: { propagation_duration: {} },
  },
  {
    name: 'filer_snapshot_latest_propagation_deviation_seconds',
    help: 'How much longer than the mean of all appliances it was on its way; below zero when shorter.',
    from: milliseconds,
    fields: { deviation: {} },
  },
] as const satisfies readonly Family[];

/** Every snapshot that reached an appliance, once. */
export const propagation = {
  name: 'filer_snapshot_propagation_seconds',
  help: 'How long each snapshot was on its way to this appliance, since the exporter started.',
  type: 'histogram',
  from: durationMilliseconds,
  fields: { propagation_duration: {} },
} as const satisfies Family;

/** What the collector `volume_telemetry` exports. */
export const snapshotTables: readonly Table[] = [
  {
    source: 'snapshot_details',
    subject: volumeApplianceLabels,
    families: [...latestSnapshotTable, snapshotsTotal, timeToProtect, phaseDuration, snapshotFiles],
  },
  {
    source: 'snapshot_timeline',
    subject: volumeApplianceLabels,
    families: [metadataFailures, latestMetadataFailure],
  },
  {
    source: 'snapshot_propagation_by_appliance',
    subject: volumeApplianceLabels,
    families: [...latestPropagationTable, propagation],
  },
];

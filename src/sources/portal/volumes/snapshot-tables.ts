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

/** Each phase by the field with its end; the duration is that time less the start. */
const phases = { data_snapshot_end: { phase: 'data' }, metadata_snapshot_end: { phase: 'metadata' } } as const;

/** The newest snapshot of a volume by an appliance (`snapshot_details`). */
export const latestSnapshotTable = [
  {
    name: 'filer_snapshot_latest_timestamp_seconds',
    help: 'End time of the newest snapshot of the volume by the appliance.',
    from: epochMilliseconds,
    fields: { time: {} },
  },
  {
    name: 'filer_snapshot_latest_version',
    help: 'Version of the newest snapshot; it increases by one with each snapshot of the volume.',
    from: plain,
    fields: { volume_version: {} },
  },
  {
    name: 'filer_snapshot_latest_time_to_protect_seconds',
    help: 'Time that the data of the newest snapshot had waited for it: mean and maximum, without globally locked files.',
    from: seconds,
    fields: { protect_mean: { statistic: 'mean' }, protect_max: { statistic: 'max' } },
    optional: true,
  },
  {
    name: 'filer_snapshot_latest_phase_duration_seconds',
    help: 'Duration of the newest snapshot, by phase: data and metadata. A snapshot with only globally locked files has no data phase.',
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
    help: 'Files in the newest snapshot, by locking: with or without global locking.',
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

/** Counts every finished snapshot once. */
export const snapshotsTotal = {
  name: 'filer_snapshots_total',
  help: 'Snapshots of the volume by the appliance finished since the exporter started.',
  type: 'counter',
  from: records,
  fields: { volume_version: {} },
} as const satisfies Family;

/** Counts the time to protect of every finished snapshot once. */
export const timeToProtect = {
  name: 'filer_snapshot_time_to_protect_seconds',
  help: 'Mean time to protect of each snapshot finished since the exporter started.',
  type: 'histogram',
  from: duration,
  fields: { protect_mean: {} },
  optional: true,
} as const satisfies Family;

/** Counts the phases of every finished snapshot once. */
export const phaseDuration = {
  name: 'filer_snapshot_phase_duration_seconds',
  help: 'Duration of each snapshot finished since the exporter started, by phase.',
  type: 'histogram',
  from: duration,
  fields: phases,
  optional: true,
} as const satisfies Family;

/** Counts the files of every finished snapshot once. */
export const snapshotFiles = {
  name: 'filer_snapshot_files_total',
  help: 'Files in the snapshots finished since the exporter started, by locking.',
  type: 'counter',
  from: plain,
  fields: { file_count_gl: { locking: 'global' }, file_count_ngl: { locking: 'none' } },
  optional: true,
} as const satisfies Family;

/** Counts every failed metadata snapshot once. */
export const metadataFailures = {
  name: 'filer_snapshot_metadata_failures_total',
  help: 'Failed metadata snapshots of the volume on the appliance since the exporter started.',
  type: 'counter',
  from: records,
  fields: { metadata_events: {} },
} as const satisfies Family;

/** The newest failure, which may be from before the exporter started. */
export const latestMetadataFailure = {
  name: 'filer_snapshot_latest_metadata_failure_timestamp_seconds',
  help: 'Time of the last failed metadata snapshot of the volume on the appliance.',
  from: epochMilliseconds,
  fields: { end_time: {} },
} as const satisfies Family;

/** The newest snapshot that reached an appliance (`snapshot_propagation_by_appliance`). */
export const latestPropagationTable = [
  {
    name: 'filer_snapshot_latest_propagation_seconds',
    help: 'Propagation time of the newest snapshot of the volume that reached this appliance.',
    from: milliseconds,
    fields: { propagation_duration: {} },
  },
  {
    name: 'filer_snapshot_latest_propagation_deviation_seconds',
    help: 'Propagation time of that snapshot less the mean of all appliances; negative if shorter.',
    from: milliseconds,
    fields: { deviation: {} },
  },
] as const satisfies readonly Family[];

/** Counts every snapshot that reached an appliance once. */
export const propagation = {
  name: 'filer_snapshot_propagation_seconds',
  help: 'Propagation times of all snapshots that reached this appliance since the exporter started.',
  type: 'histogram',
  from: durationMilliseconds,
  fields: { propagation_duration: {} },
} as const satisfies Family;

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

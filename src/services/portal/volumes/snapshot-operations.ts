import type { Family, JsonObject, Labels } from '../../../metrics/family.ts';
import { labelValue } from '../../../metrics/samples.ts';
import {
  epochMilliseconds,
  nonNegativeSeconds,
  parseDecimal,
  recordOne,
  seconds,
  unitless,
} from '../../../metrics/units.ts';

/** Each phase by the field with its end, which {@link withDurations} replaces with the duration. */
const phases = { data_snapshot_end: { phase: 'data' }, metadata_snapshot_end: { phase: 'metadata' } } as const;

const detailFamilies = [
  {
    name: 'filer_snapshot_latest_timestamp_seconds',
    help: 'End time of the newest snapshot of the volume by the appliance.',
    from: epochMilliseconds,
    fields: { time: {} },
  },
  {
    name: 'filer_snapshot_latest_version',
    help: 'Version of the newest snapshot; it increases by one with each snapshot of the volume.',
    from: unitless,
    fields: { volume_version: {} },
  },
  {
    name: 'filer_snapshot_latest_time_to_protect_mean_seconds',
    help: 'Mean time from a change of data until the newest snapshot protected it, without globally locked files.',
    from: seconds,
    fields: { protect_mean: {} },
  },
  {
    name: 'filer_snapshot_latest_time_to_protect_max_seconds',
    help: 'Longest time from a change of data until the newest snapshot protected it, without globally locked files.',
    from: seconds,
    fields: { protect_max: {} },
  },
  {
    name: 'filer_snapshot_latest_phase_duration_seconds',
    help: 'Duration of the newest snapshot by phase: data, which is missing if all its files are globally locked, and metadata.',
    from: seconds,
    fields: phases,
  },
  {
    name: 'filer_snapshot_latest_oldest_unprotected_data_age_seconds',
    help: 'Age of the oldest data that was not in cloud storage when the newest snapshot ended.',
    from: seconds,
    fields: { oud: {} },
  },
  {
    name: 'filer_snapshot_latest_files',
    help: 'Files in the newest snapshot, by locking: with or without global locking.',
    from: unitless,
    fields: { file_count_gl: { locking: 'global' }, file_count_ngl: { locking: 'none' } },
  },
  {
    name: 'filer_snapshot_latest_directories',
    help: 'Directories in the newest snapshot.',
    from: unitless,
    fields: { dir_count: {} },
  },
] as const satisfies readonly Family[];

const snapshotsTotal = {
  name: 'filer_snapshots_total',
  help: 'Snapshots of the volume by the appliance finished since the exporter started.',
  type: 'counter',
  from: recordOne,
  fields: { volume_version: {} },
} as const satisfies Family;

const phaseDuration = {
  name: 'filer_snapshot_phase_duration_seconds',
  help: 'Duration of each snapshot finished since the exporter started, by phase.',
  type: 'histogram',
  from: nonNegativeSeconds,
  fields: phases,
} as const satisfies Family;

const metadataFailures = {
  name: 'filer_snapshot_metadata_failures_total',
  help: 'Failed metadata snapshots of the volume on the appliance since the exporter started.',
  type: 'counter',
  from: recordOne,
  fields: { metadata_events: {} },
} as const satisfies Family;

const latestMetadataFailure = {
  name: 'filer_snapshot_latest_metadata_failure_timestamp_seconds',
  help: 'Time of the last failed metadata snapshot of the volume on the appliance.',
  from: epochMilliseconds,
  fields: { end_time: {} },
} as const satisfies Family;

const propagationFamilies = [
  {
    name: 'filer_snapshot_reached_version',
    help: 'Version of the newest snapshot of the volume that reached this appliance; compare it with filer_snapshot_latest_version.',
    from: unitless,
    fields: { snapshot_version: {} },
  },
  {
    name: 'filer_snapshot_reached_timestamp_seconds',
    help: 'Time at which the newest snapshot of the volume reached this appliance.',
    from: epochMilliseconds,
    fields: { sync_time: {} },
  },
] as const satisfies readonly Family[];

/** Follows from the versions of all appliances. */
export const versionsBehind = {
  name: 'filer_snapshot_versions_behind',
  help: 'Snapshots of the volume, by any appliance, that this appliance neither made nor received.',
  from: unitless,
  fields: {},
} as const satisfies Family;

export interface SnapshotOperation {
  /** The path segment of the operation, which is the label `operation`. */
  readonly segment: string;
  /** Gauges of the newest snapshot of each appliance. */
  readonly newest: readonly Family[];
  /** Counts the snapshots. It exists from an appliance's first record on. */
  readonly total?: Family;
  /** A histogram of durations, by field. It exists from the first value on. */
  readonly durations?: Family & { readonly fields: Readonly<Record<string, Labels>> };
  /** The field of the response with the records; default `items`, which may be missing if there are none. */
  readonly list?: string;
  /** The fields with the appliance's serial, the snapshot's version, and its end in epoch milliseconds. */
  readonly fields: { readonly serial: string; readonly version: string; readonly end: string };
  /** Whether each of several attempts at one version counts. */
  readonly hasAttempts?: true;
  /** Returns the record with the fields that the families read; undefined if it is about no snapshot. */
  readonly prepare?: (record: JsonObject) => JsonObject | undefined;
}

export const snapshotDetails: SnapshotOperation = {
  segment: 'snapshot_details',
  newest: detailFamilies,
  total: snapshotsTotal,
  durations: phaseDuration,
  fields: { serial: 'serial_number', version: 'volume_version', end: 'time' },
  prepare: withDurations,
};

const snapshotTimeline: SnapshotOperation = {
  segment: 'snapshot_timeline',
  newest: [latestMetadataFailure],
  total: metadataFailures,
  list: 'metadata_events',
  fields: { serial: 'serial_number', version: 'volume_version', end: 'end_time' },
  hasAttempts: true,
  prepare: (record) => (labelValue(record.phase) === 'metadata_snapshot_failed' ? record : undefined),
};

export const snapshotPropagation: SnapshotOperation = {
  segment: 'snapshot_propagation_by_appliance',
  newest: propagationFamilies,
  fields: { serial: 'sync_serial_number', version: 'snapshot_version', end: 'sync_time' },
};

export const snapshotOperations = [snapshotDetails, snapshotTimeline, snapshotPropagation] as const;

/** The record with each phase's duration in seconds in place of its end; undefined for a phase without both times. */
function withDurations(record: JsonObject): JsonObject {
  const durationOf = (phase: string) => {
    const [start, end] = [
      parseDecimal(record[`${phase}_snapshot_start`]),
      parseDecimal(record[`${phase}_snapshot_end`]),
    ];
    return start === undefined || end === undefined || end < start ? undefined : (end - start) / 1000;
  };
  return { ...record, data_snapshot_end: durationOf('data'), metadata_snapshot_end: durationOf('metadata') };
}

import type { Family } from '../../metrics/family.ts';
import { date, duration, listLength, plain, presence, seconds, secondsBefore, state } from '../../metrics/units.ts';

/** The labels of a filer. */
export const filerLabels = ['filer_guid', 'filer'] as const;

/** The labels of a filer on a volume. An event without a volume has empty volume labels. */
export const pairLabels = ['filer_guid', 'filer', 'volume_guid', 'volume'] as const;

/** The labels of a volume. */
export const volumeLabels = ['volume_guid', 'volume'] as const;

/** The four groups of `metrics` in an answer of `GET /data`, in the service's own spelling. */
export const GROUPS = ['filers', 'volumes', 'locks', 'propagation'] as const;

/** One of {@link GROUPS}. */
export type Group = (typeof GROUPS)[number];

/** Words seen in these fields (upstream-api.md 2.2); others exist or may come. */
const MODE = { field: 'mode', known: ['Active', 'Observation', 'Disabled'] } as const;
const PROFILE = {
  field: 'profile',
  known: ['data-protect-only', 'data-protect-moderate', 'default', 'collaboration-moderate', 'collaboration-only'],
} as const;
const LOCK_PHASE = { field: 'lock_phase', known: ['P1', 'P2'] } as const;
const LOCK_STATE = { field: 'lock_state', known: ['ACQUIRED', 'RELEASED'] } as const;

/** What `info` of an answer yields; no labels but those of the row. */
export const infoTable = [
  {
    name: 'filer_account_info',
    help: 'Always 1: the account that the file acceleration key belongs to.',
    from: presence,
    fields: { account: {} },
    labelsFrom: { account: 'account' },
  },
  {
    name: 'filer_gfa_volumes',
    help: 'Volumes of the account with file acceleration.',
    from: listLength,
    fields: { volumes: {} },
  },
  {
    name: 'filer_gfa_last_info_timestamp_seconds',
    help: 'Newest filer or volume record known to the service.',
    from: date,
    fields: { last_info: {} },
  },
  {
    name: 'filer_gfa_last_lock_event_timestamp_seconds',
    help: 'Newest lock event known to the service.',
    from: date,
    fields: { last_lock_event: {} },
  },
  {
    name: 'filer_gfa_last_propagation_timestamp_seconds',
    help: 'Newest propagation event known to the service.',
    from: date,
    fields: { last_propagation: {} },
  },
  {
    name: 'filer_gfa_request_timestamp_seconds',
    help: 'When the service handled the latest poll, by its own clock.',
    from: date,
    fields: { request_time: {} },
  },
] as const satisfies readonly Family[];

/** What a record of the group `volumes` yields. */
export const volumeTable = [
  {
    name: 'filer_volume_time_to_protect_seconds',
    help: 'Time until a volume’s data is protected in cloud storage; read as seconds, the service names no unit.',
    from: seconds,
    fields: { time_to_protect: {} },
  },
  {
    name: 'filer_volume_info',
    help: 'Always 1: mode and profile of file acceleration for the volume.',
    from: presence,
    fields: { volume_guid: {} },
    wordsFrom: { mode: MODE, profile: PROFILE },
  },
] as const satisfies readonly Family[];

/** What a record of the group `filers` yields that is about the filer alone. */
export const filerTable = [
  {
    name: 'filer_last_checkin_timestamp_seconds',
    help: 'When the filer last contacted the service.',
    from: secondsBefore('timestamp'),
    fields: { last_checkin: {} },
  },
] as const satisfies readonly Family[];

/** What a record of the group `filers` yields that is about the filer on a volume. */
export const filerOnVolumeTable = [
  {
    name: 'filer_volume_last_checkin_timestamp_seconds',
    help: 'When the filer was last active on the volume.',
    from: secondsBefore('timestamp'),
    fields: { last_checkin: {} },
  },
  {
    name: 'filer_oldest_unprotected_data_timestamp_seconds',
    help: 'Time of the oldest data that is not yet in cloud storage; missing while nothing waits.',
    from: secondsBefore('timestamp'),
    fields: { oldest_unprotected_data: {} },
    optional: true,
  },
] as const satisfies readonly Family[];

/** The gauge of the newest propagation event of each kind. */
export const propagationLatest = {
  name: 'filer_propagation_latest_seconds',
  help: 'Propagation time of the newest event, by kind.',
  from: duration,
  fields: { prop_seconds: {} },
  wordsFrom: { kind: { field: 'kind' } },
} as const satisfies Family;

/** Every propagation event, once. */
export const propagationDuration = {
  name: 'filer_propagation_duration_seconds',
  help: 'Propagation times of all events since the exporter first saw the filer and volume.',
  type: 'histogram',
  from: duration,
  fields: { prop_seconds: {} },
  wordsFrom: { kind: { field: 'kind' } },
} as const satisfies Family;

/** The undocumented count of file system events that a propagation covers (upstream-api.md 2.2). */
export const dataProtected = {
  name: 'filer_data_protected_events_total',
  help: 'File system events covered by the propagation events seen, where the service tells.',
  type: 'counter',
  from: plain,
  fields: { data_protected: {} },
  wordsFrom: { kind: { field: 'kind' } },
  optional: true,
} as const satisfies Family;

/** The gauge of the newest lock event that tells how long the lock was held. */
export const lockLatest = {
  name: 'filer_lock_latest_duration_seconds',
  help: 'How long the lock was held, by the newest event that tells.',
  from: duration,
  fields: { lock_duration: {} },
  wordsFrom: { lock_phase: LOCK_PHASE, lock_state: LOCK_STATE },
  optional: true,
} as const satisfies Family;

/** When the newest lock event of each state happened: how long a lock is held by now, and since when none was given back. */
export const lockTimestamp = {
  name: 'filer_lock_latest_timestamp_seconds',
  help: 'Time of the newest lock event, by phase and state.',
  from: date,
  fields: { timestamp: {} },
  wordsFrom: { lock_phase: LOCK_PHASE, lock_state: LOCK_STATE },
} as const satisfies Family;

/** Every lock event that tells how long the lock was held, once. */
export const lockDuration = {
  name: 'filer_lock_duration_seconds',
  help: 'How long the lock was held, over all events since the exporter first saw the filer and volume.',
  type: 'histogram',
  from: duration,
  fields: { lock_duration: {} },
  wordsFrom: { lock_phase: LOCK_PHASE },
  optional: true,
} as const satisfies Family;

/** Every lock event, once. */
export const lockEvents = {
  name: 'filer_lock_events_total',
  help: 'Lock events since the exporter first saw the filer and volume.',
  type: 'counter',
  from: state,
  fields: { lock_state: {} },
  wordsFrom: { lock_phase: LOCK_PHASE, lock_state: LOCK_STATE },
} as const satisfies Family;

/** The state that the newest lock event of a phase left behind. */
export const lockState = {
  name: 'filer_lock_state',
  help: 'Always 1: what the newest lock event of the phase says; exactly one state for each phase.',
  from: state,
  fields: { lock_state: {} },
  wordsFrom: { lock_phase: LOCK_PHASE, lock_state: LOCK_STATE },
} as const satisfies Family;

/** The newest record of each group, by the record's own clock. */
export const recordTimestamp = {
  name: 'filer_record_timestamp_seconds',
  help: 'Time of the newest record seen, by group.',
  from: date,
  fields: { timestamp: {} },
} as const satisfies Family;

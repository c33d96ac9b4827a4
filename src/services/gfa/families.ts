import { type Family, fieldNames } from '../../metrics/family.ts';
import {
  date,
  infoOne,
  listLength,
  nonNegativeSeconds,
  seconds,
  secondsBefore,
  state,
  unitless,
} from '../../metrics/units.ts';

export const filerLabels = ['filer_guid', 'filer'] as const;

/** The labels of a filer on a volume. The volume labels are empty for an event without a volume. */
export const pairLabels = ['filer_guid', 'filer', 'volume_guid', 'volume'] as const;

export const volumeLabels = ['volume_guid', 'volume'] as const;

export const GROUPS = ['filers', 'volumes', 'locks', 'propagation'] as const;

export type Group = (typeof GROUPS)[number];

/** The groups whose records are events. Those of the others are states. */
export type EventGroup = 'locks' | 'propagation';

export type StateGroup = Exclude<Group, EventGroup>;

/** The documented values of these fields. The service may send others. */
const MODE = { field: 'mode', documentedValues: ['Active', 'Observation', 'Disabled'] } as const;
const PROFILE = {
  field: 'profile',
  documentedValues: [
    'data-protect-only',
    'data-protect-moderate',
    'default',
    'collaboration-moderate',
    'collaboration-only',
  ],
} as const;
const LOCK_PHASE = { field: 'lock_phase', documentedValues: ['P1', 'P2'] } as const;
const LOCK_STATE = { field: 'lock_state', documentedValues: ['ACQUIRED', 'RELEASED'] } as const;

export const infoTable = [
  {
    name: 'filer_account_info',
    help: 'Always 1: the account that the file acceleration key belongs to.',
    from: infoOne,
    fields: { account: {} },
    fieldLabels: { account: 'account' },
  },
  {
    name: 'filer_gfa_volumes',
    help: 'Volumes of the account with file acceleration.',
    from: listLength,
    fields: { volumes: {} },
  },
  {
    name: 'filer_gfa_last_info_timestamp_seconds',
    help: 'Time of the newest filer or volume record known to the service.',
    from: date,
    fields: { last_info: {} },
  },
  {
    name: 'filer_gfa_last_lock_event_timestamp_seconds',
    help: 'Time of the newest lock event known to the service.',
    from: date,
    fields: { last_lock_event: {} },
  },
  {
    name: 'filer_gfa_last_propagation_timestamp_seconds',
    help: 'Time of the newest propagation event known to the service.',
    from: date,
    fields: { last_propagation: {} },
  },
  {
    name: 'filer_gfa_request_timestamp_seconds',
    help: 'Time of the latest poll, by the clock of the service.',
    from: date,
    fields: { request_time: {} },
  },
] as const satisfies readonly Family[];

export const volumeTable = [
  {
    name: 'filer_volume_time_to_protect_seconds',
    help: 'Time until a volume’s data is protected in cloud storage, read as seconds because the service documents no unit.',
    from: seconds,
    fields: { time_to_protect: {} },
  },
  {
    name: 'filer_volume_info',
    help: 'Always 1: mode and profile of file acceleration for the volume.',
    from: infoOne,
    fields: { volume_guid: {} },
    enumLabels: { mode: MODE, profile: PROFILE },
  },
] as const satisfies readonly Family[];

export const lastCheckin = {
  name: 'filer_last_checkin_timestamp_seconds',
  help: 'Time of the last contact of the filer with the service: the newest of its own record and its records on volumes.',
  from: secondsBefore('timestamp'),
  fields: { last_checkin: {} },
} as const satisfies Family;

/** The families of a record of the group `filers` without a volume. */
export const filerTable = [lastCheckin] as const;

/** The families of a record of the group `filers` with a volume. */
export const filerOnVolumeTable = [
  {
    name: 'filer_volume_last_checkin_timestamp_seconds',
    help: 'Time when the filer was last active on the volume.',
    from: secondsBefore('timestamp'),
    fields: { last_checkin: {} },
  },
  {
    name: 'filer_oldest_unprotected_data_timestamp_seconds',
    help: 'Time of the oldest data that is not yet in cloud storage; missing while nothing waits.',
    from: secondsBefore('timestamp'),
    fields: { oldest_unprotected_data: {} },
  },
] as const satisfies readonly Family[];

export const propagationLatest = {
  name: 'filer_propagation_latest_seconds',
  help: 'Propagation time of the newest event, by kind.',
  from: nonNegativeSeconds,
  fields: { prop_seconds: {} },
  enumLabels: { kind: { field: 'kind' } },
} as const satisfies Family;

export const propagationDuration = {
  name: 'filer_propagation_duration_seconds',
  help: 'Propagation times of all events that were counted since the exporter started.',
  type: 'histogram',
  from: nonNegativeSeconds,
  fields: { prop_seconds: {} },
  enumLabels: { kind: { field: 'kind' } },
} as const satisfies Family;

/** The number of file system events that a propagation covers, in an undocumented field. */
export const dataProtected = {
  name: 'filer_data_protected_events_total',
  help: 'File system events covered by the counted propagation events, if the service sends their number.',
  type: 'counter',
  from: unitless,
  fields: { data_protected: {} },
  enumLabels: { kind: { field: 'kind' } },
} as const satisfies Family;

export const lockLatest = {
  name: 'filer_lock_latest_duration_seconds',
  help: 'How long the lock was held, from the newest event with a duration.',
  from: nonNegativeSeconds,
  fields: { lock_duration: {} },
  enumLabels: { lock_phase: LOCK_PHASE, lock_state: LOCK_STATE },
} as const satisfies Family;

export const lockTimestamp = {
  name: 'filer_lock_latest_timestamp_seconds',
  help: 'Time of the newest lock event, by phase and state.',
  from: date,
  fields: { timestamp: {} },
  enumLabels: { lock_phase: LOCK_PHASE, lock_state: LOCK_STATE },
} as const satisfies Family;

export const lockDuration = {
  name: 'filer_lock_duration_seconds',
  help: 'How long the lock was held, over all events that were counted since the exporter started.',
  type: 'histogram',
  from: nonNegativeSeconds,
  fields: { lock_duration: {} },
  enumLabels: { lock_phase: LOCK_PHASE },
} as const satisfies Family;

export const lockEvents = {
  name: 'filer_lock_events_total',
  help: 'Lock events that were counted since the exporter started.',
  type: 'counter',
  from: state,
  fields: { lock_state: {} },
  enumLabels: { lock_phase: LOCK_PHASE, lock_state: LOCK_STATE },
} as const satisfies Family;

export const lockState = {
  name: 'filer_lock_state',
  help: 'Always 1: the state in the newest lock event of the phase; exactly one state for each phase.',
  from: state,
  fields: { lock_state: {} },
  enumLabels: { lock_phase: LOCK_PHASE, lock_state: LOCK_STATE },
} as const satisfies Family;

export const recordTimestamp = {
  name: 'filer_record_timestamp_seconds',
  help: 'Time of the newest record received, by group.',
  from: date,
  fields: { timestamp: {} },
} as const satisfies Family;

export const propagationTable = [propagationLatest, propagationDuration, dataProtected] as const;

export const lockTable = [lockLatest, lockTimestamp, lockDuration, lockEvents, lockState] as const;

const stateFamilies: readonly Family[] = [...volumeTable, ...filerTable, ...filerOnVolumeTable];

/** Every field of a state that a family reads. Other fields are neither kept nor saved. */
export const STATE_FIELDS: readonly string[] = [
  ...new Set(['timestamp', MODE.field, PROFILE.field, ...stateFamilies.flatMap(fieldNames)]),
];

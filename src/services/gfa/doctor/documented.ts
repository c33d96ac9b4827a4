import { type DocumentedFields, oneOf } from '../../../doctor/schema.ts';
import { isJsonObject } from '../../../metrics/family.ts';
import { LOCK_PHASE, LOCK_STATE, MODE, PROFILE } from '../families.ts';

const RECORD = { metric_type: 'text', timestamp: 'date', version: 'integer' } as const;
const FILER = { filer_guid: 'uuid', filer_title: 'text' } as const;
const VOLUME = { volume_guid: 'uuid', volume_title: 'text' } as const;
const MODES = oneOf(...MODE.documentedValues);
const PROFILES = oneOf('', ...PROFILE.documentedValues);

const metrics: DocumentedFields = {
  volumes: [{ ...RECORD, ...VOLUME, mode: MODES, profile: PROFILES, time_to_protect: 'integer' }],
  filers: [{ ...RECORD, ...FILER, ...VOLUME, last_checkin: 'integer', oldest_unprotected_data: 'integer' }],
  propagation: [{ ...RECORD, ...FILER, ...VOLUME, kind: 'text', prop_seconds: 'integer', data_protected: 'integer' }],
  locks: [
    {
      ...RECORD,
      ...FILER,
      ...VOLUME,
      lock_duration: 'integer',
      lock_state: oneOf(...LOCK_STATE.documentedValues),
      lock_phase: oneOf(...LOCK_PHASE.documentedValues),
    },
  ],
};

const response: DocumentedFields = {
  version: 'integer',
  flags: 'any',
  info: {
    account: 'uuid',
    volumes: ['uuid'],
    request_time: 'date',
    last_info: 'date',
    last_lock_event: 'date',
    last_propagation: 'date',
  },
  metrics: [metrics],
};

/** The documented fields of `GET /data`. If `metrics` of the body is an object, it is compared as an object. */
export function documentedData(body: unknown): DocumentedFields {
  return isJsonObject(body) && isJsonObject(body.metrics) ? { ...response, metrics } : response;
}

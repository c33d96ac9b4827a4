import { date, isNull, recordOne } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../collector-definition.ts';

/** A key is a secret, so none becomes a label. */
export const gfaKeys: CollectorDefinition = {
  name: 'gfa_keys',
  intervalMs: 3_600_000,
  reads: [
    {
      path: '/gfa/api_keys',
      rows: {
        counts: [
          {
            name: 'filer_gfa_api_keys',
            help: 'File acceleration keys of the account.',
            from: recordOne,
            fields: { items: {} },
          },
          {
            name: 'filer_gfa_api_keys_unused',
            help: 'File acceleration keys that have never been used.',
            from: isNull,
            fields: { last_used: {} },
          },
        ],
        least: [
          {
            name: 'filer_gfa_api_key_oldest_created_timestamp_seconds',
            help: 'Creation time of the oldest file acceleration key.',
            from: date,
            fields: { created: {} },
          },
        ],
        greatest: [
          {
            name: 'filer_gfa_api_key_last_used_timestamp_seconds',
            help: 'Time of the last use of any file acceleration key.',
            from: date,
            fields: { last_used: {} },
            optional: true,
          },
        ],
      },
    },
  ],
};

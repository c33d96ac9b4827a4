import type { Family } from '../../../metrics/family.ts';
import { date, listLength, records } from '../../../metrics/units.ts';
import type { CollectorRow } from '../collector-row.ts';
import { extremeSample } from '../extremes.ts';
import { allOf } from '../records.ts';

const keys = {
  name: 'filer_gfa_api_keys',
  help: 'File acceleration keys of the account.',
  from: listLength,
  fields: { items: {} },
} as const satisfies Family;

const unused = {
  name: 'filer_gfa_api_keys_unused',
  help: 'File acceleration keys that have never been used.',
  from: records,
  fields: { last_used: {} },
} as const satisfies Family;

const oldest = {
  name: 'filer_gfa_api_key_oldest_created_timestamp_seconds',
  help: 'Creation time of the oldest file acceleration key.',
  from: date,
  fields: { created: {} },
} as const satisfies Family;

const lastUsed = {
  name: 'filer_gfa_api_key_last_used_timestamp_seconds',
  help: 'Time of the last use of any file acceleration key.',
  from: date,
  fields: { last_used: {} },
  optional: true,
} as const satisfies Family;

/** The file acceleration keys, aggregated: a key is a secret, so none becomes a label. */
export const gfaKeys: CollectorRow = {
  name: 'gfa_keys',
  intervalMs: 3_600_000,
  tables: [{ source: 'GET /gfa/api_keys', subject: [], families: [keys, unused, oldest, lastUsed] }],
  size: { account: 4 },
  reads: () => [
    {
      path: '/gfa/api_keys',
      async read({ records, note }) {
        const all = await allOf(records);
        return [
          { name: keys.name, labels: {}, value: all.length },
          { name: unused.name, labels: {}, value: all.filter(({ last_used }) => last_used === null).length },
          ...extremeSample(oldest, 'least', all, {}, note),
          ...extremeSample(lastUsed, 'greatest', all, {}, note),
        ];
      },
    },
  ],
};

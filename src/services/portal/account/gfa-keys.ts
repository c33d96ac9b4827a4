import type { Family } from '../../../metrics/family.ts';
import { date, listLength, recordOne } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../collector-definition.ts';
import { extremeSample } from '../extreme-sample.ts';
import { collectAll } from '../records.ts';

const keys = {
  name: 'filer_gfa_api_keys',
  help: 'File acceleration keys of the account.',
  from: listLength,
  fields: { items: {} },
} as const satisfies Family;

const unused = {
  name: 'filer_gfa_api_keys_unused',
  help: 'File acceleration keys that have never been used.',
  from: recordOne,
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

/** Counts the file acceleration keys. A key is a secret, so none becomes a label. */
export const gfaKeys: CollectorDefinition = {
  name: 'gfa_keys',
  intervalMs: 3_600_000,
  tables: [{ source: 'GET /gfa/api_keys', commonLabels: [], families: [keys, unused, oldest, lastUsed] }],
  sampleCounts: { account: 4 },
  reads: () => [
    {
      path: '/gfa/api_keys',
      async read({ records, reportDrop }) {
        const keyRecords = await collectAll(records);
        return [
          { name: keys.name, labels: {}, value: keyRecords.length },
          { name: unused.name, labels: {}, value: keyRecords.filter(({ last_used }) => last_used === null).length },
          ...extremeSample(oldest, 'least', keyRecords, {}, reportDrop),
          ...extremeSample(lastUsed, 'greatest', keyRecords, {}, reportDrop),
        ];
      },
    },
  ],
};

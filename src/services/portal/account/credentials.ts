import type { Family } from '../../../metrics/family.ts';
import { LabelledCounter } from '../../../metrics/labelled-counter.ts';
import { labelValue, type Sample } from '../../../metrics/samples.ts';
import { recordOne } from '../../../metrics/units.ts';
import type { AccountResponse, CollectorDefinition } from '../collector-definition.ts';

const STATUS = ['synced', 'pending', 'failed', 'creating'] as const;

const byStatus = {
  name: 'filer_cloud_credentials',
  help: 'Cloud credentials on appliances, by status, by cloud type, and by whether a volume uses them.',
  from: recordOne,
  fields: { id: {} },
  enumLabels: {
    status: { field: 'status', documentedValues: STATUS },
    type: { field: 'cred_type' },
    in_use: { field: 'volumes' },
  },
} as const satisfies Family;

const withError = {
  name: 'filer_cloud_credentials_with_error',
  help: 'Cloud credentials on appliances with an error, by cloud type.',
  from: recordOne,
  fields: { error: {} },
  enumLabels: { type: { field: 'cred_type' } },
} as const satisfies Family;

/** Counts the cloud credentials. No name, host or access key becomes a label. */
export const credentials: CollectorDefinition = {
  name: 'credentials',
  intervalMs: 900_000,
  tables: [{ source: 'GET /cloud-credentials', commonLabels: [], families: [byStatus, withError] }],
  reads: [{ path: '/cloud-credentials', paged: 'whole', create: () => ({ read: countCredentials }) }],
};

/** Counts a credential once if two pages list it. */
async function countCredentials({ records, reportDrop }: AccountResponse): Promise<Sample[]> {
  const count = new LabelledCounter(byStatus);
  const errors = new LabelledCounter(withError);
  const seen = new Set<string>();
  for await (const { id, appliance_id, status, cred_type, volumes, error } of records) {
    const key = `${labelValue(id)} ${labelValue(appliance_id)}`;
    if (labelValue(id) !== '' && seen.has(key)) {
      reportDrop('duplicate', 'id');
      continue;
    }
    seen.add(key);
    // Each status of a cloud type gets a series, so that a status without credentials is 0 instead of missing.
    for (const documented of STATUS)
      for (const inUse of [true, false]) count.add({ cred_type, status: documented, volumes: inUse }, 0);
    count.add({ cred_type, status, volumes: Array.isArray(volumes) && volumes.length > 0 });
    errors.add({ cred_type }, error === null || error === undefined ? 0 : 1);
  }
  return [...count.samples(), ...errors.samples()];
}

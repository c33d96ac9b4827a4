import type { Family } from '../../../metrics/family.ts';
import { type Sample, text } from '../../../metrics/samples.ts';
import { Tally } from '../../../metrics/tally.ts';
import { records } from '../../../metrics/units.ts';
import type { AccountAnswer, CollectorRow } from '../collector-row.ts';

const STATUS = ['synced', 'pending', 'failed', 'creating'] as const;

const byStatus = {
  name: 'filer_cloud_credentials',
  help: 'Cloud credentials on appliances, by status, by cloud type, and by whether a volume uses them.',
  from: records,
  fields: { id: {} },
  wordsFrom: { status: { field: 'status', known: STATUS }, type: { field: 'cred_type' }, in_use: { field: 'volumes' } },
} as const satisfies Family;

const withError = {
  name: 'filer_cloud_credentials_with_error',
  help: 'Cloud credentials on appliances with an error, by cloud type.',
  from: records,
  fields: { error: {} },
  wordsFrom: { type: { field: 'cred_type' } },
} as const satisfies Family;

/** The cloud credentials by their state. No name, host or access key becomes a label. */
export const credentials: CollectorRow = {
  name: 'credentials',
  intervalMs: 900_000,
  tables: [{ source: 'GET /cloud-credentials', subject: [], families: [byStatus, withError] }],
  size: { account: 27 },
  reads: () => [{ path: '/cloud-credentials', paged: true, read: countCredentials }],
};

/** One that is on two pages counts once. */
async function countCredentials({ records, note }: AccountAnswer): Promise<Sample[]> {
  const count = new Tally(byStatus);
  const errors = new Tally(withError);
  const seen = new Set<string>();
  for await (const { id, appliance_id, status, cred_type, volumes, error } of records) {
    const key = `${text(id)} ${text(appliance_id)}`;
    if (text(id) !== '' && seen.has(key)) {
      note('duplicate', 'id');
      continue;
    }
    seen.add(key);
    if (text(status) === '') note('absent', 'status');
    // Every status of an existing cloud type: a status without credentials is a counted zero.
    for (const word of STATUS)
      for (const inUse of [true, false]) count.add({ cred_type, status: word, volumes: inUse }, 0);
    count.add({ cred_type, status, volumes: Array.isArray(volumes) && volumes.length > 0 });
    errors.add({ cred_type }, error === null || error === undefined ? 0 : 1);
  }
  return [...count.samples(), ...errors.samples()];
}

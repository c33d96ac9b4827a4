import type { Family } from '../../../metrics/family.ts';
import { Tally } from '../../../metrics/label-counter.ts';
import { type NoteDrop, type Sample, text, wordOf } from '../../../metrics/samples.ts';
import { records } from '../../../metrics/units.ts';
import { inSlices } from '../../../runtime/slices.ts';
import { accountTask, type CollectorRow } from '../collector-row.ts';
import { pagesOf } from '../paging.ts';
import { listed } from '../records.ts';

/** Values of a credential's status (upstream-api.md 5.9). */
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
  cost: { account: 1, perAppliance: 0, perVolume: 0 },
  size: { account: 27 },
  create: (parts, intervalMs) => {
    if (parts.shard.index !== 0) return () => [];
    const request = {
      method: 'GET',
      path: '/cloud-credentials',
      operation: 'cloud_credentials',
      size: 'list',
    } as const;
    const task = accountTask(parts, intervalMs, 'cloud_credentials', async (note, signal) => {
      const count = new CredentialCount();
      let answeredAt: number | undefined;
      for await (const page of pagesOf(parts.client, request, signal)) {
        answeredAt ??= parts.clock.monotonic();
        await inSlices(count.add(page, note), parts.clock);
      }
      return { samples: count.samples(), answeredAt };
    });
    return () => [task];
  },
};

/** Counts the credentials of one round, page by page; one that is on two pages counts once. */
class CredentialCount {
  readonly #byStatus = new Tally([{ name: 'status', known: STATUS }, { name: 'type' }, { name: 'in_use' }]);
  readonly #withError = new Tally([{ name: 'type' }]);
  readonly #seen = new Set<string>();

  *add(page: unknown, note: NoteDrop): Generator<void> {
    for (const { id, appliance_id, status, cred_type, volumes, error } of listed(
      page,
      'GET /cloud-credentials',
      note,
    )) {
      const key = `${text(id)} ${text(appliance_id)}`;
      if (text(id) !== '' && this.#seen.has(key)) {
        note('duplicate', 'id');
        continue;
      }
      this.#seen.add(key);
      const type = wordOf(cred_type);
      if (text(status) === '') note('absent', 'status');
      // Every status of an existing cloud type: a status without credentials is a counted zero.
      for (const word of STATUS) for (const inUse of ['true', 'false']) this.#byStatus.add([word, type, inUse], 0);
      this.#byStatus.add([wordOf(status), type, String(Array.isArray(volumes) && volumes.length > 0)]);
      this.#withError.add([type], error === null || error === undefined ? 0 : 1);
      yield;
    }
  }

  samples(): Sample[] {
    return [...this.#byStatus.samples(byStatus.name), ...this.#withError.samples(withError.name)];
  }
}

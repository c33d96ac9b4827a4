import type { Family } from '../../../metrics/family.ts';
import { toSamples } from '../../../metrics/samples.ts';
import { flag } from '../../../metrics/units.ts';
import { RequestError } from '../../../runtime/errors.ts';
import { accountTask, type CollectorRow } from '../collector-row.ts';
import { objectOf } from '../records.ts';

const table = [
  {
    name: 'filer_portal_healthy',
    help: '1 when the portal reports itself healthy, else 0.',
    from: flag,
    fields: { healthy: {} },
  },
] as const satisfies readonly Family[];

/**
 * The health that the portal reports about itself. Requested without a token, and with one if the portal requires it.
 */
export const health: CollectorRow = {
  name: 'health',
  intervalMs: 300_000,
  tables: [{ source: 'GET /health', subject: [], families: table }],
  cost: { account: 1, perAppliance: 0, perVolume: 0 },
  size: { account: 1 },
  create: (parts, intervalMs) => {
    if (parts.shard.index !== 0) return () => [];
    const request = { method: 'GET', path: '/health', operation: 'health' } as const;
    const task = accountTask(parts, intervalMs, 'health', async (note, signal) => {
      const body = await parts.client.sendOpen(request, signal).catch((error: unknown) => {
        if (error instanceof RequestError && error.status === 401) return parts.client.send(request, signal);
        throw error;
      });
      return toSamples(table, [objectOf(body, 'GET /health')], {}, note);
    });
    return () => [task];
  },
};

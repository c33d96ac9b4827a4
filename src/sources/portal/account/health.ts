import type { Family } from '../../../metrics/family.ts';
import { toSamples } from '../../../metrics/samples.ts';
import { flag } from '../../../metrics/units.ts';
import type { CollectorRow } from '../collector-row.ts';

const table = [
  {
    name: 'filer_portal_healthy',
    help: '1 when the portal reports itself healthy, else 0.',
    from: flag,
    fields: { healthy: {} },
  },
] as const satisfies readonly Family[];

export const health: CollectorRow = {
  name: 'health',
  intervalMs: 300_000,
  tables: [{ source: 'GET /health', subject: [], families: table }],
  size: { account: 1 },
  reads: () => [
    {
      path: '/health',
      size: 'one',
      read: ({ body, note }) => toSamples(table, [body], {}, note),
    },
  ],
};

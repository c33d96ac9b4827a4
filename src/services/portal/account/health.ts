import type { Family } from '../../../metrics/family.ts';
import { toSamples } from '../../../metrics/samples.ts';
import { booleanValue } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../collector-definition.ts';

const table = [
  {
    name: 'filer_portal_healthy',
    help: '1 when the portal reports itself healthy, else 0.',
    from: booleanValue,
    fields: { healthy: {} },
  },
] as const satisfies readonly Family[];

export const health: CollectorDefinition = {
  name: 'health',
  intervalMs: 300_000,
  tables: [{ source: 'GET /health', commonLabels: [], families: table }],
  sampleCounts: { account: 1 },
  reads: () => [
    {
      path: '/health',
      size: 'object',
      read: ({ body, reportDrop }) => toSamples(table, [body], {}, reportDrop),
    },
  ],
};

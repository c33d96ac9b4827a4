import { booleanValue } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../collector-definition.ts';

export const health: CollectorDefinition = {
  name: 'health',
  intervalMs: 300_000,
  reads: [
    {
      path: '/health',
      object: {
        families: [
          {
            name: 'filer_portal_healthy',
            help: '1 when the portal reports itself healthy, else 0.',
            from: booleanValue,
            fields: { healthy: {} },
          },
        ],
      },
    },
  ],
};

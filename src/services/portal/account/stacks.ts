import type { Family } from '../../../metrics/family.ts';
import { labelValue } from '../../../metrics/samples.ts';
import { date, infoOne, recordOne } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../collector-definition.ts';

const byCloud = {
  name: 'filer_stacks',
  help: 'Stacks of the account, by cloud.',
  from: recordOne,
  fields: { id: {} },
  enumLabels: { cloud_provider: { field: 'cloud_provider' } },
} as const satisfies Family;

const table = [
  {
    name: 'filer_stack_info',
    help: 'Always 1: a stack of the account with its location and its builds.',
    from: infoOne,
    fields: { id: {} },
    fieldLabels: {
      serial: 'serial_number',
      region: 'region',
      build: 'build',
      uaas_build: 'uaas_build',
    },
    enumLabels: { cloud_provider: { field: 'cloud_provider' } },
  },
  {
    name: 'filer_stack_created_timestamp_seconds',
    help: 'Creation time of the stack.',
    from: date,
    fields: { created_date: {} },
  },
  {
    name: 'filer_stack_last_used_timestamp_seconds',
    help: 'Time of the last use of the stack; missing if it was never used.',
    from: date,
    fields: { last_used_date: {} },
    optional: true,
  },
] as const satisfies readonly Family[];

export const stacks: CollectorDefinition = {
  name: 'stacks',
  intervalMs: 3_600_000,
  reads: [
    {
      path: '/uaas/stacks',
      rows: {
        counts: [byCloud],
        each: {
          families: table,
          labels: ['stack_id', 'stack'],
          id: 'id',
          name: 'name',
          prepare: (stack) => ({ ...stack, serial_number: labelValue(stack.serial_number).toLowerCase() }),
        },
      },
    },
  ],
};

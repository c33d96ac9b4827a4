import type { Family } from '../../../metrics/family.ts';
import { type Sample, text, toSamples } from '../../../metrics/samples.ts';
import { Tally } from '../../../metrics/tally.ts';
import { date, presence, records } from '../../../metrics/units.ts';
import type { CollectorRow } from '../collector-row.ts';

const byCloud = {
  name: 'filer_stacks',
  help: 'Stacks of the account, by cloud.',
  from: records,
  fields: { id: {} },
  wordsFrom: { cloud_provider: { field: 'cloud_provider' } },
} as const satisfies Family;

const table = [
  {
    name: 'filer_stack_info',
    help: 'Always 1: a stack of the account with its location and its builds.',
    from: presence,
    fields: { id: {} },
    labelsFrom: {
      serial: 'serial_number',
      region: 'region',
      build: 'build',
      uaas_build: 'uaas_build',
    },
    wordsFrom: { cloud_provider: { field: 'cloud_provider' } },
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

export const stacks: CollectorRow = {
  name: 'stacks',
  intervalMs: 3_600_000,
  tables: [
    { source: 'GET /uaas/stacks', subject: [], families: [byCloud] },
    { source: 'GET /uaas/stacks', subject: ['stack_id', 'stack'], families: table },
  ],
  size: { account: 8 },
  reads: () => [
    {
      path: '/uaas/stacks',
      async read({ records, note }) {
        const clouds = new Tally(byCloud);
        const samples: Sample[] = [];
        for await (const stack of records) {
          const id = text(stack.id).toLowerCase();
          if (id === '') {
            note('record', 'id');
            continue;
          }
          clouds.add(stack);
          const record = { ...stack, serial_number: text(stack.serial_number).toLowerCase() };
          samples.push(...toSamples(table, [record], { stack_id: id, stack: text(stack.name) || id }, note));
        }
        return [...clouds.samples(), ...samples];
      },
    },
  ],
};

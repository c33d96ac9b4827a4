import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { api, appliance, failure, reportOf } from './reports.ts';

/** Every field of a value, as `a.b[].c`. */
function fieldsOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.slice(0, 1).flatMap((item) => fieldsOf(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, field]) => fieldsOf(field, path === '' ? name : `${path}.${name}`));
}

test('docs/status.md has each field of the JSON, and no other', () => {
  const report = reportOf({
    apis: [
      api({
        warnings: [{ code: 'c', happened: 'h', advice: 'a' }],
        inventoryGaps: [{ list: 'all', reason: 'empty', happened: 'h', advice: 'a' }],
        cause: { happened: 'h', advice: 'a' },
      }),
    ],
    appliances: [
      appliance(1, {
        suspended: [{ operation: 'o', reason: 'empty' }],
        lastError: failure(),
      }),
    ],
  });
  const page = readFileSync(new URL('../../docs/status.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('<!-- fields:begin -->');
  const rows = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) => cell.match(/[^`, ]+/g) ?? []);
  expect(rows.toSorted()).toEqual(fieldsOf(report).toSorted());
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { valuesOf } from './chart-files.ts';
import { chart } from './kubernetes/render.ts';

const values = readFileSync(join(chart, 'values.yaml'), 'utf8');

describe('a comment above a value', () => {
  test('is its row, with its default', () => {
    expect(valuesOf('# One.\none: 1\n\ntwo:\n  # Three,\n  # in two lines.\n  three: [x]\n')).toEqual([
      { path: 'one', help: 'One.', default: 1 },
      { path: 'two.three', help: 'Three, in two lines.', default: ['x'] },
    ]);
  });

  test('stands for the whole map where the entries have none', () => {
    expect(valuesOf('# All of it.\nmap:\n  a: 1\n  b: 2\n')).toEqual([
      { path: 'map', help: 'All of it.', default: { a: 1, b: 2 } },
    ]);
  });

  test('is there for every one', () => {
    const described = valuesOf(values).map(({ path }) => path);
    const silent = leavesOf(parse(values)).filter(
      (path) => !described.some((known) => path === known || path.startsWith(`${known}.`)),
    );
    expect(silent).toEqual([]);
  });
});

function leavesOf(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path];
  const entries = Object.entries(value);
  if (entries.length === 0) return [path];
  return entries.flatMap(([key, inner]) => leavesOf(inner, path === '' ? key : `${path}.${key}`));
}

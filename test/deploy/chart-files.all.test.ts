import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { chartReadme, copies, valuesOf, valuesSchema } from './chart-files.ts';
import { chart } from './kubernetes/render.ts';

/* What `npm run docs` writes into the chart: with --update this file brings it up to date. */

const values = readFileSync(join(chart, 'values.yaml'), 'utf8');

test('the README has a row for every value', async () => {
  await expect(chartReadme()).toMatchFileSnapshot(join(chart, 'README.md'));
});

test('settings take every variable of the exporter that has no value of its own', async () => {
  await expect(valuesSchema()).toMatchFileSnapshot(join(chart, 'values.schema.json'));
});

test('there are rules and dashboards to copy', () => {
  expect(copies().map(({ copy }) => copy)).toContain('files/rules.yml');
  expect(copies().length).toBeGreaterThan(6);
});

test.each(copies())('$copy is $source', async ({ copy, text }) => {
  await expect(text).toMatchFileSnapshot(join(chart, copy));
});

test('there is no copy of what is no more', () => {
  const there = readdirSync(join(chart, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(chart, join(parentPath, name)));
  expect(there.toSorted()).toEqual(
    copies()
      .map(({ copy }) => copy)
      .toSorted(),
  );
});

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

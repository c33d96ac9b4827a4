import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/program.ts';
import { rows } from './rows.ts';
import { SHOWN } from './shown.ts';

const page = readFileSync(join(root, 'docs', 'security.md'), 'utf8');

/** What follows the first heading: paragraphs and items of lists, each a promise. */
const promises = page
  .slice(page.indexOf('\n## '))
  .split(/\n\n|\n(?=- )/)
  .map((block) => block.replaceAll(/\s+/g, ' ').trim())
  .filter((block) => block !== '' && !/^(?:#|\||```)/.test(block));

const named = (text: string) => [...text.matchAll(/\[`([a-z-]+)`\]/g)].map(([, id = '']) => id);
const ids = [...rows.map(({ id }) => id), ...Object.keys(SHOWN)];

test('every promise of docs/security.md names a row of the battery', () => {
  expect(promises.length).toBeGreaterThan(30);
  expect(promises.filter((promise) => named(promise).length === 0)).toEqual([]);
});

test('every row that docs/security.md names exists, and every row is named there', () => {
  expect(new Set(named(page))).toEqual(new Set(ids));
  expect(new Set(ids).size).toBe(ids.length);
});

test.each(Object.entries(SHOWN))('%s is shown by a test that exists', (_, [file, name]) => {
  expect(name.length).toBeGreaterThan(5);
  expect(readFileSync(join(root, 'test', file), 'utf8')).toContain(name);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/program.ts';
import { SHOWN } from './shown.ts';

const page = readFileSync(join(root, 'docs', 'security.md'), 'utf8');

/** Comments of the page, which no reader sees, name what shows the sentence before them. */
const named = (text: string) => [...text.matchAll(/<!-- ([a-z -]+) -->/g)].flatMap(([, ids = '']) => ids.split(' '));

/** The rows of the attacks beside this file. */
const folder = join(root, 'test/attacks');
const rows = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts'))
  .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/^ {4}id: '([a-z-]+)',$/gm)])
  .map(([, id = '']) => id);
const ids = [...rows, ...Object.keys(SHOWN)];

test('every row that docs/security.md names exists, and every row is named there', () => {
  expect(new Set(named(page))).toEqual(new Set(ids));
  expect(new Set(ids).size).toBe(ids.length);
});

test.each(Object.entries(SHOWN))('%s is shown by a test that exists', (_, [file, name]) => {
  expect(name.length).toBeGreaterThan(5);
  expect(readFileSync(join(root, 'test', file), 'utf8')).toContain(name);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/program.ts';

/* A test that shows a sentence of docs/security.md begins its name with an id, and a comment behind the sentence has it. */

/** The ids of the page's comments, which no reader sees. */
const named = [...readFileSync(join(root, 'docs', 'security.md'), 'utf8').matchAll(/<!-- ([a-z -]+) -->/g)].flatMap(
  ([, ids = '']) => ids.split(' '),
);

/** The ids that tests have in their names, and the rows of this folder in their field `id`. */
const shown = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
  .flatMap((path) => {
    const text = readFileSync(join(root, 'test', path), 'utf8');
    return [...text.matchAll(/'\[([a-z-]+)\] |^ {4}id: '([a-z-]+)',$/gm)];
  })
  .map(([, inName, inRow]) => inName ?? inRow);

test('every sentence of docs/security.md that names a test has one, and every test with an id is named there, once', () => {
  expect(shown.toSorted()).toEqual([...new Set(named)].toSorted());
});

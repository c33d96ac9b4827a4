// Only here: shell blocks of pages that nobody has run.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/program.ts';
import { notRun } from './not-run.ts';
import { blocks, blocksOf } from './pages.ts';

/* Every shell block of a page is run by a journey, or is in the list of those that none runs, with the reason. */

const journeys = readdirSync(join(root, 'test/journeys')).filter((name) => name.endsWith('.all.test.ts'));
const texts = journeys.map((name) => readFileSync(join(root, 'test/journeys', name), 'utf8'));

/** Whether a journey names the block. */
const isRun = (name: string) => texts.some((text) => text.includes(`'${name}'`));

test.each([...blocks.keys()])('%s is run, or listed with a reason', (name) => {
  expect([isRun(name), name in notRun].filter(Boolean)).toHaveLength(1);
});

test('the list has no block that is no more', () => {
  expect(Object.keys(notRun).filter((name) => !blocks.has(name))).toEqual([]);
});

test('a block is known by its page, the heading above it, and its number below that', () => {
  const text = '# A\n\n```sh\none\n```\n\n```yaml\nno: shell\n```\n\n## B\n\n```sh\ntwo\n```\n\n```sh\nthree\n```\n';
  expect(blocksOf('p.md', text)).toEqual([
    { name: 'p.md, A, 1', text: 'one\n' },
    { name: 'p.md, B, 1', text: 'two\n' },
    { name: 'p.md, B, 2', text: 'three\n' },
  ]);
});

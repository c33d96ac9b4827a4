import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Phrases that take two readings; docs/contributing.md has what to write instead. */
const OUT = [
  ...['doing without', 'asking slowly', 'whatever came of it', 'nothing is to be had', 'of which nothing'],
  ...['a mended one', 'refused alike', 'unheard', 'hung up', 'is no number', 'is none of the', 'for want of'],
  ...['is told of', 'takes over no', 'going on without', 'a defect:', 'to be rid of', 'gives nothing', 'nobody heard'],
  ...['what came of', 'somebody else’s', "somebody else's", 'who comes', 'put aside', 'goes aside'],
  ...['in vain', 'no oftener', 'hears of the', 'hears of every', 'unless it says otherwise', 'unless told otherwise'],
  ...['the last good one', 'the last good state', 'leaves the exposition', 'leave the exposition', 'lets nobody in'],
  ...['holds nothing up', 'holds up no', 'out of step with', 'good for one use', 'of no use any more', 'as it is told'],
  ...['tells an error', 'tells of volumes', 'says of itself', 'is asked in vain', 'had to forget'],
  ...['what was kept', 'begins anew', 'begin anew', 'counts from now on'],
];

/** Words that stand for no thing of the glossary. */
const WORDS = /\b(?:nobody|somebody|anybody|everybody|whatever|whoever|whom|oftener|mends?|mended)\b/i;

/** Every text that a person reads: the program, its documentation, boards, rules and charts. */
const files = ['src', 'docs', 'deploy', join('grafana', 'src')]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  )
  .filter((path) => /\.(?:ts|js|md|ya?ml|tpl|txt)$/.test(path) && !path.includes('node_modules'))
  .concat('README.md', 'CHANGELOG.md');

const textOf = (path: string) => readFileSync(join(root, path), 'utf8').replaceAll(/\s+(?:\*|\/\/|#)?\s*/g, ' ');

test('no text has a phrase that is out', () => {
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((path) => {
    const text = textOf(path);
    return OUT.filter((phrase) => text.includes(phrase)).map((phrase) => `${path}: ${phrase}`);
  });
  expect(found).toEqual([]);
});

test('no text has a word that is out', () => {
  expect(
    files.flatMap(
      (path) =>
        textOf(path)
          .match(WORDS)
          ?.map((word) => `${path}: ${word}`) ?? [],
    ),
  ).toEqual([]);
});

/** The titles of tests and stories in the folders of scenarios. */
const TITLE = /\b(?:test|describe)(?:\.\w+)*\([^'`]*?(['`])(.*?)\1,|\bname: (['`])(.*?)\3,/g;

test('no title of a scenario has such a word, or is told', () => {
  const titles = ['app', 'chaos', 'faults', 'lives', 'process'].flatMap((folder) =>
    readdirSync(join(root, 'test', folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => [...readFileSync(join(root, 'test', folder, path), 'utf8').matchAll(TITLE)])
      .map(([, , title, , name]) => title ?? name ?? ''),
  );
  expect(titles.length).toBeGreaterThan(200);
  expect(titles.filter((title) => WORDS.test(title) || /\b(?:is|are|be) told\b/.test(title))).toEqual([]);
});

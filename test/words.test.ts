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
];

/** Every text that a person reads: the program, its documentation, boards, rules and charts. */
const files = ['src', 'docs', 'deploy', join('grafana', 'src')]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  )
  .filter((path) => /\.(?:ts|md|ya?ml|tpl|txt)$/.test(path) && !path.includes('node_modules'))
  .concat('README.md', 'CHANGELOG.md');

test('no text has a phrase that is out', () => {
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8').replaceAll(/\s+(?:\*|\/\/|#)?\s*/g, ' ');
    return OUT.filter((phrase) => text.includes(phrase)).map((phrase) => `${path}: ${phrase}`);
  });
  expect(found).toEqual([]);
});

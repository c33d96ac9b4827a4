import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { RENAMED } from './support/renamed.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const renamed = [...read('CHANGELOG.md').matchAll(RENAMED)].map(([, name = '']) => name);
const files = ['README.md', ...['src', 'deploy', 'grafana', 'docs', 'test'].flatMap(textsBelow)];

test('the changelog lists the metrics that were renamed, and no other file names one by its old name', () => {
  expect(renamed).not.toHaveLength(0);
  const old = new RegExp(`\\b(?:${renamed.join('|')})\\b`);
  expect(files.filter((path) => old.test(read(path)))).toEqual([]);
});

function textsBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|js|json|ya?ml|md|metrics|txt|sh|tpl)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

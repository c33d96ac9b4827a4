import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folders = ['docs', 'deploy', 'grafana', 'src', '.github'];
const pages = ['README.md', 'CHANGELOG.md', ...folders.flatMap(markdownIn)];

function markdownIn(folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name));
}

/** The text of a page without its blocks of code, in which nothing is a link or a heading. */
function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
}

/** The anchors of the headings, as the hosts of repositories make them. */
function anchorsOf(path: string): Set<string> {
  const headings = [...textOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase());
  return new Set(headings.map((heading) => heading.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')));
}

function isDead(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).has(anchor));
}

test.each(pages)('each link in %s leads to a file and a heading that exist', (page) => {
  const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const inside = links.filter((link) => !/^[a-z]+:/.test(link));
  expect(inside.filter((link) => isDead(page, link))).toEqual([]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/program.ts';

/** A code block of a page that a reader would paste into a shell. */
export interface Block {
  /** The page, the heading above it, and which block below that heading it is: `docs/install/node.md, From a clone, 1`. */
  readonly name: string;
  readonly text: string;
}

/** Every page with something to paste; of `docs/` those that are there. */
export const pages: readonly string[] = [
  'README.md',
  ...['docs', 'docs/install', 'docs/runbooks', 'deploy/prometheus', 'deploy/helm/filer-exporter', 'grafana'].flatMap(
    (folder) =>
      readdirSync(join(root, folder))
        .filter((name) => name.endsWith('.md'))
        .map((name) => `${folder}/${name}`),
  ),
];

/** The shell blocks of a page, in their order. */
export function blocksOf(page: string, text: string = readFileSync(join(root, page), 'utf8')): readonly Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let count = 0;
  for (const [, title, language, block = ''] of text.matchAll(/^#+ (.+)$|^```(\w*)\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) {
      heading = title;
      count = 0;
    } else if (language === 'sh') {
      count += 1;
      blocks.push({ name: `${page}, ${heading}, ${count}`, text: block });
    }
  }
  return blocks;
}

/** Every shell block of every page, by name. */
export const blocks: ReadonlyMap<string, Block> = new Map(
  pages.flatMap((page) => blocksOf(page).map((block) => [block.name, block] as const)),
);

/** The block of this name. Throws where no page has it. */
export function blockOf(name: string): Block {
  const block = blocks.get(name);
  if (block === undefined) throw new Error(`no page has the block "${name}"`);
  return block;
}

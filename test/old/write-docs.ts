import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { comparison, comparisonTable } from './bench/comparison.ts';
import { outcomesTable } from './polling/outcomes.ts';
import { type Document, documents } from './support/documents.ts';
import { root } from './support/program.ts';
import { withPart } from './support/reference.ts';

/** `npm run docs`: writes the generated documents whose text has changed, and names them. */

const ARCHITECTURE = 'docs/architecture.md';

/** Tests of the simulation and of polling compare these parts, and not those of the documents. */
const measured: Document = {
  path: ARCHITECTURE,
  text: () => {
    const page = readFileSync(join(root, ARCHITECTURE), 'utf8');
    return withPart(withPart(page, 'outcomes', outcomesTable()), 'comparison', comparisonTable(comparison()));
  },
};

let written = 0;
for (const { path, text } of [...documents, measured]) {
  const file = join(root, path);
  const content = text();
  if (existsSync(file) && readFileSync(file, 'utf8') === content) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  written += 1;
  process.stdout.write(`written: ${path}\n`);
}
if (written === 0) process.stdout.write('all generated documents are as the code says; nothing written\n');

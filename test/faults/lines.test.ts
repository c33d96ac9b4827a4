import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/program.ts';
import { LINES } from './row.ts';

/* Most of the battery runs at night alone: a line of the log that was reworded is to be found before. */

const folder = join(root, 'src');
const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join(folder, path), 'utf8'))
  .join('\n');

test.each(Object.values(LINES).flat())('the program still logs “%s”', (line) => {
  expect(source).toContain(`'${line}'`);
});

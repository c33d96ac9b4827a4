// Only here: memory that grows because V8 changed its mind about a space.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { builtMain } from '../support/program.ts';

const main = builtMain();

/**
 * Makes garbage that lives for a while, and then tells how large the space of young objects has become: after a collection,
 * because V8 of Node 24 also fills pages beyond the space, until the next one.
 */
const busy = `
process.exit = () => {};
process.argv.push('filer-exporter', '--version');
await import(${JSON.stringify(main)});
let kept = [];
for (let round = 0; round < 30; round += 1) {
  kept = Array.from({ length: 20_000 }, (_, index) => ({ index, text: 'x'.repeat(20) + index }));
}
const { getHeapSpaceStatistics, setFlagsFromString } = await import('node:v8');
const { runInNewContext } = await import('node:vm');
setFlagsFromString('--expose-gc');
runInNewContext('gc')({ type: 'minor' });
const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
process.stdout.write(JSON.stringify({ mebibytes: young.space_size / 2 ** 20, kept: kept.length }));
`;

test('the space of young objects stays as it was at the start, however much comes and goes', () => {
  const out = execFileSync(process.execPath, ['--input-type=module', '--eval', busy], { encoding: 'utf8' });
  const { mebibytes } = JSON.parse(out.slice(out.lastIndexOf('{'))) as { readonly mebibytes: number };
  expect(mebibytes).toBeLessThanOrEqual(4);
});

/**
 * Explores what the tests hold still: further rows, hours at fifty times the speed, and properties and plans drawn by
 * chance with fresh seeds. `npm run explore` takes an hour and longer, EXPLORE_MINUTES=5 makes what is drawn shorter;
 * `npm run explore -- fuzz 4711` runs one part with one seed. Each find is one line that starts with
 * "found:" and holds the command that shows it again; then it exits with 1.
 */
import { randomInt } from 'node:crypto';
import process from 'node:process';
import { type Find, further, fuzz, history, soak } from './parts.ts';

const minutes = Number(process.env.EXPLORE_MINUTES ?? 60);
if (!(minutes > 0)) throw new Error('EXPLORE_MINUTES: expected a number above 0');
const until = performance.now() + minutes * 60_000;

const parts: Readonly<Record<string, (seed: number) => Promise<readonly Find[]>>> = {
  further,
  soak: (seed) => soak(seed, minutes / 3),
  fuzz,
  history,
};
/** Those that draw from their seed: they run again and again, until the time is over. */
const DRAWN = ['fuzz', 'history'];

let found = 0;
async function explore(name: string, seed: number): Promise<void> {
  const part = parts[name];
  if (part === undefined) throw new Error(`no part ${name}; expected one of ${Object.keys(parts).join(', ')}`);
  const begun = performance.now();
  const finds = await part(seed);
  found += finds.length;
  const seconds = Math.round((performance.now() - begun) / 1000);
  process.stdout.write(`${name} with seed ${seed}: ${finds.length} found, ${seconds} s\n`);
  for (const { command, what } of finds) {
    const [withoutStack = ''] = what.split(/\n\s+at /);
    process.stdout.write(`found: ${command} # ${withoutStack.replaceAll(/\s+/g, ' ')}\n`);
  }
}

const [asked, seed] = process.argv.slice(2);
if (asked !== undefined) {
  await explore(asked, Number(seed ?? randomInt(1e9)));
} else {
  for (const name of Object.keys(parts)) await explore(name, randomInt(1e9));
  while (performance.now() < until) for (const name of DRAWN) await explore(name, randomInt(1e9));
}
process.exit(found === 0 ? 0 : 1);

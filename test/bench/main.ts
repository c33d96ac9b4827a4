import process from 'node:process';
import { limits } from './limits.ts';

/** Prints one measurement as one line of JSON. */
export type Report = (name: string, value: number, unit: string) => void;

/** The suites by their names: `npm run bench -- limits` runs one, without a name all of them run. */
const suites: Readonly<Record<string, (report: Report) => void | Promise<void>>> = { limits };

const report: Report = (name, value, unit) => {
  process.stdout.write(`${JSON.stringify({ name, value: Number(value.toPrecision(4)), unit })}\n`);
};

const chosen = process.argv.slice(2);
for (const name of chosen.length === 0 ? Object.keys(suites) : chosen) {
  const suite = suites[name];
  if (suite === undefined) throw new Error(`no suite ${name}; expected one of ${Object.keys(suites).join(', ')}`);
  await suite(report);
}
process.exit();

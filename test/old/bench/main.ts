import process from 'node:process';
import { polling } from './polling.ts';
import { running } from './running.ts';
import { scraped } from './scraped.ts';
import { state } from './state.ts';

/** One figure: one line of JSON. */
export type Report = (name: string, value: number, unit: string) => void;

const suites: Readonly<Record<string, (report: Report) => Promise<void>>> = {
  polling,
  running,
  scraped,
  state,
};

const report: Report = (name, value, unit) => {
  process.stdout.write(`${JSON.stringify({ name, value: Number(value.toPrecision(4)), unit })}\n`);
};

const asked = process.argv.slice(2);
for (const name of asked.length === 0 ? Object.keys(suites) : asked) {
  const suite = suites[name];
  if (suite === undefined) throw new Error(`no suite ${name}; there are ${Object.keys(suites).join(', ')}`);
  await suite(report);
}
process.exit();

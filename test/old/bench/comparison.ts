import { changing, fixedWindow, type Limit, shared, slidingWindow, tokenBucket } from './services.ts';
import { type Result, simulate } from './simulate.ts';

interface Case {
  readonly name: string;
  readonly limit: () => Limit;
  readonly toldPerSecond: number;
}

const WINDOW_MS = 30_000;
const SPELL_MS = 120_000;

/** The limits that it is tried on: constant ones, ones that change, and accounts of which another tool takes half. */
export const cases: readonly Case[] = [
  { name: 'token bucket 60/s, burst 30', limit: () => tokenBucket(60, 30), toldPerSecond: 200 },
  { name: 'token bucket 60/s, 66/s configured', limit: () => tokenBucket(60, 30), toldPerSecond: 66 },
  { name: 'fixed window 1,800/30 s', limit: () => fixedWindow(1_800, WINDOW_MS), toldPerSecond: 200 },
  { name: 'fixed window 300/30 s, 500 configured', limit: () => fixedWindow(300, WINDOW_MS), toldPerSecond: 500 / 30 },
  {
    name: 'sliding window 300/30 s, 500 configured',
    limit: () => slidingWindow(300, WINDOW_MS),
    toldPerSecond: 500 / 30,
  },
  {
    name: 'token bucket, 60/s and 30/s in turn',
    limit: () => changing(SPELL_MS, [tokenBucket(60, 30), tokenBucket(30, 30)]),
    toldPerSecond: 200,
  },
  {
    name: 'shared fixed window 500/30 s',
    limit: () => shared(fixedWindow(500, WINDOW_MS), SPELL_MS),
    toldPerSecond: 500 / 30,
  },
  {
    name: 'shared sliding window 500/30 s',
    limit: () => shared(slidingWindow(500, WINDOW_MS), SPELL_MS),
    toldPerSecond: 500 / 30,
  },
  { name: 'shared token bucket 60/s', limit: () => shared(tokenBucket(60, 30), SPELL_MS), toldPerSecond: 100 },
];

/** One limit: the mean over some seeds. */
export interface Cell extends Result {
  readonly limit: string;
  readonly retryAfter: boolean;
}

/** The pace against every limit, with and without `Retry-After`, ten simulated minutes each; the same at every run. */
export function comparison(seeds: readonly number[] = [1, 2, 3]): readonly Cell[] {
  return cases.flatMap(({ name, limit, toldPerSecond }) =>
    [true, false].map((retryAfter) => {
      const settings = { toldPerSecond, seconds: 600, retryAfter };
      const runs = seeds.map((seed) => simulate({ ...settings, limit: limit(), seed }));
      return {
        limit: name,
        retryAfter,
        goodput: mean(runs.map((run) => run.goodput)),
        refused: mean(runs.map((run) => run.refused)),
        insideHold: runs.reduce((sum, run) => sum + run.insideHold, 0),
      };
    }),
  );
}

/** As a table in Markdown: what of the limit was got, and what of the requests was rejected, in percent. */
export function comparisonTable(cells: readonly Cell[]): string {
  const rows = cells.map(({ limit, retryAfter, goodput, refused }) => {
    return `| ${limit} | ${retryAfter ? 'yes' : 'no'} | ${percent(goodput, 1)} | ${percent(refused, 2)} |`;
  });
  return ['| limit | `Retry-After` | used, % | rejected, % |', '|---|---|---|---|', ...rows].join('\n');
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percent(share: number, digits: number): string {
  return (share * 100).toFixed(digits);
}

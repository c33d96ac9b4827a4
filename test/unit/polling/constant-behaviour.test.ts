import { expect, test } from 'vitest';
import type { Task } from '../../../src/contract/task.ts';
import { getOrCreate } from '../../../src/runtime/maps.ts';
import fc from '../../harness/fast-check.ts';
import { type Behaviour, fails, hangs, isEmpty, minutes, PollingRun, recordAt, returns, task } from './polling-run.ts';

/** What a series does at its nth poll, `now` milliseconds after the start. */
type Pattern = (nth: number, now: number) => Behaviour;

const LOOKBACK_MS = minutes(15);
const hasRecords = (now: number): Behaviour => ({ ms: 50, result: recordAt(Math.ceil((now + 1) / 60_000) * 60_000) });

/** By name. `k`: 2 to 9. */
const PATTERNS: Readonly<Record<string, (k: number) => Pattern>> = {
  'always works': () => (_, now) => hasRecords(now),
  'always fails': () => () => fails,
  'always empty': () => () => isEmpty,
  'always forbidden': () => () => returns(403),
  'always hangs': () => () => hangs,
  'every k-th fails': (k) => (nth, now) => (nth % k === 0 ? fails : hasRecords(now)),
  'every k-th hangs': (k) => (nth, now) => (nth % k === 0 ? hangs : hasRecords(now)),
  'every k-th is empty': (k) => (nth, now) => (nth % k === 0 ? isEmpty : hasRecords(now)),
  'reports every 20 to 55 minutes': (k) => (_, now) => {
    const last = Math.floor(now / minutes(10 + 5 * k)) * minutes(10 + 5 * k);
    return now - last <= LOOKBACK_MS ? { ms: 50, result: recordAt(last + 60_000) } : isEmpty;
  },
};
const NEVER_WORKS = ['always fails', 'always empty', 'always forbidden', 'always hangs'];

interface Series {
  readonly name: string;
  readonly k: number;
  readonly task: Task;
}

const drawnPattern = fc.record({ name: fc.constantFrom(...Object.keys(PATTERNS)), k: fc.integer({ min: 2, max: 9 }) });

/** The series of up to eight appliances: all of one appliance have one pattern, or each its own. */
const drawnAppliances = fc.array(
  fc.oneof(
    fc.array(drawnPattern, { minLength: 1, maxLength: 5 }),
    fc.tuple(drawnPattern, fc.integer({ min: 1, max: 5 })).map(([pattern, count]) => Array(count).fill(pattern)),
  ),
  { minLength: 1, maxLength: 8 },
);

/** All but the first series of an appliance may be hourly. */
function seriesOf(patterns: readonly Omit<Series, 'task'>[], serial: number, hasHourly: boolean): Series[] {
  return patterns.map((pattern, index) => {
    const isHourly = hasHourly && index > 0;
    const intervals = { intervalMs: minutes(isHourly ? 60 : 5), suspendedIntervalMs: minutes(isHourly ? 60 : 15) };
    return { ...pattern, task: task(`a${serial}/s${index}`, intervals) };
  });
}

/** Of 15 series of each appliance one works. */
const mostlyFailing = Array.from({ length: 15 }, (_, index) => ({
  name: index === 0 ? 'always works' : 'always fails',
  k: 2,
}));

/** What was wrong in some hours. */
async function complaintsOf(appliances: readonly (readonly Series[])[], hours: number): Promise<readonly string[]> {
  const complaints: string[] = [];
  const all = appliances.flat();
  const patterns = new Map(all.map(({ task: { id }, name, k }) => [id, PATTERNS[name]?.(k)]));
  const tasks = all.map((series) => series.task);
  const run = new PollingRun(tasks, { workers: 8 }, 15_000);
  run.behaviour = ({ id }, nth) => patterns.get(id)?.(nth, run.clock.monotonic()) ?? fails;
  /** What each showed after the first cycle, one after the other. */
  const shown = new Map<string, (number | boolean)[]>();
  for (let passed = 0; passed < hours * 60; passed += 1) {
    await run.passes(1);
    const states = appliances.map((_, serial) => [`a${serial}`, run.up(`a${serial}`)] as const);
    if (run.isUp === false && states.some(([, up]) => up !== undefined)) complaints.push('a state in an outage');
    if (all.every(({ task: { id } }) => run.startsOf(id).length > 0))
      for (const [name, value] of [['service', run.isUp] as const, ...states]) {
        const values = getOrCreate(shown, name, () => []);
        if (value !== undefined && value !== values.at(-1)) values.push(value);
      }
  }
  const lines = run.lines.map(({ msg, operation, serial }) => `${operation ?? serial}: ${msg}`);
  complaints.push(...lines.filter((line, index) => lines.indexOf(line) < index));
  for (const [name, values] of shown) if (values.length > 2) complaints.push(`${name} showed ${values}`);
  for (const [index, series] of appliances.entries()) {
    const up = run.up(`a${index}`);
    const isDead = series.every(({ name }) => NEVER_WORKS.includes(name));
    const isWell = series.some(({ name }) => name === 'always works');
    const isRight = isDead ? up === (run.isUp ? 0 : undefined) : up === 1 || !isWell;
    if (!isRight) complaints.push(`a${index} is ${up}`);
  }
  const healthyPolls = tasks.reduce((sum, { intervalMs }) => sum + (hours * minutes(60)) / intervalMs + 1, 30);
  if (run.polls > 1.2 * healthyPolls) complaints.push(`${run.polls} polls instead of ${healthyPolls}`);
  return complaints;
}

test('property: appliances that behave the same all the time change no verdict and no log line twice, and none is wrong', async () => {
  const property = fc.asyncProperty(drawnAppliances, fc.boolean(), async (drawn, hasHourly) => {
    const appliances = drawn.map((patterns, serial) => seriesOf(patterns, serial, hasHourly));
    expect(await complaintsOf(appliances, 3)).toEqual([]);
  });
  const examples: [(typeof mostlyFailing)[], boolean][] = [[Array(3).fill(mostlyFailing), false]];
  await fc.assert(property, { numRuns: 25, examples });
});

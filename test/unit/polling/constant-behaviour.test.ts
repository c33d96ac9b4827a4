import { expect, test } from 'vitest';
import type { Task } from '../../../src/contract/task.ts';
import fc from '../../harness/fast-check.ts';
import { type Behaviour, fails, hangs, isEmpty, minutes, PollingRun, recordAt, returns, task } from './polling-run.ts';

/** What a series does at its nth poll, `now` milliseconds after the start. */
type Pattern = (nth: number, now: number) => Behaviour;

const LOOKBACK_MS = minutes(15);
const isForbidden = returns(403);
const hasRecords = (now: number): Behaviour => ({ ms: 50, result: recordAt(Math.ceil((now + 1) / 60_000) * 60_000) });

/** By name. `k`: 2 to 9. */
const PATTERNS: Readonly<Record<string, (k: number) => Pattern>> = {
  'always works': () => (_, now) => hasRecords(now),
  'always fails': () => () => fails,
  'always empty': () => () => isEmpty,
  'always forbidden': () => () => isForbidden,
  'always hangs': () => () => hangs,
  'every k-th fails': (k) => (nth, now) => (nth % k === 0 ? fails : hasRecords(now)),
  'every k-th hangs': (k) => (nth, now) => (nth % k === 0 ? hangs : hasRecords(now)),
  'every k-th is empty': (k) => (nth, now) => (nth % k === 0 ? isEmpty : hasRecords(now)),
  'reports every 15 to 60 minutes': (k) => (_, now) => {
    const last = Math.floor(now / minutes(10 + 5 * k)) * minutes(10 + 5 * k);
    return now - last <= LOOKBACK_MS ? { ms: 50, result: recordAt(last + 60_000) } : isEmpty;
  },
};
const NEVER_WORKS = ['always fails', 'always empty', 'always forbidden', 'always hangs'];

interface Series {
  readonly task: Task;
  readonly name: string;
  readonly pattern: Pattern;
}

type Appliances = readonly (readonly Series[])[];

const drawnPattern = fc
  .record({ name: fc.constantFrom(...Object.keys(PATTERNS)), k: fc.integer({ min: 2, max: 9 }) })
  .map(({ name, k }) => ({ name, pattern: PATTERNS[name]?.(k) ?? (() => fails) }));

/** Some appliances of which each series has a pattern of its own, or all have one; series may be polled hourly. */
const drawnAppliances: fc.Arbitrary<Appliances> = fc
  .record({ count: fc.integer({ min: 1, max: 12 }), series: fc.integer({ min: 1, max: 6 }) })
  .chain(({ count, series }) =>
    fc.record({
      hasSeldom: fc.boolean(),
      appliances: fc.array(
        fc.oneof(
          fc.array(drawnPattern, { minLength: series, maxLength: series }),
          drawnPattern.map((one) => Array.from({ length: series }, () => one)),
        ),
        { minLength: count, maxLength: count },
      ),
    }),
  )
  .map(({ hasSeldom, appliances }) =>
    appliances.map((patterns, serial) =>
      patterns.map((pattern, index) => {
        const isSeldom = hasSeldom && index > 0;
        const intervals = { intervalMs: minutes(isSeldom ? 60 : 5), suspendedIntervalMs: minutes(isSeldom ? 60 : 15) };
        return { ...pattern, task: task(`a${serial}/s${index}`, intervals) };
      }),
    ),
  );

/** What went wrong within so many hours. */
async function complaintsOf(appliances: Appliances, hours: number): Promise<readonly string[]> {
  const complaints: string[] = [];
  const all = appliances.flat();
  const byId = new Map(all.map((series) => [series.task.id, series]));
  const run = new PollingRun(
    all.map((series) => series.task),
    { workers: 8 },
    10_000,
  );
  run.behaviour = ({ id }, nth) => byId.get(id)?.pattern(nth, run.clock.monotonic()) ?? fails;
  const names = ['service', ...appliances.map((_, index) => `a${index}`)];
  const upOf = (name: string) => (name === 'service' ? run.isUp : run.up(name));
  const isServiceDown = () => run.isUp === false;
  const before = new Map<string, unknown>();
  const changes = new Map<string, number>();
  let linesOfFirstCycle = 0;
  for (let passed = 0; passed < hours * 60; passed += 1) {
    const isFirstCycle = all.some(({ task: { id } }) => run.startsOf(id).length === 0);
    if (isFirstCycle) linesOfFirstCycle = run.lines.length;
    await run.passes(1);
    for (const name of names) {
      const up = upOf(name);
      if (!isFirstCycle && up !== undefined && before.get(name) !== undefined && before.get(name) !== up)
        changes.set(name, (changes.get(name) ?? 0) + 1);
      if (up !== undefined) before.set(name, up);
      if (name !== 'service' && isServiceDown() && up !== undefined)
        complaints.push(`${name} is ${up} although the service is down`);
    }
  }
  for (const [name, count] of changes) if (count > 1) complaints.push(`${name} changed ${count} times`);
  const lines = new Map<string, number>();
  for (const { msg, operation, serial, api } of run.lines.slice(linesOfFirstCycle)) {
    const line = `${operation ?? serial ?? api}: ${msg}`;
    lines.set(line, (lines.get(line) ?? 0) + 1);
  }
  for (const [line, count] of lines) if (count > 1) complaints.push(`${line}, ${count} times`);
  appliances.forEach((series, index) => {
    const up = run.up(`a${index}`);
    const isDead = series.every(({ name }) => NEVER_WORKS.includes(name));
    const isWell = series.some(({ name }) => name === 'always works');
    if ((isWell && up !== 1) || (isDead && up === 1)) complaints.push(`a${index} is ${up}`);
    if (isDead && !isServiceDown() && up !== 0) complaints.push(`a${index} is ${up}`);
  });
  const whenHealthy = all.reduce((sum, series) => sum + (hours * minutes(60)) / series.task.intervalMs + 1, 30);
  if (run.polls > 1.2 * whenHealthy) complaints.push(`${run.polls} polls, ${whenHealthy} when healthy`);
  await run.stop();
  return complaints;
}

test('property: appliances that behave the same all the time change no verdict and no log line twice, and none is wrong', async () => {
  const property = fc.asyncProperty(drawnAppliances, async (appliances) => {
    expect(await complaintsOf(appliances, 3)).toEqual([]);
  });
  await fc.assert(property, { numRuns: 24 });
});

test('a service in which one of 15 series of each appliance works stays up, and is polled no more than a healthy one', async () => {
  const patternOf = (index: number) => (index === 0 ? 'always works' : 'always fails');
  const appliances = [0, 1, 2].map((serial) =>
    Array.from({ length: 15 }, (_, index) => ({
      name: patternOf(index),
      pattern: PATTERNS[patternOf(index)]?.(2) ?? (() => fails),
      task: task(`a${serial}/s${index}`, { suspendedIntervalMs: minutes(15) }),
    })),
  );
  expect(await complaintsOf(appliances, 2)).toEqual([]);
});

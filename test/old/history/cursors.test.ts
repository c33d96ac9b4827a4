import { expect, test } from 'vitest';
import { HistoryCursors } from '../../src/history/cursors.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { noLog } from '../support/mock-api.ts';

const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 1_440 * MINUTE_MS;
const TASK = 'portal/a/cpu_utilization';

const options = {
  binMs: MINUTE_MS,
  lookbackMs: 15 * MINUTE_MS,
  catchUpMs: 360 * MINUTE_MS,
  forgetAfterMs: 1_440 * MINUTE_MS,
};

test('a cursor that an old state file holds two years ahead is set back at the first poll, and nothing counts as lost', () => {
  const clock = new ManualClock(Date.UTC(2026, 2, 2, 10));
  const now = clock.now();
  const ahead = now + 2 * YEAR_MS;
  const cursors = new HistoryCursors(options, clock, noLog);
  const { put, commit } = cursors.restore();
  put({ cursors: [[TASK, ahead, ahead]], span: { begun: now, newest: ahead, sending: [] } });
  commit();
  const { at, seen } = cursors.of(TASK, now);
  expect(Math.max(at, seen)).toBeLessThan(now);
  expect([...cursors.lost.values()].filter((seconds) => seconds > 0)).toEqual([]);
});

test.each([
  ['is set back, and what it skipped is requested, if the clock of the service reaches it by passing', 50, true],
  ['stays if that clock was wrong for ten minutes and is corrected', 10, false],
])('a cursor that is ahead %s', async (_, minutes, isSetBack) => {
  const clock = new ManualClock(Date.UTC(2026, 2, 2, 10));
  const cursors = new HistoryCursors(options, clock, noLog);
  const delivered = clock.now() + 50 * MINUTE_MS;
  cursors.advance(cursors.of(TASK, delivered), [delivered], true, delivered);
  for (let minute = 0; minute < minutes; minute += 1) {
    cursors.of(TASK, clock.now());
    await clock.advance(MINUTE_MS);
  }
  expect(cursors.of(TASK, delivered).at < delivered).toBe(isSetBack);
});

test('an appliance that is gone leaves nothing behind', async () => {
  const clock = new ManualClock(Date.UTC(2026, 2, 2, 10));
  const cursors = new HistoryCursors(options, clock, noLog);
  cursors.of(TASK, clock.now());
  cursors.markGone(TASK, clock.now());
  cursors.of('portal/b/cpu_utilization', clock.now());
  expect(cursors.size).toBe(2);
  await clock.advance(options.forgetAfterMs + 60 * MINUTE_MS);
  cursors.of('portal/b/cpu_utilization', clock.now());
  expect(cursors.size).toBe(1);
});

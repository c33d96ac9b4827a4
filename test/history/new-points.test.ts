import { describe, expect, test } from 'vitest';
import { newPoints, WHOLE_AFTER_MS } from '../../src/history/new-points.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { pointsSince } from './points.ts';

const NOW = 1_000_000_000;
const at = (minutes: number, value: number, name = 'a') => ({ name, labels: {}, value, at: NOW / 1000 - 60 * minutes });
const NONE = { at: 0, sum: undefined };
const news = (points: readonly Sample[], after = NONE as Parameters<typeof newPoints>[1], more = {}) =>
  newPoints(pointsSince(0, NOW, points), after, { binMs: 60_000, now: NOW, ...more });
const timesOf = (found: ReturnType<typeof newPoints>) =>
  found.series.flatMap(({ times }) => times.map((time) => (NOW - time) / 60_000));

test('what is newer than the cursor is news, oldest first, and the newest bin waits for the next one', () => {
  const cursor = { at: NOW - 4 * 60_000, sum: undefined };
  const found = news([at(2, 1), at(5, 9), at(3, 2), at(4, 3), at(1, 4)], cursor);
  expect(timesOf(found)).toEqual([3, 2]);
  expect(found.cursor?.at).toBe(NOW - 2 * 60_000);
  expect(found.count).toBe(2);
});

test('the newest bin of an appliance that has stopped reporting is whole', () => {
  expect(timesOf(news([at(3, 1)], NONE))).toEqual([]);
  expect(timesOf(news([at(WHOLE_AFTER_MS / 60_000, 1)]))).toEqual([]);
  expect(timesOf(news([at(WHOLE_AFTER_MS / 60_000 + 1, 1)]))).toEqual([11]);
});

describe('bad input', () => {
  test('the first of two points of one time stays, and the other is counted', () => {
    const found = news([at(3, 1), at(3, 2), at(2, 5), at(1, 5)], NONE);
    expect(found.series[0]?.values).toEqual([1, 5]);
    expect([...found.unfit]).toEqual([['duplicate', 1]]);
  });

  test('a point of the future is not sent and holds nothing up', () => {
    const found = news([at(-60, 1), at(3, 2), at(2, 3)], NONE);
    expect(timesOf(found)).toEqual([3]);
    expect([...found.unfit]).toEqual([['future', 1]]);
  });

  test('a bin that changed after it arrived is counted, and not sent again', () => {
    const { cursor } = news([at(3, 1), at(2, 5)], NONE);
    const found = news([at(3, 7), at(2, 5), at(1, 5)], cursor);
    expect(timesOf(found)).toEqual([2]);
    expect([...found.unfit]).toEqual([['changed', 1]]);
    expect(news([at(3, 1), at(2, 5), at(1, 5)], cursor).unfit.size).toBe(0);
  });

  test('a point without a time is of now, and no history', () => {
    expect(news([{ name: 'a', labels: {}, value: 1 }], NONE)).toMatchObject({ count: 0 });
  });
});

test('labels are sorted by name, and empty ones are left out', () => {
  const point = { name: 'm', labels: { z: '1', a: '', B: '2' }, value: 1, at: NOW / 1000 - 900 };
  expect(news([point], NONE, { labels: { job: 'j' } }).series[0]?.labels).toEqual([
    ['B', '2'],
    ['__name__', 'm'],
    ['job', 'j'],
    ['z', '1'],
  ]);
});

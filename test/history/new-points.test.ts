import { describe, expect, test } from 'vitest';
import { newPoints, WHOLE_AFTER_MS } from '../../src/history/new-points.ts';

const NOW = 1_000_000_000;
const at = (minutes: number, value: number, name = 'a') => ({ name, labels: {}, value, at: NOW / 1000 - 60 * minutes });
const timesOf = (news: ReturnType<typeof newPoints>) =>
  news.series.flatMap(({ times }) => times.map((time) => (NOW - time) / 60_000));

test('what is newer than the cursor is news, oldest first, and the newest bin waits for the next one', () => {
  const cursor = { at: NOW - 4 * 60_000, sum: undefined };
  const news = newPoints([at(2, 1), at(5, 9), at(3, 2), at(4, 3), at(1, 4)], cursor, NOW);
  expect(timesOf(news)).toEqual([3, 2]);
  expect(news.cursor?.at).toBe(NOW - 2 * 60_000);
  expect([news.count, news.oldest]).toEqual([2, NOW - 5 * 60_000]);
});

test('the newest bin of an appliance that has stopped reporting is whole', () => {
  expect(timesOf(newPoints([at(3, 1)], undefined, NOW))).toEqual([]);
  expect(timesOf(newPoints([at(WHOLE_AFTER_MS / 60_000, 1)], undefined, NOW))).toEqual([10]);
});

describe('bad input', () => {
  test('the first of two points of one time stays, and the other is counted', () => {
    const news = newPoints([at(3, 1), at(3, 2), at(2, 5), at(1, 5)], undefined, NOW);
    expect(news.series[0]?.values).toEqual([1, 5]);
    expect([...news.unfit]).toEqual([['duplicate', 1]]);
  });

  test('a point of the future is not sent and holds nothing up', () => {
    const news = newPoints([at(-60, 1), at(3, 2), at(2, 3)], undefined, NOW);
    expect(timesOf(news)).toEqual([3]);
    expect([...news.unfit]).toEqual([['future', 1]]);
  });

  test('a bin that changed after it arrived is counted, and not sent again', () => {
    const { cursor } = newPoints([at(3, 1), at(2, 5)], undefined, NOW);
    const news = newPoints([at(3, 7), at(2, 5), at(1, 5)], cursor, NOW);
    expect(timesOf(news)).toEqual([2]);
    expect([...news.unfit]).toEqual([['changed', 1]]);
    expect(newPoints([at(3, 1), at(2, 5), at(1, 5)], cursor, NOW).unfit.size).toBe(0);
  });

  test('a point without a time is of now, and no history', () => {
    expect(newPoints([{ name: 'a', labels: {}, value: 1 }], undefined, NOW)).toMatchObject({
      count: 0,
      oldest: undefined,
    });
  });
});

test('labels are sorted by name, and empty ones are left out', () => {
  const point = { name: 'm', labels: { z: '1', a: '', B: '2' }, value: 1, at: NOW / 1000 - 900 };
  expect(newPoints([point], undefined, NOW, { job: 'j' }).series[0]?.labels).toEqual([
    ['B', '2'],
    ['__name__', 'm'],
    ['job', 'j'],
    ['z', '1'],
  ]);
});

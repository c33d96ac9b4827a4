import { expect, test } from 'vitest';
import { faultsOf, type Point, slopeOf } from './figures.ts';

/** A run of an hour in which one figure is a function of the minute. */
function run(of: (minute: number) => Partial<Point>): readonly Point[] {
  const quiet = { residentBytes: 1e8, handles: 12, descriptors: 37, delayP99Ms: 5, delayMaxMs: 20 };
  return Array.from({ length: 61 }, (_, minutes) => ({
    ...{ liveBytes: 27e6, rejections: 0, defects: 0, lines: 10, scrapes: minutes, requests: 2_400 * minutes, minutes },
    ...quiet,
    ...of(minutes),
  }));
}

test('a run in which nothing grows is well, and so is one that only breathes', () => {
  expect(faultsOf(run(() => ({})))).toEqual([]);
  expect(faultsOf(run((minute) => ({ liveBytes: 27e6 + 1e6 * Math.sin(minute) })))).toEqual([]);
});

test('a leak of sixty bytes a request is found, as the one that packing once had', () => {
  expect(faultsOf(run((minute) => ({ liveBytes: 27e6 + 60 * 2_400 * minute })))).toEqual([
    expect.stringMatching(/^memory grew by \d+ bytes, 60 a request$/),
  ]);
});

test.each([
  ['handles', (minute: number) => ({ handles: 12 + 2 * minute })],
  ['open files', (minute: number) => ({ descriptors: 37 + 2 * minute })],
  ['late turns', () => ({ delayP99Ms: 400 })],
  ['rejections', () => ({ rejections: 1 })],
  ['defects', () => ({ defects: 1 })],
])('%s are found', (_, of) => {
  expect(faultsOf(run(of))).toHaveLength(1);
});

test('too little to tell is a fault', () => {
  expect(faultsOf(run(() => ({})).slice(0, 3))).toHaveLength(1);
});

test('the slope of points on a line is that of the line', () => {
  expect(
    slopeOf([
      [0, 1],
      [1, 3],
      [2, 5],
    ]),
  ).toBeCloseTo(2);
});

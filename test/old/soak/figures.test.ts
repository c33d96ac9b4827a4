import { describe, expect, test } from 'vitest';
import { errorsOf, lineThrough, type Point } from './figures.ts';

/** A run of an hour in which one figure is a function of the minute. */
function run(of: (minute: number) => Partial<Point>, length = 61): readonly Point[] {
  const quiet = { residentBytes: 1e8, handles: 12, descriptors: 37, delayP99Ms: 5, delayMaxMs: 20 };
  return Array.from({ length }, (_, minutes) => ({
    liveBytes: 27e6,
    rejections: 0,
    defects: 0,
    lines: 10,
    scrapes: minutes,
    requests: 2_400 * minutes,
    minutes,
    ...quiet,
    changes: 10 * minutes,
    appliances: 30,
    ...of(minutes),
  }));
}

test('a run in which nothing grows is well, and so is one that only breathes', () => {
  expect(errorsOf(run(() => ({})))).toEqual([]);
  expect(errorsOf(run((minute) => ({ liveBytes: 27e6 + 1e6 * Math.sin(minute) })))).toEqual([]);
});

test('a leak of sixty bytes a request is found, as the one that packing once had', () => {
  expect(errorsOf(run((minute) => ({ liveBytes: 27e6 + 60 * 2_400 * minute })))).toEqual([
    expect.stringMatching(/^memory grew by \d+ bytes, 60 a request$/),
    expect.stringMatching(/^memory grows by \d+ bytes an hour/),
  ]);
});

test.each([
  ['handles', (minute: number) => ({ handles: 12 + 2 * minute })],
  ['open files', (minute: number) => ({ descriptors: 37 + 2 * minute })],
  ['late turns', () => ({ delayP99Ms: 400 })],
  ['rejections', () => ({ rejections: 1 })],
  ['defects', () => ({ defects: 1 })],
])('%s are found', (_, of) => {
  expect(errorsOf(run(of))).toHaveLength(1);
});

test('too little to tell is a fault', () => {
  expect(errorsOf(run(() => ({})).slice(0, 3))).toHaveLength(1);
});

describe('an hour of a fleet that changes, with outages in which its data is withdrawn', () => {
  /** With so many bytes an hour more than there should be. */
  const hour = (more: number) =>
    run((minute) => {
      const appliances = 28 + Math.round(8 * Math.sin(minute / 10));
      const withdrawn = minute > 50 && minute < 53 ? 8e6 : 0;
      return {
        appliances,
        liveBytes: 28e6 + 1.2e5 * appliances + 2e5 * Math.sin(minute) - withdrawn + (more * minute) / 60,
      };
    });

  test('is well', () => {
    expect(errorsOf(hour(0))).toEqual([]);
  });

  test('would not be with 3 MB an hour more, whatever leaked them', () => {
    expect(errorsOf(hour(3e6))).toEqual([
      expect.stringMatching(/^memory grows by \d+ bytes an hour, give or take \d+$/),
    ]);
  });
});

test('what breathes for many minutes at a time is no slope', () => {
  expect(errorsOf(run((minute) => ({ liveBytes: 27e6 + 1.5e6 * Math.sin(minute / 5) })))).toEqual([]);
});

test('a minute is too short to tell a slope', () => {
  const minute = run((at) => ({ liveBytes: 27e6 + 1e5 * at })).map((point) => ({
    ...point,
    minutes: point.minutes / 60,
  }));
  expect(errorsOf(minute)).toEqual([]);
});

test('one line for each thing that happens is well, and one for each request is not', () => {
  expect(errorsOf(run((minute) => ({ lines: 10 + 20 * minute })))).toEqual([]);
  expect(errorsOf(run((minute) => ({ lines: 2_400 * minute })))).toEqual(['144000 log lines for 600 changes']);
});

describe('the line through points', () => {
  test('has the slope of points on a line, without an error', () => {
    const { slope, error } = lineThrough([
      [0, 1],
      [1, 3],
      [2, 5],
    ]);
    expect(slope).toBeCloseTo(2);
    expect(error).toBeCloseTo(0);
  });

  test('is less sure where neighbours are alike', () => {
    const points = (of: (x: number) => number) => Array.from({ length: 40 }, (_, x) => [x, of(x)] as const);
    const apart = lineThrough(points((x) => (x % 2 === 0 ? 1 : -1)));
    const alike = lineThrough(points((x) => (x % 20 < 10 ? 1 : -1)));
    expect(alike.error).toBeGreaterThan(2 * apart.error);
  });
});

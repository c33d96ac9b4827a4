import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/demo/seeded-random.ts';
import { runToEnd } from '../../../src/runtime/slices.ts';
import { estimateMemory, MAX_DEPTH } from '../../../src/transport/json/memory-estimate.ts';
import fc from '../../support/fast-check.ts';

function cost(document: string, most = Number.POSITIVE_INFINITY) {
  return runToEnd(estimateMemory([Buffer.from(document)], most));
}

/** A list of so many values. */
function listOf(count: number, value: string): string {
  return `[${Array.from({ length: count }, () => value).join(',')}]`;
}

/** What a document weighs: the least that it may take and fit. */
function weightOf(document: string): number {
  let [light, heavy] = [0, 100 * document.length + 1_000];
  while (heavy - light > 1) {
    const middle = Math.floor((light + heavy) / 2);
    if (cost(document, middle) === 'fits') heavy = middle;
    else light = middle;
  }
  return heavy;
}

describe('what a document takes', () => {
  test.each(['{}', '[]', '0', '"a"', 'null', '{"a":1}'])('grows with how many there are of %s', (value) => {
    const [one, two] = [weightOf(listOf(1_000, value)), weightOf(listOf(2_000, value))];
    expect((two - one) / 1_000).toBeGreaterThan(10);
    expect(two / one).toBeGreaterThan(1.95);
  });

  /** Objects with so many keys each, which `keyOf` chooses. */
  const objects = (count: number, each: number, keyOf: (object: number, key: number) => string) =>
    `[${Array.from({ length: count }, (_, object) => {
      const members = Array.from({ length: each }, (_, key) => `"${keyOf(object, key)}":1`);
      return `{${members.join(',')}}`;
    }).join(',')}]`;
  const random = seededRandom(1);
  const named = (key: number) => String(key).padStart(8, 'k');

  /* Measured in V8 of Node 20 by the heap, after collecting: bytes for each of the elements. */
  test.each([
    ['objects of one key that occurs nowhere else', objects(5_000, 1, named), 5_000, 184],
    ['objects of a hundred such keys', objects(50, 100, (object, key) => named(100 * object + key)), 5_000, 136],
    ['an object of thousands of keys', objects(1, 5_000, (_, key) => named(key)), 5_000, 87],
    ['objects of hundreds of keys that they share', objects(50, 900, (_, key) => named(key)), 45_000, 54],
    [
      'objects of eight of a few keys, in every order',
      objects(5_000, 8, () => `k${Math.trunc(random() * 40)}`),
      5_000,
      690,
    ],
    ['objects of one number as a key', objects(5_000, 1, (object) => String(object % 100)), 5_000, 212],
    ['objects of one number as a key, written as \\u', objects(5_000, 1, () => '\\u0037'), 5_000, 212],
    ['fractions', listOf(5_000, '1.5'), 5_000, 25],
  ])('is at least what V8 takes for %s', (_, document, count, bytes) => {
    expect(weightOf(document) / count).toBeGreaterThan(bytes);
  });

  test('is at most five times the size of a usual answer', () => {
    const record = '{"time":1772445300000,"cpu_usage":"17.25"}';
    expect(weightOf(listOf(1_000, record)) / 1_000).toBeLessThan(5 * record.length);
  });

  test('does not count what stands in texts', () => {
    const inText = `["${'{[,:'.repeat(1_000)}\\"${'{[,:'.repeat(1_000)}"]`;
    expect(weightOf(inText)).toBeLessThan(1.1 * inText.length);
  });

  test('is the same in whatever pieces it comes', () => {
    const document = `{"items":[${listOf(50, '{"a\\\\":"b\\"[{","c":[1,2]}')},"${'ü'.repeat(50)}"]}`;
    const whole = Buffer.from(document);
    const most = weightOf(document);
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length), { maxLength: 8 }), (cuts) => {
        const ends = [...cuts.toSorted((a, b) => a - b), whole.length];
        const pieces = ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
        expect(runToEnd(estimateMemory(pieces, most))).toBe('fits');
        expect(runToEnd(estimateMemory(pieces, most - 1))).toBe('heavy');
      }),
      { numRuns: 200 },
    );
  });
});

describe('whatever memory there is', () => {
  test('nothing is read of what is nested deeper than so many levels', () => {
    const within = (levels: number, inner: string) => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
    expect(cost(within(100_000, '1'))).toBe('deep');
    expect(cost('['.repeat(1_000_000))).toBe('deep');
    const long = listOf(1_000_000, '0');
    expect(cost(within(MAX_DEPTH - 1, long))).toBe('fits');
    expect(cost(within(MAX_DEPTH, long))).toBe('deep');
  });

  test('no object has more members than V8 puts in order in one turn, however many objects there are', () => {
    const objectOf = (count: number) => `{${Array.from({ length: count }, (_, index) => `"${index}":1`).join(',')}}`;
    expect(cost(objectOf(100_000))).toBe('fits');
    expect(cost(objectOf(100_001))).toBe('heavy');
    expect(cost(`[${objectOf(60_000)},${objectOf(60_000)}]`)).toBe('fits');
    expect(cost(`{"a":${objectOf(60_000)},"b":${objectOf(60_000)}}`)).toBe('fits');
  });

  test.each([
    ['a text', (length: number) => `["${'a'.repeat(length)}"]`],
    ['a number', (length: number) => `[${'1'.repeat(length)}]`],
    ['a blank', (length: number) => `[${' '.repeat(length)}]`],
  ])('%s of megabytes is none', (_, of) => {
    expect(cost(of(1_000_000))).toBe('fits');
    expect(cost(of(1_500_000))).toBe('heavy');
  });
});

test('it gives up as soon as it knows', () => {
  const work = estimateMemory(
    (function* () {
      yield Buffer.from('[{},{},');
      throw new Error('the next piece was looked at');
    })(),
    50,
  );
  expect(runToEnd(work)).toBe('heavy');
});

test('a large document is interrupted every few thousandths of it', () => {
  const work = estimateMemory([Buffer.alloc(10_000_000, '1,')], Number.POSITIVE_INFINITY);
  let steps = 0;
  while (!work.next().done) steps += 1;
  expect(steps).toBeGreaterThan(70);
});

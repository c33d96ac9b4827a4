import { describe, expect, test } from 'vitest';
import { runToEnd } from '../../src/runtime/slices.ts';
import { decode, encode, StateFault } from '../../src/state/format.ts';
import fc from '../support/fast-check.ts';

const written = (values: readonly unknown[]) => Buffer.concat([...runToEnd(encode(values))]);
const read = (content: Buffer) => runToEnd(decode(content));

describe('the state file', () => {
  test('gives back what it was given, whatever it is', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (values) => {
        // Through JSON, which knows no negative zero.
        expect(read(written(values))).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });

  test('is refused when any byte of it has changed, or its end is missing', () => {
    const whole = written([
      { pair: ['f1', 'v1'], sum: 12.5 },
      { pair: ['f2', 'v1'], sum: 1 },
    ]);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const damaged = Buffer.from(whole);
        damaged[place] = (damaged[place] ?? 0) ^ change;
        expect(() => read(damaged)).toThrow(StateFault);
        expect(() => read(whole.subarray(0, place))).toThrow(StateFault);
      }),
    );
  });

  test.each([
    ['nothing', ''],
    ['blank lines', '\n\n'],
    ['something else', 'GFA_URL=https://example.com\n'],
    ['the JSON of another program', '{"program":"other","version":1}\n'],
    ['a JSON null', 'null\n'],
  ])('that holds %s is refused', (_, content) => {
    expect(() => read(Buffer.from(content))).toThrow(/^(?:not a state file|corrupted)/);
  });

  test('of a newer version is refused, and says so', () => {
    const newer = written([1]).toString().replace('"version":2', '"version":3');
    expect(() => read(Buffer.from(newer))).toThrow('its version 3 is newer than this program');
  });

  test('is made and read in steps, a line at a time', () => {
    const steps = [...encode(Array.from({ length: 1_000 }, (_, index) => ({ index })))];
    expect(steps).toHaveLength(1_000);
  });
});

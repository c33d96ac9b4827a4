import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/demo/seeded-random.ts';
import { hash32, systemRandom, unitHash } from '../../src/runtime/random.ts';
import fc from '../support/fast-check.ts';

/** How many of the values fall into each tenth. */
function tenths(values: readonly number[]): number[] {
  const counts = Array<number>(10).fill(0);
  for (const value of values) counts[Math.floor(value * 10)] = (counts[Math.floor(value * 10)] ?? 0) + 1;
  return counts;
}

describe('the place of a name', () => {
  test('is the same on every machine and in every version', () => {
    expect(['', 'a', 'portal/inventory', 'gfa/data', '\ud83d\ude00'].map(hash32)).toMatchInlineSnapshot(`
      [
        2872998923,
        444641715,
        4100563008,
        952589028,
        1787143206,
      ]
    `);
  });

  test('is from 0 to below 1, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        expect(unitHash(name)).toBeGreaterThanOrEqual(0);
        expect(unitHash(name)).toBeLessThan(1);
        expect(unitHash(name)).toBe(unitHash(name));
      }),
    );
  });

  test('spreads names that differ in a number only', () => {
    const places = Array.from({ length: 10_000 }, (_, index) => unitHash(`portal/appliance-${index}/cpu_utilization`));
    for (const count of tenths(places)) expect(Math.abs(count - 1_000)).toBeLessThan(150);
    expect(new Set(places).size).toBeGreaterThan(9_990);
  });
});

describe('randomness', () => {
  test('of one seed is one sequence, evenly spread', () => {
    const draw = (seed: number) => {
      const random = seededRandom(seed);
      return Array.from({ length: 10_000 }, () => random());
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7).slice(0, 5)).not.toEqual(draw(8).slice(0, 5));
    for (const count of tenths(draw(7))) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  test('of the machine is from 0 to below 1', () => {
    const drawn = Array.from({ length: 1_000 }, systemRandom);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
    expect(new Set(drawn).size).toBeGreaterThan(990);
  });
});

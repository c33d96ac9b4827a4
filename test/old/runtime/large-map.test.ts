import { expect, test } from 'vitest';
import { LargeMap } from '../../src/runtime/large-map.ts';
import { unitHash } from '../../src/runtime/random.ts';
import fc from '../support/fast-check.ts';

test('a large map has the entries of a map, whatever was set and deleted before', () => {
  const step = fc.record({ key: fc.nat(200).map(String), value: fc.nat(), isDeleted: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const large = new LargeMap<string, number>(unitHash);
      const model = new Map<string, number>();
      for (const { key, value, isDeleted } of steps) {
        for (const map of [large, model]) {
          if (isDeleted) map.delete(key);
          else map.set(key, value);
        }
        expect([large.size, large.has(key), large.get(key)]).toEqual([model.size, model.has(key), model.get(key)]);
      }
      expect([...large.keys()].sort()).toEqual([...model.keys()].sort());
      expect(new Map(large.entries())).toEqual(model);
    }),
  );
});

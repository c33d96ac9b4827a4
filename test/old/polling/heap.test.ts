import { expect, test } from 'vitest';
import { Heap } from '../../src/polling/heap.ts';
import fc from '../support/fast-check.ts';

test('gives its items in the order of their keys, whatever was moved or removed before', () => {
  const step = fc.record({ item: fc.nat(20), key: fc.integer(), isRemoved: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const heap = new Heap<number>();
      const model = new Map<number, number>();
      for (const { item, key, isRemoved } of steps) {
        if (isRemoved) {
          heap.delete(item);
          model.delete(item);
        } else {
          heap.set(item, key);
          model.set(item, key);
        }
        expect(heap.keyOf(item)).toBe(model.get(item));
        expect(heap.firstKey).toBe(Math.min(Number.POSITIVE_INFINITY, ...model.values()));
      }
      const keys: number[] = [];
      for (let first = heap.first; first !== undefined; first = heap.first) {
        keys.push(heap.firstKey);
        heap.delete(first);
      }
      expect(keys).toEqual([...model.values()].sort((key, other) => key - other));
    }),
  );
});

test('moves at most fifty tasks to poll one of 30,000 and put it back', () => {
  let moves = 0;
  const places = new Map<number, number>();
  const heap = new Heap<number>({
    get: (item) => places.get(item),
    set: (item, place) => {
      moves += 1;
      places.set(item, place);
    },
    delete: (item) => places.delete(item),
  });
  for (let item = 0; item < 30_000; item += 1) heap.set(item, (item * 7_919) % 300_007);
  moves = 0;
  for (let poll = 0; poll < 30_000; poll += 1) {
    const { first = 0, firstKey } = heap;
    heap.delete(first);
    heap.set(first, firstKey + 300_000);
  }
  expect(moves / 30_000).toBeLessThan(50);
});

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
        expect([heap.size, heap.keyOf(item)]).toEqual([model.size, model.get(item)]);
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

test('compares at most fifty keys to poll one of 30,000 tasks and put it back', () => {
  let comparisons = 0;
  const heap = new Heap<number>(new Map(), (key, other) => {
    comparisons += 1;
    return key < other;
  });
  for (let item = 0; item < 30_000; item += 1) heap.set(item, (item * 7_919) % 300_007);
  comparisons = 0;
  for (let poll = 0; poll < 30_000; poll += 1) {
    const { first = 0, firstKey } = heap;
    heap.delete(first);
    heap.set(first, firstKey + 300_000);
  }
  expect(comparisons / 30_000).toBeLessThan(50);
});

import { expect, test } from 'vitest';
import { Heap } from '../../src/polling/heap.ts';
import fc from '../support/fast-check.ts';

test('an empty heap has nothing', () => {
  const heap = new Heap();
  expect([heap.first, heap.pop(), heap.pop()]).toEqual([undefined, undefined, undefined]);
});

test('items come out in the order in which they are due, each once', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true })), (times) => {
      const items = times.map((due) => ({ due }));
      const heap = new Heap<{ due: number }>();
      for (const item of items) heap.push(item);
      const popped = items.map(() => heap.pop());
      expect(popped.map((item) => item?.due)).toEqual(
        [...times].sort((a, b) => a - b).map((due) => (due === 0 ? expect.closeTo(0) : due)),
      );
      expect(new Set(popped)).toEqual(new Set(items));
      expect(heap.pop()).toBeUndefined();
    }),
  );
});

test('whatever is pushed and popped in between, the first is the smallest', () => {
  const command = fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(command), (commands) => {
      const heap = new Heap<{ due: number }>();
      const naive: number[] = [];
      for (const due of commands) {
        if (due === undefined) expect(heap.pop()?.due).toBe(naive.shift());
        else {
          heap.push({ due });
          naive.push(due);
          naive.sort((a, b) => a - b);
        }
        expect(heap.first?.due).toBe(naive[0]);
      }
    }),
  );
});

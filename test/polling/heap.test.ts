import { expect, test } from 'vitest';
import { Heap } from '../../src/polling/heap.ts';
import fc from '../support/fast-check.ts';

test('an empty heap has nothing', () => {
  const heap = new Heap<string>();
  expect([heap.size, heap.first, heap.firstKey, heap.pop()]).toEqual([0, undefined, undefined, undefined]);
});

test('items come out in the order of their keys, each once', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true })), (keys) => {
      const heap = new Heap<number>();
      for (const key of keys) heap.push(key, key);
      const popped = keys.map(() => heap.pop());
      expect(popped).toEqual([...keys].sort((a, b) => a - b).map((key) => (key === 0 ? expect.closeTo(0) : key)));
      expect(heap.size).toBe(0);
    }),
  );
});

test('whatever is pushed and popped in between, the first is the smallest', () => {
  const command = fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(command), (commands) => {
      const heap = new Heap<number>();
      const naive: number[] = [];
      for (const key of commands) {
        if (key === undefined) expect(heap.pop()).toBe(naive.shift());
        else {
          heap.push(key, key);
          naive.push(key);
          naive.sort((a, b) => a - b);
        }
        expect([heap.firstKey, heap.first, heap.size]).toEqual([naive[0], naive[0], naive.length]);
      }
    }),
  );
});

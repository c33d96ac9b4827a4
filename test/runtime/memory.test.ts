import { expect, test } from 'vitest';
import { usableHeapBytes } from '../../src/runtime/memory.ts';

const MIB = 1024 * 1024;

test.each([
  ['in a container of 128 MiB is half of that, whatever V8 believes', 259, 128, 64],
  ['in a container that is large is what V8 allows', 259, 4_096, 259],
  ['where V8 is told a smaller limit is that', 64, 4_096, 64],
  ['where no limit is known is what V8 allows', 259, 0, 259],
  ['where the system cannot tell is what V8 allows', 259, undefined, 259],
])('the heap %s', (_, heap, container, usable) => {
  const containerBytes = container === undefined ? undefined : container * MIB;
  expect(usableHeapBytes({ heapLimitBytes: heap * MIB, containerBytes })).toBe(usable * MIB);
});

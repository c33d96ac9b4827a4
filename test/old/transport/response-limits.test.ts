import { describe, expect, test } from 'vitest';
import { runToEnd } from '../../src/runtime/slices.ts';
import { estimateMemory } from '../../src/transport/json/memory-estimate.ts';
import { type ResponseSize, responseLimits } from '../../src/transport/response-limits.ts';

const MIB = 1024 * 1024;
const MAX_RESPONSE_BYTES = 32 * MIB;

function limits(size: ResponseSize, heapMib: number, maxBytes = MAX_RESPONSE_BYTES, concurrency = 8) {
  return responseLimits({ heapBytes: heapMib * MIB, maxBytes, concurrency }, size);
}

describe('in a container of 128 MiB, where V8 has 64', () => {
  test('[answer-shares] everything that can be in flight at once takes less than half of it', () => {
    const weights = [
      limits('account', 64).parsedBytes,
      // Both kinds of serials, the edges of this round and those of the last.
      ...Array.from({ length: 4 }, () => limits('inventory', 64).parsedBytes),
      limits('list', 64).parsedBytes,
      ...Array.from({ length: 8 }, () => limits('object', 64).parsedBytes),
    ];
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeLessThan(32 * MIB);
  });

  test('however many requests may be in flight, those about one thing share the same memory', () => {
    const [few, many] = [8, 64].map((concurrency) => limits('object', 64, MAX_RESPONSE_BYTES, concurrency));
    expect(many?.parsedBytes).toBe((few?.parsedBytes ?? 0) / 8);
    expect(many?.bytes).toBe((few?.bytes ?? 0) / 8);
  });

  test('a series has room for a day by the minute', () => {
    const items = Array.from({ length: 1_440 }, (_, minute) => ({
      time: 1.7e12 + minute,
      read_latency: '0.25',
      write_latency: null,
    }));
    const { bytes, parsedBytes } = limits('object', 64);
    const body = Buffer.from(JSON.stringify({ items }));
    expect(body.length).toBeLessThan(bytes);
    expect(runToEnd(estimateMemory([body], parsedBytes))).toBe('fits');
  });
});

/* What the demo's mock services answer, with five volumes on each appliance: mebibytes of the body and of its weight. */
test.each<[number, number, ResponseSize, string, number, number]>([
  [100, 64, 'list', 'volume_connections', 0.22, 0.66],
  [100, 64, 'account', 'data', 1.65, 5.12],
  [500, 256, 'account', 'data', 8.3, 25.7],
  [2_000, 256, 'inventory', 'edges', 0.46, 1.5],
  [2_000, 256, 'list', 'volume_connections', 4.27, 12.78],
])(
  'a fleet of %d appliances with a heap of %d MiB has the room of %s for %s',
  (_, heapMib, name, _what, bytes, weight) => {
    expect(limits(name, heapMib).bytes / MIB).toBeGreaterThan(1.2 * bytes);
    expect(limits(name, heapMib).parsedBytes / MIB).toBeGreaterThan(1.2 * weight);
  },
);

describe('with the heap that V8 takes on a machine of 4 GiB', () => {
  test.each<[ResponseSize]>([['account'], ['inventory'], ['list']])(
    '%s may be as large as MAX_RESPONSE_BYTES says',
    (size) => {
      expect(limits(size, 2_048)).toMatchObject({ bytes: MAX_RESPONSE_BYTES, isByMemory: false });
    },
  );

  test('an answer about one thing is no heavier than can be read in one turn', () => {
    expect(limits('object', 2_048).parsedBytes).toBe(16 * MIB);
    expect(limits('object', 100_000).parsedBytes).toBe(16 * MIB);
  });
});

test('MAX_RESPONSE_BYTES is the limit where it is the smaller one, and says so', () => {
  for (const name of ['account', 'inventory', 'object'] as const) {
    expect(limits(name, 64, 1_000)).toMatchObject({ bytes: 1_000, isByMemory: false });
    expect(limits(name, 64)).toMatchObject({ isByMemory: true });
  }
});

import { describe, expect, test } from 'vitest';
import { atOnce } from '../../src/runtime/slices.ts';
import { FURTHER_SERIES, STANDARD_SERIES } from '../../src/sources/portal/appliances/operations.ts';
import { answerLimits } from '../../src/transport/answer-limits.ts';
import { burdenOf } from '../../src/transport/json/cost.ts';
import { collectorAnswers, recorded } from '../support/recorded-answers.ts';

const MIB = 1024 * 1024;
const MAX_RESPONSE_BYTES = 32 * MIB;

function limits(operation: string, heapMib: number, maxBytes = MAX_RESPONSE_BYTES, concurrency = 8) {
  return answerLimits({ heapBytes: heapMib * MIB, maxBytes, concurrency }, operation);
}

const LISTS = ['serials', 'edges', 'volume_connections'];

describe('in a container of 128 MiB, where V8 has 64', () => {
  test('everything that can be in flight at once takes less than half of it', () => {
    const weights = [
      limits('data', 64).weight,
      // Both kinds of serials, the edges of this round and those of the last.
      ...['serials', 'serials', 'edges', 'edges', 'volume_connections'].map((name) => limits(name, 64).weight),
      ...Array.from({ length: 8 }, () => limits('cpu_utilization', 64).weight),
    ];
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeLessThan(32 * MIB);
  });

  test('however many requests may be in flight, those about one thing share the same memory', () => {
    const [few, many] = [8, 64].map((concurrency) => limits('cpu_utilization', 64, MAX_RESPONSE_BYTES, concurrency));
    expect(many?.weight).toBe((few?.weight ?? 0) / 8);
    expect(many?.bytes).toBe((few?.bytes ?? 0) / 8);
  });

  test('a series has room for a day by the minute', () => {
    const items = Array.from({ length: 1_440 }, (_, minute) => ({
      time: 1.7e12 + minute,
      read_latency: '0.25',
      write_latency: null,
    }));
    const { bytes, weight } = limits('cache_disk_io_latency', 64);
    const body = Buffer.from(JSON.stringify({ items }));
    expect(body.length).toBeLessThan(bytes);
    expect(atOnce(burdenOf([body], weight))).toBe('fits');
  });
});

/** What the demo's stand-in answers, with five volumes on each appliance: the operation, mebibytes of the body and of its weight. */
describe.each<[number, number, [string, number, number][]]>([
  [
    100,
    64,
    [
      ['serials', 0.02, 0.05],
      ['edges', 0.03, 0.07],
      ['volume_connections', 0.22, 0.54],
      ['data', 1.65, 4.26],
    ],
  ],
  [
    500,
    256,
    [
      ['serials', 0.1, 0.3],
      ['edges', 0.15, 0.4],
      ['volume_connections', 1.1, 2.7],
      ['data', 8.3, 21.3],
    ],
  ],
  [
    2_000,
    256,
    [
      ['serials', 0.36, 0.96],
      ['edges', 0.46, 1.22],
      ['volume_connections', 4.27, 10.51],
    ],
  ],
])('a fleet of %d appliances with a heap of %d MiB', (_, heapMib, answers) => {
  test.each(answers)('has room for %s', (name, bytes, weight) => {
    expect(limits(name, heapMib).bytes / MIB).toBeGreaterThan(1.2 * bytes);
    expect(limits(name, heapMib).weight / MIB).toBeGreaterThan(1.2 * weight);
  });
});

describe('with the heap that V8 takes on a machine of 4 GiB', () => {
  test.each(['data', ...LISTS])('%s may be as large as MAX_RESPONSE_BYTES says', (name) => {
    expect(limits(name, 2_048)).toMatchObject({ bytes: MAX_RESPONSE_BYTES, isByMemory: false });
  });

  test.each([...STANDARD_SERIES, ...FURTHER_SERIES, 'token'])(
    '%s is no heavier than can be read in one turn',
    (name) => {
      expect(limits(name, 2_048).weight).toBe(16 * MIB);
      expect(limits(name, 100_000).weight).toBe(16 * MIB);
    },
  );
});

test('MAX_RESPONSE_BYTES is the limit where it is the smaller one, and says so', () => {
  for (const name of ['data', 'edges', 'token']) {
    expect(limits(name, 64, 1_000)).toMatchObject({ bytes: 1_000, isByMemory: false });
    expect(limits(name, 64)).toMatchObject({ isByMemory: true });
  }
});

test('a limit is not taken from the language’s own names', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) expect(limits(name, 64)).toEqual(limits('token', 64));
});

test('every operation of a collector that answers with a list has the room of one', () => {
  const lists = Object.values(collectorAnswers)
    .flat()
    .map(([, fixture]) => fixture)
    .filter((fixture) => 'items' in Object(recorded(`portal/${fixture}`)));
  expect(lists.length).toBeGreaterThan(10);
  for (const name of lists) expect([name, limits(name, 64)]).toEqual([name, limits('volume_connections', 64)]);
});

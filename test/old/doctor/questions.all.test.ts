import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/demo/seeded-random.ts';
import { type Condition, visit } from './simulated-visit.ts';

/** An alternative of the documentation's open questions, and the answer that the doctor gives. */
const alternatives: readonly (readonly [
  variations: Condition['variations'],
  answers: Readonly<Record<string, string>>,
])[] = [
  [{ metricsShape: 'object' }, { metrics_shape: 'object' }],
  [{ metricsShape: 'split' }, { metrics_shape: 'several_objects' }],
  [{ delivery: 'overlapping' }, { delivery: 'overlapping' }],
  [{ delivery: 'full' }, { delivery: 'window' }],
  [{ switchedOff: 'missing' }, { switched_off_group: 'missing' }],
  [{ freshHistoryMs: 10 * 3_600_000 }, { new_key_reach: 'a_day' }],
  [{ ratioUnit: 'ratio' }, { ratio_unit: 'ratio' }],
  [{ memoryUnit: 'bytes' }, { memory_unit: 'bytes' }],
  [{ timeUnit: 'seconds' }, { time_unit: 'seconds' }],
  [{ latencyUnit: 'seconds' }, { latency_unit: 'seconds' }],
  [{ counts: 'second' }, { counts: 'per_second' }],
  [{ binSize: 'ignored' }, { bin_size: 'ignored' }],
  [{ newestNull: true }, { newest_bin: 'null' }],
  [{ longestPeriodMs: 8 * 86_400_000 }, { longest_period: 'P7D' }],
  [{ expiresIn: 300 }, { token_lifetime_source: 'expires_in', token_lifetime: 'below_10_minutes' }],
  [{ jwt: 'none', expiresIn: null }, { token_lifetime_source: 'nothing' }],
  [{ expiresIn: 604_800 }, { token_lifetime: 'more_than_a_day' }],
  [{ loadNames: '15min' }, { load_names: 'minutes_in_digits' }],
  [{ loadNames: 'longterm' }, { load_names: 'longterm' }],
  [{ memoryMismatch: '422' }, { unfit_memory_series: '422' }],
  [{ memoryMismatch: '404' }, { unfit_memory_series: '404' }],
  [{ connectionIds: 'serial' }, { connection_appliance_id: 'serial' }],
];

describe('the doctor on an account that answers an open question otherwise', () => {
  test.for(alternatives)('%o', async ([variations, answers]) => {
    const { answers: told, complaints } = await visit({ variations: variations ?? {} });
    expect(told).toMatchObject(answers);
    expect(complaints.filter((line) => line.startsWith('failure'))).toEqual([]);
  });
});

/** Alternatives put together: of each question at most one, drawn by a fixed seed. */
function combination(seed: number): {
  readonly variations: object;
  readonly answers: Readonly<Record<string, string>>;
} {
  const random = seededRandom(seed);
  const taken = alternatives.filter(() => random() < 0.4);
  return {
    variations: Object.assign({}, ...taken.map(([variations]) => variations)),
    // A later alternative of the same question holds.
    answers: Object.assign({}, ...taken.map(([, answers]) => answers)),
  };
}

describe('the doctor on an account that answers several open questions otherwise', () => {
  test.for([1, 2])('combination %i', async (seed) => {
    const { variations, answers } = combination(seed);
    const { answers: told, complaints } = await visit({ variations });
    // Where every bin is a minute, nothing tells sums from means.
    const { counts, ...others } = answers;
    expect(told).toMatchObject(told.bin_size === 'ignored' || counts === undefined ? others : answers);
    expect(complaints.filter((line) => line.startsWith('failure'))).toEqual([]);
  });
});

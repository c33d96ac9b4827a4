import { expect, test } from 'vitest';
import { simulatedLimits } from '../../../bench/simulated-limits.ts';

const results = simulatedLimits();

test('95 % of every constant limit are used, and 85 % of limits that change or that another tool shares', () => {
  expect(results).toHaveLength(18);
  for (const { name, isConstant, used } of results) expect(used, name).toBeGreaterThan(isConstant ? 0.95 : 0.85);
});

test('at most 2 % of the requests are rejected, and none is sent before a Retry-After is over', () => {
  for (const { name, rejected, sentTooEarly } of results) {
    expect(rejected, name).toBeLessThan(0.02);
    expect(sentTooEarly, name).toBe(0);
  }
});

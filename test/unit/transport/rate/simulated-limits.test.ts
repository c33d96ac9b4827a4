import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { simulatedLimits } from './unknown-limits.ts';

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

test('the README of the folder shows the results', () => {
  const page = readFileSync(new URL('../../../../src/transport/rate/README.md', import.meta.url), 'utf8');
  const percent = (share: number, digits: number) => (share * 100).toFixed(digits);
  const rows = results.map(
    ({ name, hasRetryAfter, used, rejected }) =>
      `| ${name} | ${hasRetryAfter ? 'yes' : 'no'} | ${percent(used, 1)} | ${percent(rejected, 2)} |\n`,
  );
  expect(page).toContain(rows.join(''));
});

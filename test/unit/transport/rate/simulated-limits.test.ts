import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { simulatedLimits } from './unknown-limits.ts';

const results = simulatedLimits();

test('95 % of every constant limit are used, and 85 % of limits that change or that another tool shares; 2 % are rejected at most', () => {
  expect(results).toHaveLength(18);
  for (const { name, isConstant, used, rejected } of results) {
    expect(used, name).toBeGreaterThan(isConstant ? 0.95 : 0.85);
    expect(rejected, name).toBeLessThan(0.02);
  }
});

test('the README of the folder shows the results', () => {
  const page = readFileSync(new URL('../../../../src/transport/rate/README.md', import.meta.url), 'utf8');
  const percent = (share: number, digits: number) => (share * 100).toFixed(digits);
  const rows = results.map(({ name, hasRetryAfter, used, rejected }) =>
    ['', name, hasRetryAfter ? 'yes' : 'no', percent(used, 1), percent(rejected, 2), ''].join(' | ').trim(),
  );
  expect(page.match(/^\|.*\| (?:yes|no) \|.*$/gm)).toEqual(rows);
});

// Only here: a control law that is worse than the usual ones.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Cell, comparison, comparisonTable } from '../bench/comparison.ts';
import { withPart } from '../support/reference.ts';

const CHANGES = /in turn|shared/;

describe('the control law of the pace', () => {
  let cells: readonly Cell[] = [];
  beforeAll(() => {
    cells = comparison();
  });

  test('gets at least 95 % of every constant limit and is refused at most 2 % of what it asks', () => {
    for (const cell of cells.filter(({ law, limit }) => law === 'measured' && !CHANGES.test(limit))) {
      expect(cell.goodput, cell.limit).toBeGreaterThan(0.95);
      expect(cell.refused, cell.limit).toBeLessThan(0.02);
    }
  });

  test('gets at least 85 % where limits change or another tool takes half', () => {
    for (const cell of cells.filter(({ law, limit }) => law === 'measured' && CHANGES.test(limit))) {
      expect(cell.goodput, cell.limit).toBeGreaterThan(0.85);
      expect(cell.refused, cell.limit).toBeLessThan(0.02);
    }
  });

  test('sends nothing inside a Retry-After, as nobody does who is held by the same pace', () => {
    expect(cells.filter(({ insideHold }) => insideHold > 0)).toEqual([]);
  });

  test('no other law does both on every constant limit', () => {
    const others = new Set(cells.map(({ law }) => law).filter((law) => law !== 'measured'));
    for (const law of others) {
      const constant = cells.filter((cell) => cell.law === law && !CHANGES.test(cell.limit));
      expect(
        constant.every(({ goodput, refused }) => goodput > 0.95 && refused < 0.02),
        law,
      ).toBe(false);
    }
  });

  test('docs/pacing.md shows the comparison as it comes out: `npm run docs` writes it', () => {
    const page = readFileSync(fileURLToPath(new URL('../../docs/pacing.md', import.meta.url)), 'utf8');
    expect(page).toBe(withPart(page, 'comparison', comparisonTable(cells)));
  });
});

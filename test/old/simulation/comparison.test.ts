// Only here: a pace that wastes a limit, or is rejected often.
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

  test('gets at least 95 % of every constant limit and is rejected at most 2 % of what it asks', () => {
    for (const cell of cells.filter(({ limit }) => !CHANGES.test(limit))) {
      expect(cell.goodput, cell.limit).toBeGreaterThan(0.95);
      expect(cell.refused, cell.limit).toBeLessThan(0.02);
    }
  });

  test('gets at least 85 % where limits change or another tool takes half', () => {
    for (const cell of cells.filter(({ limit }) => CHANGES.test(limit))) {
      expect(cell.goodput, cell.limit).toBeGreaterThan(0.85);
      expect(cell.refused, cell.limit).toBeLessThan(0.02);
    }
  });

  test('sends nothing inside a Retry-After', () => {
    expect(cells.filter(({ insideHold }) => insideHold > 0)).toEqual([]);
  });

  test('docs/architecture.md shows it as it comes out: `npm run docs` writes it', () => {
    const page = readFileSync(fileURLToPath(new URL('../../docs/architecture.md', import.meta.url)), 'utf8');
    expect(page).toBe(withPart(page, 'comparison', comparisonTable(cells)));
  });
});

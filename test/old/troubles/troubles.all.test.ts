import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, test, vi } from 'vitest';
import { hasPromtool } from '../deploy/prometheus/promtool.ts';
import { root } from '../support/program.ts';
import { withPart } from '../support/reference.ts';
import { troublesTable } from './page.ts';
import { type Played, play } from './play.ts';
import { pageTroubles, type Trouble } from './rows.ts';

/*
 * Only here a trouble is told in all five places at once: the daemon with its defaults lives through it on a manual clock,
 * the shipped rules read its scrapes, and the doctor visits. `TROUBLES=write` writes docs/failures.md.
 */

vi.setConfig({ testTimeout: 600_000 });

const PAGE = join(root, 'docs', 'failures.md');

const played: (readonly [Trouble, Played])[] = [];

describe.runIf(hasPromtool)('every trouble is told', () => {
  test.each(pageTroubles)('by metric, log, page, alert and doctor: $what', async (trouble) => {
    const told = await play(trouble);
    played.push([trouble, told]);
    expect(Object.entries(told).filter(([, entries]) => entries.length === 0)).toEqual([]);
  });

  test('as docs/failures.md says', () => {
    const page = readFileSync(PAGE, 'utf8');
    const written = withPart(page, 'troubles', troublesTable(played));
    if (process.env.TROUBLES === 'write') writeFileSync(PAGE, written);
    else expect(page).toBe(written);
  });
});

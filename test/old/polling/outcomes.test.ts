import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { NOTHING_KNOWN, observe } from '../../src/polling/task-facts.ts';
import { withPart } from '../support/reference.ts';
import { answered, failed, minutes, records, responded, task } from './fleet.ts';
import { outcomesTable } from './outcomes.ts';

test('docs/architecture.md shows what each outcome does: `npm run docs` writes it', () => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/architecture.md', import.meta.url)), 'utf8');
  expect(page).toBe(withPart(page, 'outcomes', outcomesTable()));
});

test('403, 403 and 200: the series is suspended after the second, and no longer with the first record', () => {
  const context = {
    task: task('a/s', { suspendedIntervalMs: minutes(15) }),
    now: 1,
    at: 1,
    intervalFactor: 1,
    applianceReports: true,
  };
  let facts = NOTHING_KNOWN;
  const suspended: unknown[] = [];
  for (const event of [failed(answered(403), 'denied'), failed(answered(403), 'denied'), responded(records)]) {
    facts = observe(facts, event, context);
    suspended.push(facts.suspended);
  }
  expect(suspended).toEqual([undefined, 'forbidden', undefined]);
});

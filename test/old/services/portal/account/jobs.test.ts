import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/metrics/family.ts';
import { JobLedger } from '../../../../src/services/portal/account/jobs.ts';
import { valuesOf } from '../../../support/exposition-lines.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const DAY_MS = 86_400_000;

function job(id: string, state: unknown, more: object = {}) {
  return { id, resource: 'volume', action: 'rename', state, created_at: '2026-03-02T09:00:00Z', ...more };
}

async function absorb(ledger: JobLedger, ...items: readonly JsonObject[]) {
  return valuesOf(await ledger.add(items, () => {}));
}

const FAILED = 'filer_jobs_finished_total{resource="volume",action="rename",state="failed"}';

describe('a job', async () => {
  test('that ends counts once, however long it stays in the list', async () => {
    const ledger = new JobLedger(new ManualClock(), DAY_MS);
    expect((await absorb(ledger, job('a', 'in_progress')))[FAILED]).toBe(0);
    expect((await absorb(ledger, job('a', 'failed')))[FAILED]).toBe(1);
    expect((await absorb(ledger, job('a', 'failed')))[FAILED]).toBe(1);
  });

  test('that begins and ends between two polls counts as well', async () => {
    const ledger = new JobLedger(new ManualClock(), DAY_MS);
    await absorb(ledger);
    expect((await absorb(ledger, job('a', 'failed', { last_updated_at: '2026-03-02T10:00:01Z' })))[FAILED]).toBe(1);
  });

  test('counts once in its life, whatever lists come in between', async () => {
    const ledger = new JobLedger(new ManualClock(), DAY_MS);
    const past = Array.from({ length: 50 }, (_, index) => job(`past ${index}`, 'failed'));
    await absorb(ledger, ...past);
    await absorb(ledger);
    expect((await absorb(ledger, ...past))[FAILED]).toBe(0);
    const clock = new ManualClock();
    const late = new JobLedger(clock, DAY_MS);
    await absorb(late);
    expect((await absorb(late, ...past))[FAILED]).toBe(0);
    const recent = job('recent', 'failed', { last_updated_at: '2026-03-02T10:00:01Z' });
    for (const jobs of [[recent], [], [recent], [{ ...recent, state: 'in_progress' }], [recent]]) {
      expect((await absorb(late, ...jobs))[FAILED] ?? 1).toBe(1);
      await clock.advance(60_000);
    }
  });

  test('that had ended before the first answer is history', async () => {
    expect((await absorb(new JobLedger(new ManualClock(), DAY_MS), job('a', 'failed')))[FAILED]).toBe(0);
  });

  test('that failed is told until somebody acknowledges it', async () => {
    const ledger = new JobLedger(new ManualClock(), DAY_MS);
    const name = 'filer_jobs_failed_unacknowledged{resource="volume",action="rename"}';
    expect((await absorb(ledger, job('a', 'failed', { user_acknowledged_at: null })))[name]).toBe(1);
    expect((await absorb(ledger, job('a', 'failed', { user_acknowledged_at: '2026-03-02T10:00:00Z' })))[name]).toBe(0);
  });

  test('in a state that nobody has documented is listed as other, and neither open nor over', async () => {
    const values = await absorb(new JobLedger(new ManualClock(), DAY_MS), job('a', 'pondering'), job('b', null));
    expect(values['filer_jobs{resource="volume",action="rename",state="other"}']).toBe(2);
    expect(Object.keys(values).filter((name) => name.startsWith('filer_job_oldest'))).toEqual([]);
  });
});

test('the age of the oldest job that is not over is told by resource, and none when all are', async () => {
  const ledger = new JobLedger(new ManualClock(), DAY_MS);
  const name = 'filer_job_oldest_unfinished_timestamp_seconds{resource="volume"}';
  const older = job('b', 'in_progress', { created_at: '2026-03-02T08:00:00Z' });
  expect((await absorb(ledger, job('a', 'in_progress'), older))[name]).toBe(Date.UTC(2026, 2, 2, 8) / 1000);
  expect((await absorb(ledger, job('a', 'completed'), job('b', 'failed')))[name]).toBeUndefined();
});

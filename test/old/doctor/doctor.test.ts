import { describe, expect, test } from 'vitest';
import { visit } from './simulated-visit.ts';

describe('the doctor on a healthy account', () => {
  test('finds nothing to complain of, and sends no more requests than it said', async () => {
    const { complaints, requests, announced, answers } = await visit({ environment: { PORTAL_COLLECTORS: 'all' } });
    expect(complaints).toEqual([]);
    expect(requests).toBeLessThanOrEqual(announced);
    expect(answers).toMatchObject({ metrics_shape: 'array', ratio_unit: 'percent', counts: 'per_bin' });
  });
});

describe('the doctor on an account in trouble', () => {
  test('says that a web page was the answer', async () => {
    const page = { kind: 'status', status: 503, headers: { 'content-type': 'text/html' }, body: '<html>' } as const;
    const { found } = await visit({ before: (mocks) => mocks.fail(page) });
    const failures = found.findings.filter(({ level }) => level === 'failure');
    expect(failures.map(({ check }) => check)).toEqual(['data', 'token']);
    for (const { observed } of failures) expect(observed).toContain('a web page');
  });
});

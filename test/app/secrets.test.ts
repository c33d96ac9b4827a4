import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { StandIn } from '../../src/demo/stand-in.ts';
import { exporter, gfaEnvironment, portalEnvironment, services, until } from '../support/live.ts';
import { temporaryDirectory } from '../support/program.ts';

describe('the portal’s token', () => {
  test('is renewed before it expires, by one request each time and never by a 401', async () => {
    const standIn = await services({ variations: { tokenLifetimeMs: 10_000 } });
    await exporter(portalEnvironment(standIn));
    await until('three tokens more', () => asked(standIn, 'token') >= 4);
    const at = standIn.requests.filter(({ operation }) => operation === 'token').map(({ at }) => at / 1000);
    for (const [index, moment] of at.entries()) if (index > 0) expect(moment - (at[index - 1] ?? 0)).toBeGreaterThan(6);
    expect(standIn.requests.filter(({ status }) => status === 401)).toEqual([]);
  });
});

describe('a secret in a file', () => {
  test('that is rotated needs no restart: the portal’s', async () => {
    const standIn = await services();
    const file = join(temporaryDirectory(), 'secret');
    writeFileSync(file, `${WRONG}\n`);
    const { PORTAL_SERVICE_SECRET, ...environment } = portalEnvironment(standIn);
    const live = await exporter({ ...environment, PORTAL_SERVICE_SECRET_FILE: file });
    await until('the refusal', () => standIn.requests.some(({ status }) => status === 401));
    expect((await live.scrape()).sum('filer_api_up')).toBe(0);
    writeFileSync(file, `${PORTAL_SERVICE_SECRET}\n`);
    await until('the portal to be up', async () => (await live.scrape()).sum('filer_api_up') === 1);
  });

  test('that is rotated needs no restart: the file acceleration service’s', async () => {
    const standIn = await services();
    const file = join(temporaryDirectory(), 'token');
    writeFileSync(file, `${WRONG}\n`);
    const { GFA_TOKEN, ...environment } = gfaEnvironment(standIn);
    const live = await exporter({ ...environment, GFA_TOKEN_FILE: file });
    await until('the refusal', () => standIn.requests.some(({ status }) => status === 401));
    expect((await live.scrape()).sum('filer_api_up')).toBe(0);
    writeFileSync(file, `${GFA_TOKEN}\n`);
    const refusals = asked(standIn, 'data');
    await until('the service to be up', async () => (await live.scrape()).sum('filer_api_up') === 1);
    // Read again and tried again within one poll, not with the next one.
    expect(
      standIn.requests
        .slice(refusals)
        .map(({ status }) => status)
        .slice(0, 2),
    ).toEqual([401, 200]);
  });
});

/** Of the right form, and nobody's. */
const WRONG = '00000000-0000-4000-8000-000000000000';

function asked(standIn: StandIn, operation: string): number {
  return standIn.requests.filter((request) => request.operation === operation).length;
}

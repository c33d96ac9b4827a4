import { expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { ask, type Heard, start } from './ask.ts';

const health = (mocks: MockServices) => ask('GET', `${mocks.portalUrl}/health`);

async function statuses(mocks: MockServices, count: number): Promise<readonly number[]> {
  const heard: Heard[] = [];
  for (let asked = 0; asked < count; asked += 1) heard.push(await health(mocks));
  return heard.map(({ status }) => status);
}

test('a fixed window opens again at its end', async () => {
  const rateLimit = { kind: 'fixed-window', requests: 2, windowMs: 30_000 } as const;
  const { mocks, clock } = await start({ variations: { rateLimit } });
  await clock.advance(29_000);
  expect(await statuses(mocks, 3)).toEqual([200, 200, 429]);
  expect((await health(mocks)).headers['retry-after']).toBe('1');
  await clock.advance(1_000);
  expect(await statuses(mocks, 3)).toEqual([200, 200, 429]);
});

test('a sliding window opens when its oldest request has left it', async () => {
  const rateLimit = { kind: 'sliding-window', requests: 2, windowMs: 30_000 } as const;
  const { mocks, clock } = await start({ variations: { rateLimit } });
  expect(await statuses(mocks, 1)).toEqual([200]);
  await clock.advance(20_000);
  expect(await statuses(mocks, 2)).toEqual([200, 429]);
  await clock.advance(10_000);
  expect(await statuses(mocks, 2)).toEqual([200, 429]);
});

test('a 429 says when to come back in seconds, as a date, or not at all', async () => {
  const rateLimit = { kind: 'sliding-window', requests: 1, windowMs: 30_000 } as const;
  const { mocks, clock } = await start({ variations: { rateLimit } });
  await health(mocks);
  await clock.advance(500);
  const refused = await health(mocks);
  expect(refused.json).toEqual({ message: 'Too many requests', detail: null });
  expect(refused.headers['retry-after']).toBe('30');
  mocks.vary({ retryAfter: 'date' });
  expect((await health(mocks)).headers['retry-after']).toBe('Mon, 02 Mar 2026 10:00:30 GMT');
  mocks.vary({ retryAfter: 'none' });
  expect((await health(mocks)).headers).not.toHaveProperty('retry-after');
});

test('the daily limit is a 429 without Retry-After, until the next day', async () => {
  const { mocks, clock } = await start({ variations: { dailyLimit: 2 } });
  expect(await statuses(mocks, 3)).toEqual([200, 200, 429]);
  expect((await health(mocks)).headers).not.toHaveProperty('retry-after');
  await clock.advance(14 * 3_600_000);
  expect(await statuses(mocks, 1)).toEqual([200]);
});

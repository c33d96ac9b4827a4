import { expect, test } from 'vitest';
import { startServices } from './ask.ts';

const burst = { requests: 2, windowMs: 30_000 };

test('a request beyond the burst limit returns 429 until the oldest has left the window, and says when to come back', async () => {
  const { ask, clock, services } = startServices({ limits: { burst, daily: 1_000, retryAfter: 'seconds' } });
  const health = () => ask('portal', { path: '/health' });
  expect(health().status).toBe(200);
  await clock.advance(20_500);
  expect(health().status).toBe(200);
  expect(health()).toMatchObject({
    status: 429,
    headers: { 'retry-after': '10' },
    json: { message: 'Too Many Requests' },
  });
  services.set({ limits: { burst, daily: 1_000, retryAfter: 'date' } });
  expect(health().headers['retry-after']).toBe('Mon, 02 Mar 2026 10:00:30 GMT');
  await clock.advance(9_500);
  expect([health().status, health().status]).toEqual([200, 429]);
});

test('a request beyond the daily limit returns 429 without Retry-After until the next day', async () => {
  const { ask, clock } = startServices({ limits: { burst, daily: 1, retryAfter: 'seconds' } });
  const health = () => ask('portal', { path: '/health' });
  expect([health().status, health().status]).toEqual([200, 429]);
  expect(health().headers).not.toHaveProperty('retry-after');
  await clock.advance(14 * 3_600_000);
  expect(health().status).toBe(200);
});

// Only here: a rate limit that lets in more requests than it says, or fewer.
import { describe, expect, test } from 'vitest';
import { TokenBucket } from '../../src/web/token-bucket.ts';
import fc from '../support/fast-check.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';
import { GEHEIM, guarded, guardedHere } from './asking.ts';

describe('the bucket of a rate limit', () => {
  test('lets in a burst at once, then one an interval, and another burst when it has been left alone', async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket({ intervalMs: 1_000, burst: 3 }, clock);
    const taken = () => [1, 2, 3, 4].filter(() => bucket.take()).length;
    expect(taken()).toBe(3);
    await clock.advance(999);
    expect(taken()).toBe(0);
    await clock.advance(1);
    expect(taken()).toBe(1);
    await clock.advance(2_500);
    expect(taken()).toBe(2);
    await clock.advance(500);
    expect(taken()).toBe(1);
    await clock.advance(60_000);
    expect(taken()).toBe(3);
  });

  test('does not notice when the clock on the wall is set', () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket({ intervalMs: 1_000, burst: 1 }, clock);
    expect(bucket.take()).toBe(true);
    clock.step(3_600_000);
    expect(bucket.take()).toBe(false);
  });

  test('allows at most the burst and one request an interval in any period, and every client that waits long enough', async () => {
    const limit = fc.record({ intervalMs: fc.constantFrom(1, 8, 250, 1_000), burst: fc.integer({ min: 0, max: 5 }) });
    const gaps = fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(limit, gaps, async ({ intervalMs, burst }, pauses) => {
        const clock = new ManualClock();
        const bucket = new TokenBucket({ intervalMs, burst }, clock);
        const moments: number[] = [];
        for (const pause of pauses) {
          await clock.advance(pause);
          const isIn = bucket.take();
          if (isIn) moments.push(clock.monotonic());
          if (pause >= intervalMs) expect(isIn).toBe(burst > 0);
        }
        for (const [index, from] of moments.entries()) {
          for (const [further, to] of moments.slice(index).entries()) {
            expect(further + 1).toBeLessThanOrEqual(burst + (to - from) / intervalMs + 1e-9);
          }
        }
      }),
    );
  });
});

const limited = (burst: number) => `rate_limit:\n  interval: 1h\n  burst: ${burst}\n`;
const me = { authorization: `Basic ${Buffer.from('me:geheim').toString('base64')}` };

async function ask(address: string, path: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(`http://${address}${path}`, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

async function statusesOf(address: string, path: string, times: number): Promise<readonly number[]> {
  const statuses: number[] = [];
  while (statuses.length < times) statuses.push((await ask(address, path)).status);
  return statuses;
}

describe('with rate_limit', () => {
  test('[rate-limit] it counts before a password is asked for: who guesses is limited, and so is who knows it', async () => {
    const { address } = await guarded(`${limited(3)}basic_auth_users:\n  me: ${GEHEIM}\n`);
    expect(await statusesOf(address, '/metrics', 2)).toEqual([401, 401]);
    expect((await ask(address, '/metrics', me)).status).toBe(200);
    expect((await ask(address, '/metrics', me)).status).toBe(429);
    const refused = await ask(address, '/metrics');
    expect([refused.status, refused.text]).toEqual([429, 'too many requests (rate_limit)\n']);
    expect(refused.headers.get('www-authenticate')).toBeNull();
  });

  test('probes are answered beyond it and take nothing of it, and with no open paths they are requests like others', async () => {
    const open = await guardedHere(limited(1));
    expect(await statusesOf(open.address, '/healthz', 3)).toEqual([200, 200, 200]);
    expect(await statusesOf(open.address, '/nowhere', 2)).toEqual([404, 429]);
    expect(await statusesOf(open.address, '/healthz', 1)).toEqual([200]);
    const closed = await guardedHere(limited(1), temporaryDirectory(), { WEB_OPEN_PATHS: 'none' });
    expect(await statusesOf(closed.address, '/healthz', 2)).toEqual([200, 429]);
    expect(await statusesOf(closed.address, '/metrics', 1)).toEqual([429]);
  });

  test('it is switched on, changed and off while it runs', async () => {
    const { address, write } = await guardedHere('{} # none yet\n');
    expect(await statusesOf(address, '/metrics', 3)).toEqual([200, 200, 200]);
    write(limited(1));
    await until('the limit', async () => (await ask(address, '/metrics')).status === 429);
    write(limited(2));
    await until('a further request to be let in', async () => (await ask(address, '/metrics')).status === 200);
    expect(await statusesOf(address, '/metrics', 2)).toEqual([200, 429]);
    write('{} # none any more\n');
    await until('the end of the limit', async () => (await ask(address, '/metrics')).status === 200);
    expect(await statusesOf(address, '/metrics', 3)).toEqual([200, 200, 200]);
  });
});

import { describe, expect, test } from 'vitest';
import type { Variations } from '../../src/demo/stand-in.ts';
import { startStandIn } from '../../src/demo/stand-in.ts';
import { drive } from '../support/drive.ts';
import { fastClock } from '../support/fast-clock.ts';

const BUCKET = { kind: 'token-bucket', perSecond: 60, burst: 30 } as const;
const WINDOW = { kind: 'fixed-window', requests: 1_800, windowMs: 30_000 } as const;

/** Each runs on its own sockets, four times as fast as real time. */
const cases: readonly { readonly name: string; readonly variations: Partial<Variations>; readonly told: number }[] = [
  { name: 'a token bucket of 60/s that sends Retry-After', variations: { rateLimit: BUCKET }, told: 200 },
  {
    name: 'a token bucket of 60/s without Retry-After',
    variations: { rateLimit: BUCKET, retryAfter: 'none' },
    told: 200,
  },
  { name: 'a fixed window of 30 s that sends Retry-After', variations: { rateLimit: WINDOW }, told: 200 },
];

describe('against a limit that it was not told, over real sockets', () => {
  test.each(cases)(
    'it gets 95 % of $name and is refused at most 2 % of what it asks',
    async ({ variations, told }) => {
      const clock = fastClock(4);
      const standIn = await startStandIn({ clock, variations });
      try {
        const { perSecond, refusedShare } = await drive({ standIn, clock, toldPerSecond: told, seconds: 60 });
        expect(perSecond).toBeGreaterThan(0.95 * 60);
        expect(refusedShare).toBeLessThan(0.02);
        expect(sentInsideHold(standIn.requests)).toBe(0);
      } finally {
        await standIn.close();
      }
    },
    60_000,
  );

  test('told the limit it is never refused', async () => {
    const clock = fastClock(4);
    const rateLimit = { kind: 'sliding-window', requests: 1_800, windowMs: 30_000 } as const;
    const standIn = await startStandIn({ clock, variations: { rateLimit } });
    try {
      const { perSecond, refused } = await drive({ standIn, clock, toldPerSecond: 60, seconds: 60 });
      expect(refused).toBe(0);
      expect(perSecond).toBeGreaterThan(0.95 * 60);
    } finally {
      await standIn.close();
    }
  }, 60_000);
});

/** Requests that arrived after a refusal had been answered and before its Retry-After was over. */
function sentInsideHold(requests: readonly { readonly at: number; readonly status: number | undefined }[]): number {
  // A refusal is answered within milliseconds; what left before the answer arrived may still be on its way for a while.
  const TRANSIT_MS = 300;
  let refusedAt = Number.NEGATIVE_INFINITY;
  let inside = 0;
  for (const { at, status } of requests) {
    if (at > refusedAt + TRANSIT_MS && at < refusedAt + 1_000 - TRANSIT_MS) inside += 1;
    if (status === 429) refusedAt = at;
  }
  return inside;
}

import { describe, expect, onTestFinished, test } from 'vitest';
import { type StandIn, startStandIn, type Variations } from '../../src/demo/stand-in.ts';
import { type Drive, type Driven, drive } from '../support/drive.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';

const BUCKET = { kind: 'token-bucket', perSecond: 60, burst: 30 } as const;
const WINDOW = { kind: 'fixed-window', requests: 1_800, windowMs: 30_000 } as const;

const cases: readonly { readonly name: string; readonly variations: Partial<Variations>; readonly told: number }[] = [
  { name: 'a token bucket of 60/s that sends Retry-After', variations: { rateLimit: BUCKET }, told: 200 },
  {
    name: 'a token bucket of 60/s without Retry-After',
    variations: { rateLimit: BUCKET, retryAfter: 'none' },
    told: 200,
  },
  { name: 'a fixed window of 30 s that sends Retry-After', variations: { rateLimit: WINDOW }, told: 200 },
];

describe('against a limit that it was not told', () => {
  test.each(cases)('it gets 95 % of $name and is refused at most 2 % of what it asks', async ({ variations, told }) => {
    const { perSecond, refusedShare, standIn } = await driven(variations, { toldPerSecond: told, seconds: 30 });
    expect(perSecond).toBeGreaterThan(0.95 * 60);
    expect(refusedShare).toBeLessThan(0.02);
    expect(sentInsideHold(standIn.requests)).toBe(0);
  });

  test('told the limit it is never refused', async () => {
    const rateLimit = { kind: 'sliding-window', requests: 1_800, windowMs: 30_000 } as const;
    const { perSecond, refused } = await driven({ rateLimit }, { toldPerSecond: 60, seconds: 30 });
    expect(refused).toBe(0);
    expect(perSecond).toBeGreaterThan(0.95 * 60);
  });
});

/** Minutes of it, on a clock that is moved by hand; answers take the time that the stand-in gives them. */
async function driven(
  variations: Partial<Variations>,
  settings: Pick<Drive, 'toldPerSecond' | 'seconds'>,
): Promise<Driven & { readonly standIn: StandIn }> {
  const clock = new ManualClock();
  const standIn = await startStandIn({ clock, variations: { latencyMs: 20, ...variations } });
  onTestFinished(() => standIn.close());
  let isOver = false;
  const driving = drive({ standIn, clock, dispatcher: new MemoryDispatcher(standIn.serve), ...settings }).finally(
    () => {
      isOver = true;
    },
  );
  while (!isOver) await clock.advance(100);
  return { ...(await driving), standIn };
}

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

import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/metrics/task.ts';
import { Poller } from '../../src/polling/poller.ts';
import { RequestError } from '../../src/runtime/errors.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { Lines, names, Shelf } from '../polling/fleet.ts';
import { ManualClock } from '../support/manual-clock.ts';

const SERIES = 15;
const INTERVAL_MS = 300_000;
const TIMEOUT_MS = 30_000;
const MEASURED_FROM_MS = 2 * INTERVAL_MS;
const MEASURED_TO_MS = 8 * INTERVAL_MS;

interface Polled {
  /** Polls of healthy appliances that succeeded while it was measured. */
  readonly healthy: number;
  /** Requests to broken ones meanwhile. */
  readonly broken: number;
}

type Fault = 'hangs' | 'fails' | 'none';

/** Polls a fleet for forty minutes of which every tenth appliance has a fault, with the program's own runner and limits. */
async function pollFleet(appliances: number, fault: Fault): Promise<Polled> {
  const clock = new ManualClock();
  const random = seededRandom(3);
  const counts = { healthy: 0, broken: 0 };
  const measured = () => clock.monotonic() >= MEASURED_FROM_MS;
  const tasks: Task[] = Array.from({ length: appliances * SERIES }, (_, index) => {
    const number = Math.floor(index / SERIES);
    const serial = `appliance-${number}`;
    const isBroken = fault !== 'none' && number % 10 === 0;
    return {
      id: `portal/${serial}/series-${index % SERIES}`,
      api: 'portal',
      operation: `series-${index % SERIES}`,
      appliance: { serial, name: serial },
      intervalMs: INTERVAL_MS,
      restMs: 900_000,
      poll: async (signal: AbortSignal) => {
        if (isBroken && measured()) counts.broken += 1;
        await clock.sleep(isBroken && fault === 'hangs' ? TIMEOUT_MS : 100 + 100 * random(), signal);
        if (isBroken) throw new RequestError('timeout', `${serial} does not answer`);
        if (measured() && !signal.aborted) counts.healthy += 1;
        return { samples: [], drops: new Map(), empty: false };
      },
    };
  });
  const stop = new AbortController();
  const workers = 8;
  const poller = new Poller(
    {
      collector: { api: 'portal', tasks: () => tasks },
      ...{ workers, sink: new Shelf(), staleAfter: 3, appliances: names },
      limits: { allowedPerSecond: () => Number.POSITIVE_INFINITY, isHeld: () => false },
    },
    { clock, random, log: new Lines() },
  );
  const running = poller.run(stop.signal);
  await clock.advance(MEASURED_TO_MS);
  stop.abort();
  await clock.advance(TIMEOUT_MS);
  await running;
  return counts;
}

describe('one appliance in ten', () => {
  test.each([
    ['hangs', 60],
    ['fails', 60],
  ] as const)('that %s costs the other nine at most 5 % of their pace', async (fault, appliances) => {
    const sound = await pollFleet(appliances, 'none');
    const faulty = await pollFleet(appliances, fault);
    const share = faulty.healthy / ((sound.healthy * 9) / 10);
    expect(share).toBeGreaterThan(0.95);
    // What is broken is asked less often than what is not: at most every second interval.
    const askedOften = (appliances / 10) * SERIES * ((MEASURED_TO_MS - MEASURED_FROM_MS) / INTERVAL_MS);
    expect(faulty.broken).toBeLessThanOrEqual(askedOften / 2);
  });
});

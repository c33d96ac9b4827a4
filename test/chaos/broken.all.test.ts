import { afterEach, describe, expect, test, vi } from 'vitest';
import { Exposition } from '../../src/exposition/exposition.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { Tasks } from '../../src/polling/tasks.ts';
import { GfaCollector } from '../../src/sources/gfa/collector.ts';
import { Budget } from '../../src/transport/rate/budget.ts';
import { Pacer } from '../../src/transport/rate/pacer.ts';
import { chaos } from './chaos.ts';
import { RequestCount } from './limits.ts';
import { TIGHT } from './told.ts';

/** What of the exposition a defect is about. */
const SERIES = /^portal\/[^/]+\/(?:cpu_utilization|load_average)$/;
const DATA = /^gfa\/data$/;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Nothing of these tasks is ever exposed. */
function exposeNothingOf(tasks: RegExp): void {
  const { accept } = Exposition.prototype;
  vi.spyOn(Exposition.prototype, 'accept').mockImplementation(async function (
    this: Exposition,
    task: string,
    samples: Iterable<Sample>,
  ) {
    return tasks.test(task) ? new Map() : accept.call(this, task, samples);
  });
}

/** What was exposed of these tasks stays until it is replaced. */
function withdrawNothingOf(tasks: RegExp): void {
  const { withdraw } = Exposition.prototype;
  vi.spyOn(Exposition.prototype, 'withdraw').mockImplementation(function (this: Exposition, task: string) {
    if (!tasks.test(task)) withdraw.call(this, task);
  });
}

describe('the run finds an exporter that', () => {
  test('sends as soon as it likes', async () => {
    const leave = () => Promise.resolve({ startedAt: 0, endedAt: undefined });
    vi.spyOn(Pacer.prototype, 'turn').mockImplementation(leave);
    await expect(chaos(1, 0.1)).rejects.toThrow(/\d+ requests in 30000 ms, told 10/);
  });

  test('spends more than the day has', async () => {
    vi.spyOn(Budget.prototype, 'earliest').mockImplementation((now) => now);
    await expect(chaos(1, 1, { ...TIGHT, aDay: 200 })).rejects.toThrow(/\d+ requests in a day, told 200/);
  });

  test('exposes no series of appliances that are healthy', async () => {
    exposeNothingOf(SERIES);
    await expect(chaos(1, 1)).rejects.toThrow(/is healthy, and its filer_appliance_\w+ is not exposed/);
  });

  test('exposes nothing of /data though that is healthy', async () => {
    exposeNothingOf(DATA);
    await expect(chaos(1, 1)).rejects.toThrow('/data is healthy, and nothing of it is exposed');
  });

  test('never withdraws a series', async () => {
    withdrawNothingOf(SERIES);
    await expect(chaos(1, 1)).rejects.toThrow(
      /(?:cpu_utilization|load_average) of [\w-]+ is exposed, and [\d.]+ s old/,
    );
  }, 600_000);

  test('never withdraws /data', async () => {
    withdrawNothingOf(DATA);
    await expect(chaos(2, 1)).rejects.toThrow(/\/data is exposed, and [\d.]+ s old/);
  }, 600_000);

  test('takes nothing for stale', async () => {
    vi.spyOn(Tasks.prototype, 'expire').mockImplementation(() => [].values() as unknown as ReturnType<Tasks['expire']>);
    await expect(chaos(2, 1)).rejects.toThrow(/ is exposed, and [\d.]+ s old/);
  }, 600_000);

  test('asks far less often than the limits allow', async () => {
    vi.spyOn(Pacer.prototype, 'sustainedPerSecond', 'get').mockReturnValue(0.001);
    await expect(chaos(1, 0.1)).rejects.toThrow(/the portal is asked every [\d.]+ s, and every [\d.]+ s was allowed/);
  });

  test('forgets what it had counted when it is started again', async () => {
    vi.spyOn(GfaCollector.prototype, 'restore').mockImplementation(() => [].values() as unknown as Generator<void>);
    await expect(chaos(1, 1)).rejects.toThrow(/^chaos with seed 1, .* filer_\w+ .* went back from \d+ to \d+$/);
  }, 600_000);
});

describe('requests are counted as they leave', () => {
  function counted(at: readonly number[]): readonly string[] {
    const count = new RequestCount({ ...TIGHT, requests: 2, windowMs: 1_000, aDay: 3 });
    for (const now of at) count.leaves(now);
    return count.violations;
  }

  test('so many as the limits allow are well, and so are more of them later', () => {
    expect(counted([0, 0, 1_000])).toEqual([]);
    expect(counted([0, 0, 86_400_000, 86_400_000, 86_401_000])).toEqual([]);
  });

  test('one more in a window or in a day is a violation', () => {
    expect(counted([0, 999, 999])).toEqual(['3 requests in 1000 ms, told 2']);
    expect(counted([0, 0, 50_000_000, 86_399_999])).toEqual(['4 requests in a day, told 3']);
  });
});

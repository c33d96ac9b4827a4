import { afterEach, describe, expect, test, vi } from 'vitest';
import { LineStore } from '../../src/exposition/store.ts';
import { TaskRegistry } from '../../src/polling/task-registry.ts';
import { GfaCollector } from '../../src/services/gfa/collector.ts';
import { DailyQuota } from '../../src/transport/rate/daily-quota.ts';
import { RequestQueue } from '../../src/transport/rate/request-queue.ts';
import { HOUR, MINUTE, World } from './world.ts';

/* Only this finds that the judge is asleep: each test takes one promise out of the program. */

const SERIES = /^portal\/[^/]+\/(?:cpu_utilization|load_average)$/;
const DATA = /^gfa\/data$/;
const unavailable = { kind: 'status', status: 503 } as const;

afterEach(() => {
  vi.restoreAllMocks();
});

/** A life of an exporter with a defect: what is broken in it breaks no test. */
function defective(environment: Readonly<Record<string, string>> = {}): Promise<World> {
  return World.begin({
    gfa: true,
    series: ['cpu_utilization', 'load_average'],
    state: true,
    lookMs: 5 * MINUTE,
    later: true,
    environment: { PORTAL_COLLECTORS: 'telemetry', ...environment },
  }).then((life) => {
    life.judge.excused.push('');
    return life;
  });
}

async function complaints(ms: number, environment?: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const life = await defective(environment);
  await life.starts();
  await life.passes(ms);
  return life.judge.broken;
}

/** All goes well for a while, and then nothing is answered for half an hour. */
async function complaintsOfAnOutage(): Promise<readonly string[]> {
  const life = await defective();
  await life.starts();
  await life.passes(20 * MINUTE);
  life.fails(unavailable);
  await life.passes(30 * MINUTE);
  return life.judge.broken;
}

function exposeNothingOf(tasks: RegExp): void {
  const { accept } = LineStore.prototype;
  vi.spyOn(LineStore.prototype, 'accept').mockImplementation(async function (this: LineStore, task, ...rest) {
    return tasks.test(task) ? { cut: 0, duplicates: 0 } : accept.call(this, task, ...rest);
  });
}

function withdrawNothingOf(tasks: RegExp): void {
  const { withdraw } = LineStore.prototype;
  vi.spyOn(LineStore.prototype, 'withdraw').mockImplementation(function (this: LineStore, task, ...rest) {
    if (!tasks.test(task)) withdraw.call(this, task, ...rest);
  });
}

describe('the judge finds an exporter that', () => {
  test('sends as soon as it likes', async () => {
    vi.spyOn(RequestQueue.prototype, 'acquire').mockResolvedValue({ startedAt: 0, endedAt: undefined });
    const found = await complaints(10 * MINUTE, { PORTAL_RATE_LIMIT: '5/30s' });
    expect(found).toContain('exceeds: more than 5 requests in 30000 ms');
  });

  test('spends more than the day has', async () => {
    vi.spyOn(DailyQuota.prototype, 'earliest').mockImplementation((now) => now);
    const found = await complaints(3 * HOUR, { PORTAL_DAILY_LIMIT: '60' });
    expect(found).toContain('exceeds: more than 60 requests in a day');
  });

  test('shows no series of appliances that are healthy', async () => {
    exposeNothingOf(SERIES);
    expect(await complaints(HOUR)).toContainEqual(expect.stringMatching(/^unwell: \w+ of \S+ is not shown/));
  });

  test('shows nothing of /data though that is healthy', async () => {
    exposeNothingOf(DATA);
    expect(await complaints(20 * MINUTE)).toContain('unwell: nothing of /data is shown, and nothing is wrong');
  });

  test('never withdraws a series', async () => {
    withdrawNothingOf(SERIES);
    expect(await complaintsOfAnOutage()).toContainEqual(expect.stringMatching(/^stale: \w+ of \S+ is shown/));
  });

  test('never withdraws /data', async () => {
    withdrawNothingOf(DATA);
    expect(await complaintsOfAnOutage()).toContainEqual(expect.stringMatching(/^stale: \/data is shown/));
  });

  test('takes nothing for stale', async () => {
    vi.spyOn(TaskRegistry.prototype, 'expiresAt').mockReturnValue(Number.POSITIVE_INFINITY);
    expect(await complaintsOfAnOutage()).toContainEqual(expect.stringMatching(/^stale: /));
  });

  test('asks far less often than the limits allow', async () => {
    vi.spyOn(RequestQueue.prototype, 'sustainedPerSecond', 'get').mockReturnValue(0.001);
    expect(await complaints(2 * HOUR)).toContainEqual(expect.stringMatching(/^slow: the portal is polled every/));
  });

  test('forgets what it had counted when it is started again', async () => {
    vi.spyOn(GfaCollector.prototype, 'restore').mockImplementation(() => ({ put: () => {}, commit: () => {} }));
    const life = await defective();
    await life.starts();
    await life.passes(HOUR);
    await life.restarts();
    await life.passes(5 * MINUTE);
    expect(life.judge.broken).toContainEqual(expect.stringMatching(/^falls: filer_/));
  });
});

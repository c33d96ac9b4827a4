import { afterEach, describe, expect, test, vi } from 'vitest';
import { LineStore } from '../../src/exposition/store.ts';
import { GfaCollector } from '../../src/services/gfa/collector.ts';
import { HOUR, MINUTE, World } from './world.ts';

/* Only this finds that the judge of a world is asleep: each test takes one promise out of the program. */

const DATA = 'gfa/data';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A life of an exporter with a defect: what is broken in it breaks no test. */
async function defective(): Promise<World> {
  const life = await World.begin({
    gfa: true,
    series: ['cpu_utilization'],
    state: true,
    lookMs: 5 * MINUTE,
    environment: { PORTAL_COLLECTORS: 'telemetry' },
  });
  life.judge.excused.push('');
  await life.passes(20 * MINUTE);
  return life;
}

describe('the judge finds an exporter that', () => {
  test('shows nothing of /data though that is healthy', async () => {
    const { accept } = LineStore.prototype;
    vi.spyOn(LineStore.prototype, 'accept').mockImplementation(async function (this: LineStore, task, ...rest) {
      return task === DATA ? { cut: 0, duplicates: 0 } : accept.call(this, task, ...rest);
    });
    const { judge } = await defective();
    expect(judge.broken).toContain('unwell: nothing of /data is shown, and nothing is wrong');
  });

  test('never withdraws /data', async () => {
    const { withdraw } = LineStore.prototype;
    vi.spyOn(LineStore.prototype, 'withdraw').mockImplementation(function (this: LineStore, task, ...rest) {
      if (task !== DATA) withdraw.call(this, task, ...rest);
    });
    const life = await defective();
    life.fails({ kind: 'status', status: 503 });
    await life.passes(30 * MINUTE);
    expect(life.judge.broken).toContainEqual(expect.stringMatching(/^stale: \/data is shown/));
  });

  test('forgets what it had counted when it is started again', async () => {
    vi.spyOn(GfaCollector.prototype, 'restore').mockImplementation(() => ({ put: () => {}, commit: () => {} }));
    const life = await defective();
    await life.passes(HOUR / 2);
    await life.restarts();
    await life.passes(5 * MINUTE);
    expect(life.judge.broken).toContainEqual(expect.stringMatching(/^falls: filer_/));
  });
});

import { describe, expect, onTestFinished, test } from 'vitest';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { Exporter } from '../harness/exporter.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';
import { HangingStore } from '../support/memory-store.ts';
import { isAtLeast } from '../support/program.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { until } from '../support/until.ts';

/** The whole program on a disk that can hang, moved by hand. */
async function program(environment: Readonly<Record<string, string>> = {}) {
  const [clock, store] = [new ManualClock(), new HangingStore()];
  const mocks = await startMockServices({ clock, appliances: 2, volumes: 1 });
  const exporter = new Exporter(
    { ...gfaEnvironment(mocks), ...portalEnvironment(mocks), STATE_FILE: '/state', ...environment },
    { clock, connect: () => new MemoryDispatcher(mocks.serve), openState: () => store },
    (work) => work,
  );
  onTestFinished(async () => {
    store.letGo();
    const over = exporter.stop();
    await clock.advance(60_000);
    await over;
    await mocks.close();
  });
  return { exporter, clock, store, mocks };
}

/** Whether something has come to its end. */
function watched(work: Promise<unknown>): { readonly isOver: boolean } {
  const state = { isOver: false };
  void work.then(() => {
    state.isOver = true;
  });
  return state;
}

describe('while the disk with the state file hangs', () => {
  test('what was polled is exposed all the same, and one warning says so', async () => {
    const { exporter, clock, store } = await program();
    await exporter.start();
    store.hang();
    for (let minute = 0; minute < 3; minute += 1) await clock.advance(60_000);
    const scraped = await exporter.scrape();
    expect(scraped.value('filer_api_up', { api: 'gfa' })).toBe(1);
    expect(scraped.all('filer_account_info')).toHaveLength(1);
    expect(scraped.value('filer_exporter_state_file_errors_total', {})).toBeGreaterThan(2);
    const warnings = exporter.log.filter(({ level }) => isAtLeast(level, 'warn')).map(({ msg }) => msg);
    expect(warnings).toEqual(['The state file cannot be written: counting continues without it.']);
    store.letGo();
    await clock.advance(60_000);
    expect(store.content).toBeDefined();
    expect(exporter.log.map(({ msg }) => msg)).toContain('The state file is written again.');
  });

  test('a stop takes no longer than SHUTDOWN_TIMEOUT, and the token is given back', async () => {
    const { exporter, clock, store, mocks } = await program({ SHUTDOWN_TIMEOUT: '2s' });
    await exporter.start();
    store.hang();
    await clock.advance(5_000);
    expect(store.calls).toBeGreaterThan(1);
    const stopping = watched(exporter.stop());
    await clock.advance(2_000);
    await until('the stop to be over', () => stopping.isOver);
    expect(mocks.requests.filter(({ operation }) => operation === 'revoke')).toHaveLength(1);
  });

  test('a start that is stopped polls nothing any more, whenever the disk comes back', async () => {
    const { exporter, clock, store, mocks } = await program();
    store.hang();
    const starting = exporter.start();
    await until('the state to be asked for', () => store.calls > 0);
    await exporter.stop();
    store.letGo();
    await starting;
    await clock.advance(60_000);
    expect(mocks.requests).toEqual([]);
    expect(store.content).toBeUndefined();
    expect(exporter.log.map(({ msg }) => msg)).toEqual(['stopped']);
  });
});

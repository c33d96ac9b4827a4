import { describe, expect, test } from 'vitest';
import { World } from '../harness/world.ts';
import { HangingStore } from '../support/memory-store.ts';
import { isAtLeast, type LogLine } from '../support/program.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';

/** The whole program before services in memory, on a disk that can hang; not started. */
async function program(environment: Readonly<Record<string, string>> = {}) {
  const [world, store] = [await World.begin({ appliances: 2, volumes: 1, later: true }), new HangingStore()];
  const { clock, services } = world;
  const both = { ...gfaEnvironment(services), ...portalEnvironment(services), STATE_FILE: '/state', ...environment };
  return { clock, store, services, exporter: world.prepared(both, { openState: () => store }) };
}

/** Whether something has come to its end. */
function watched(work: Promise<unknown>): { readonly isOver: boolean } {
  const state = { isOver: false };
  void work.then(() => {
    state.isOver = true;
  });
  return state;
}

const warnings = (log: readonly LogLine[]) => log.filter(({ level }) => isAtLeast(level, 'warn')).map(({ msg }) => msg);

describe('while the disk with the state file hangs', () => {
  test('what was polled is exposed all the same, and one warning says so', async () => {
    const { clock, store, exporter } = await program();
    await exporter.start();
    const { url, log } = exporter;
    store.hang();
    for (let minute = 0; minute < 3; minute += 1) await clock.advance(60_000);
    const scraped = await scrape(url);
    expect(scraped.value('filer_api_up', { api: 'gfa' })).toBe(1);
    expect(scraped.all('filer_account_info')).toHaveLength(1);
    expect(scraped.value('filer_exporter_state_file_errors_total', {})).toBeGreaterThan(2);
    expect(warnings(log)).toEqual(['The state file cannot be written: counting continues without it.']);
    store.letGo();
    await clock.advance(60_000);
    expect(store.content).toBeDefined();
    expect(log.map(({ msg }) => msg)).toContain('The state file is written again.');
  });

  test('a stop takes no longer than SHUTDOWN_TIMEOUT, and the token is given back', async () => {
    const { clock, store, services, exporter } = await program({ SHUTDOWN_TIMEOUT: '2s' });
    await exporter.start();
    store.hang();
    await clock.advance(5_000);
    expect(store.calls).toBeGreaterThan(1);
    const stopping = watched(exporter.stopping());
    await clock.advance(2_000);
    await until('the stop to be over', () => stopping.isOver);
    expect(services.requests.filter(({ operation }) => operation === 'revoke')).toHaveLength(1);
    store.letGo();
  });

  test('a start that is stopped polls nothing any more, whenever the disk comes back', async () => {
    const { clock, store, services, exporter } = await program();
    store.hang();
    const starting = exporter.start();
    await until('the state to be asked for', () => store.calls > 0);
    await exporter.stopping();
    store.letGo();
    await starting;
    await clock.advance(60_000);
    expect(services.requests).toEqual([]);
    expect(store.content).toBeUndefined();
    expect(exporter.log.map(({ msg }) => msg)).toEqual(['stopped']);
  });
});

import { describe, expect, test } from 'vitest';
import { catalog } from '../../src/catalog.ts';
import { World } from '../harness/world.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { get } from '../support/scrape.ts';

describe('before the first polls have ended', () => {
  test('a scrape says that no API is up, and which build runs; it is not ready, and then it is', async () => {
    const world = await World.begin({ variations: { latencyMs: 10_000 }, later: true });
    const mocks = world.services;
    const live = await world.exporter({ ...gfaEnvironment(mocks), ...portalEnvironment(mocks) });
    const first = await live.scrape();
    expect(first.all('filer_api_up')).toEqual([
      { name: 'filer_api_up', labels: { api: 'gfa' }, value: 0 },
      { name: 'filer_api_up', labels: { api: 'portal' }, value: 0 },
    ]);
    expect(first.value('filer_exporter_build_info', { version: '0.0.0', revision: 'test' })).toBe(1);
    const sent = catalog.filter(({ source }) => !source.includes('the exporter'));
    expect(sent.filter(({ name }) => first.types.has(name))).toEqual([]);
    expect((await live.page('/readyz')).status).toBe(503);
    expect((await get(`${live.url}/healthz`)).status).toBe(200);

    mocks.vary({ latencyMs: 0 });
    await world.until('it to be ready', async () => (await live.page('/readyz')).status === 200);
    expect((await live.scrape()).value('filer_api_up', { api: 'gfa' })).toBe(1);
  });
});

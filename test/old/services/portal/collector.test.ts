import { describe, expect, test } from 'vitest';
import type { PollResult } from '../../../src/contract/poll-result.ts';
import { FilerNames } from '../../../src/services/filer-names.ts';
import { valuesOf } from '../../support/exposition-lines.ts';
import { going, mockApi, token } from '../../support/mock-api.ts';
import { portalCollector, uuid } from '../../support/portal-parts.ts';

import { A, B, discover, FORBIDDEN, ids, list, portal } from './discovery.ts';

describe('PORTAL_SERIALS', () => {
  test('are polled before the inventory is read, and where all of it is forbidden', async () => {
    const api = portal(FORBIDDEN, FORBIDDEN, FORBIDDEN);
    const collector = portalCollector(api, { serials: [A, B] });
    expect(ids(collector)).toHaveLength(3);
    expect(valuesOf((await discover(collector)).samples)).toEqual({
      [`filer_appliance_info{serial="${A}",filer="${A}",type="",build="",available_build=""}`]: 1,
      [`filer_appliance_info{serial="${B}",filer="${B}",type="",build="",available_build=""}`]: 1,
    });
  });

  test('take their names from the inventory and no other appliance', async () => {
    const serials = list({ id: A.toUpperCase(), type: 'edge', description: 'a' }, { id: uuid(9), type: 'edge' });
    const collector = portalCollector(portal(serials, list(), list()), { serials: [A, B] });
    await discover(collector);
    expect(collector.appliances.map(({ name }) => name)).toEqual(['a', B]);
  });

  test('leave the names of all others known, for the filers of the other service', async () => {
    const serials = list({ id: A, type: 'edge', description: 'a' }, { id: B, type: 'edge', description: 'b' });
    const names = new FilerNames([]);
    await discover(portalCollector(portal(serials, list(), list()), { serials: [A], names }));
    expect(names.filerName(B, 'title')).toBe('b');
  });

  test('go by the titles of the other service where the inventory has no names', async () => {
    const names = new FilerNames([]);
    names.setTitles([[A, 'title']]);
    const unnamed = portal(list({ id: A, type: 'edge' }), list(), list());
    const forbidden = portal(FORBIDDEN, FORBIDDEN, FORBIDDEN);
    for (const api of [unnamed, forbidden]) {
      const collector = portalCollector(api, { serials: [A, B], names });
      await discover(collector);
      expect(collector.appliances.map(({ name }) => name)).toEqual(['title', B]);
    }
  });
});

test('a task is made once, and anew only for an appliance that was renamed', async () => {
  const [a, b] = [
    { id: A, type: 'edge', description: 'a' },
    { id: B, type: 'edge', description: 'b' },
  ];
  const api = mockApi();
  api.answer('POST', '/auth/token', token('one'));
  api.answer('GET', '/serials', list(a, b), list(), list({ ...a, description: 'other' }, b), list());
  api.answer('GET', '/edges', list(), list());
  const collector = portalCollector(api);
  await discover(collector);
  const before = [...collector.tasks()];
  expect([...collector.tasks()].every((task, place) => task === before[place])).toBe(true);
  await discover(collector);
  const kept = [...collector.tasks()].filter((task) => before.includes(task)).map(({ id }) => id);
  expect(kept).toEqual(['portal/inventory', `portal/${B}/cpu_utilization`]);
});

test('an appliance that one inventory leaves out stays, and goes if the next one leaves it out too', async () => {
  const [a, b] = [
    { id: A, type: 'edge' },
    { id: B, type: 'edge' },
  ];
  const api = mockApi();
  api.answer('POST', '/auth/token', token('one'));
  const collector = portalCollector(api);
  const found: string[] = [];
  for (const listed of [[a, b], [a], [a, b], [a], [a]]) {
    api.answer('GET', '/serials', list(...listed), list());
    api.answer('GET', '/edges', list());
    await discover(collector);
    found.push(collector.appliances.map(({ serial }) => (serial === A ? 'A' : 'B')).join(''));
  }
  expect(found).toEqual(['AB', 'AB', 'AB', 'AB', 'A']);
});

test('PORTAL_SERIALS are polled however little memory there is', () => {
  const collector = portalCollector(mockApi(), { serials: [A, B], maxAppliances: 1 });
  expect(collector.appliances).toHaveLength(2);
});

test('a shard that is the first asks about the whole account, and no other does', () => {
  const collectors = [{ name: 'license', intervalMs: 3_600_000 }];
  const asked = [0, 1].map((index) =>
    ids(portalCollector(mockApi(), { shard: { index, total: 2 }, collectors })).filter((id) => !/inventory/.test(id)),
  );
  expect([asked[0]?.length, asked[1]]).toEqual([3, []]);
});

describe('a series', () => {
  async function polled(body: unknown, series = 'cpu_utilization'): Promise<PollResult> {
    const api = mockApi();
    api.answer('POST', '/auth/token', token('one'));
    api.answer('POST', `/telemetry/appliances/${A}/${series}`, [200, body]);
    const collector = portalCollector(api, { serials: [A], series: [{ name: series, intervalMs: 300_000 }] });
    return [...collector.tasks()][1]?.poll(going) ?? Promise.reject(new Error('no task'));
  }

  test('has the time of the newest record that held a value', async () => {
    const items = [
      { time: 1_772_445_303_000, cpu_usage: null },
      { time: 1_772_445_301_000, cpu_usage: '1' },
      { time: 1_772_445_302_000, cpu_usage: '50' },
    ];
    expect(valuesOf((await polled({ items })).samples)).toEqual({
      [`filer_appliance_cpu_utilization_ratio{serial="${A}",filer="${A}"}`]: 0.5,
      [`filer_appliance_series_timestamp_seconds{serial="${A}",filer="${A}",series="cpu_utilization"}`]: 1_772_445_302,
    });
  });

  test('of nulls has no sample and no time, and counts the drop', async () => {
    const { samples, drops, empty } = await polled({ items: [{ time: 1_772_445_303_000, cpu_usage: null }] });
    expect([[...samples], Object.fromEntries(drops), empty]).toEqual([[], { absent: 1 }, false]);
  });

  test('without items is empty and no failure, whatever is beside them', async () => {
    const { samples, drops, empty } = await polled({ items: [], num_cores: null, next: 15 }, 'load_average');
    expect([[...samples], drops.size, empty]).toEqual([[], 0, true]);
  });

  test('that the build cannot have is not polled', async () => {
    const serial = { id: A, type: 'edge', build: '10.0.4' };
    const series = ['memory_utilization', 'memory_utilization_details', 'load_average'];
    const collector = portalCollector(portal(list(serial), list(), list()), {
      series: series.map((name) => ({ name, intervalMs: 300_000 })),
    });
    await discover(collector);
    const intervals = [...collector.tasks()].slice(1);
    expect(intervals.map(({ operation, intervalMs }) => [operation, intervalMs])).toEqual([
      ['memory_utilization_details', 300_000],
      ['load_average', 300_000],
    ]);
  });

  test('takes the appliance’s new name from the next poll on', async () => {
    const api = portal(list({ id: A, type: 'edge', description: 'old' }), list(), list());
    const collector = portalCollector(api);
    await discover(collector);
    api.answer('GET', '/serials', list({ id: A, type: 'edge', description: 'new' }), list());
    api.answer('GET', '/edges', list());
    const old = [...collector.tasks()][1];
    await discover(collector);
    api.answer('POST', `/telemetry/appliances/${A}/cpu_utilization`, list({ time: 1_772_445_300_000, cpu_usage: 1 }));
    const { samples } = (await old?.poll(going)) ?? { samples: [] };
    expect([...samples].map(({ labels }) => labels.filer)).toEqual(['new', 'new']);
    expect([...collector.tasks()][1]?.appliance?.name).toBe('new');
  });
});

import { describe, expect, test } from 'vitest';
import { FilerNames } from '../../../../src/services/filer-names.ts';
import { buildSupports } from '../../../../src/services/portal/appliances/builds.ts';
import {
  type InventoryLists,
  type ListName,
  maxAppliances,
  readInventory,
  readList,
} from '../../../../src/services/portal/appliances/inventory.ts';
import type { PortalOptions } from '../../../../src/services/portal/context.ts';
import { valuesOf } from '../../../harness/sample-values.ts';
import { collecting, every5m, FakePortal, MINUTE, poll, type Reply } from './fake-portal.ts';

const [A, B, C, OTHER] = ['a', 'b', 'c', 'f'].map((end) => `00000000-0000-4000-8000-00000000000${end}`);

/** The lists of a cycle: those that are given. A list with `old` is of an earlier cycle. */
function lists(given: { [name in ListName]?: readonly unknown[] }, ...old: readonly ListName[]): InventoryLists {
  return new Map(
    Object.entries(given).map(([name, ids]) => {
      const path = name === 'edges' ? '/edges' : '/serials';
      const items = ids.map((id) => (typeof id === 'string' ? { id, serial: id } : id));
      const records = readList({ items }, path, () => {});
      return [name as ListName, { records, isCurrent: !old.includes(name as ListName) }];
    }),
  );
}

const none: readonly string[] = [];

describe('which appliances are polled', () => {
  test.each<[string, InventoryLists, boolean, readonly unknown[], readonly string[]]>([
    ['serials, if /edges is forbidden', lists({ edge_serials: [A] }), false, [A], none],
    ['serials, if /edges lists none', lists({ edge_serials: [A], edges: [] }), false, [A], ['edges empty']],
    ['serials, if /edges lists more', lists({ edge_serials: [A], edges: [A, B] }), false, [A], none],
    ['serials, if /edges lists fewer', lists({ edge_serials: [A, B], edges: [A] }), false, [A, B], none],
    [
      'edges, if the ids were never the same',
      lists({ edge_serials: [OTHER], edges: [A, B] }),
      false,
      [A, B],
      ['edge_serials other_ids'],
    ],
    [
      'serials, if the ids once were the same: the appliance was replaced, and /edges is late',
      lists({ edge_serials: [B], edges: [A] }, 'edges'),
      true,
      [B],
      none,
    ],
    ['edges, if there is no serial', lists({ edge_serials: [], edges: [A] }), true, [A], ['edge_serials empty']],
    ['none, if there is no serial and /edges fails', lists({ edge_serials: [], edges: [A] }, 'edges'), true, [], none],
    ['edges, if serials were never read', lists({ edges: [A, B] }), false, [A, B], none],
    [
      'the last serials, if /serials fails: /edges also lists decommissioned appliances',
      lists({ edge_serials: [A], edges: [A, B] }, 'edge_serials'),
      true,
      [A],
      none,
    ],
    ['file_iq, beside edges', lists({ edge_serials: [A], file_iq_serials: [C], edges: [A] }), true, [A, C], none],
    ['file_iq alone', lists({ edge_serials: [], file_iq_serials: [C], edges: [] }), false, [C], none],
    [
      'file_iq beside edges, if the ids of edges were never the same',
      lists({ edge_serials: [OTHER], file_iq_serials: [C], edges: [A] }),
      false,
      [C, A],
      ['edge_serials other_ids'],
    ],
    ['none at all', lists({ edge_serials: [], file_iq_serials: [], edges: [] }), false, [], ['all empty']],
  ])('%s', (_, given, sharedIds, serials, gaps) => {
    const inventory = readInventory(given, sharedIds);
    expect([...inventory.appliances.keys()]).toEqual(serials);
    expect(inventory.gaps.map(({ list, reason }) => `${list} ${reason}`)).toEqual(gaps);
  });
});

describe('what is known of an appliance', () => {
  const serial = { id: A?.toUpperCase(), type: 'edge', description: 'old', build: '9.15', available_build: '10.1' };
  const edge = { id: 'E-1', serial: A, description: 'lyon', build: '10.0.5' };

  test('is joined by its serial in any case; /edges has the present name and build', () => {
    const { appliances } = readInventory(lists({ edge_serials: [serial], edges: [edge] }), false);
    const known = { serial: A, edgeId: 'e-1', name: 'lyon', type: 'edge', build: '10.0.5', availableBuild: '10.1' };
    expect(appliances.get(A ?? '')).toEqual(known);
  });

  test.each([
    ['an edge', { type: 'edge' }, 1],
    ['a file_iq', { type: 'file_iq' }, 1],
    ['of no type', { type: null }, 1],
    ['a management console', { type: 'nmc' }, 0],
    ['not in use', { type: 'edge', in_use: false }, 0],
  ])('a serial that is %s is listed %j times', (_, fields, count) => {
    expect(readList({ items: [{ id: A, ...fields }] }, '/serials', () => {}).size).toBe(count);
  });

  test.each([['not-a-uuid'], [null], [`${A} `]])('a record with the serial %j is skipped and reported', (id) => {
    const reported: string[] = [];
    const items = [{ id }, { id: B }, 'text'];
    const records = readList({ items }, '/serials', (_, place) => reported.push(place));
    expect([...records.values()]).toEqual([{ id: B }]);
    expect(reported).toEqual(['GET /serials items[0].id', 'GET /serials items[2].id']);
  });
});

/** A portal whose lists the test says, and its inventory task. */
class Lists {
  serials: Reply = { items: [] };
  fileIq: Reply = { items: [] };
  edges: Reply = { items: [] };
  readonly portal = new FakePortal(({ path, query }) => {
    if (path === '/edges') return this.edges;
    if (path !== '/serials') return { items: [] };
    return query?.type === 'edge' ? this.serials : this.fileIq;
  });
  readonly collector;

  constructor(options: Partial<PortalOptions> = {}, names?: FilerNames) {
    this.collector = this.portal.collector({ series: every5m('cpu_utilization'), ...options }, names);
  }

  read(serials: Reply, edges: Reply) {
    Object.assign(this, { serials, edges });
    return poll(this.collector.inventory.task);
  }

  get polled(): readonly string[] {
    return this.collector.appliances.map(({ serial }) => serial);
  }

  get names(): readonly string[] {
    return this.collector.appliances.map(({ name }) => name);
  }
}

const listed = (...serials: readonly unknown[]) => ({ items: serials.map((id) => ({ id, type: 'edge' })) });
const edgesOf = (...serials: readonly unknown[]) => {
  return { items: serials.map((serial) => ({ serial, description: `edge ${String(serial).at(-1)}` })) };
};

describe('the inventory', () => {
  test('polls no decommissioned appliance while /serials fails for an hour', async () => {
    const inventory = new Lists();
    await inventory.read(listed(A), edgesOf(A, B));
    for (let cycle = 0; cycle < 4; cycle += 1) {
      await inventory.portal.clock.advance(15 * MINUTE);
      await inventory.read({ status: 503 }, edgesOf(A, B));
      expect(inventory.polled).toEqual([A]);
    }
    expect(inventory.collector.inventory.gaps).toMatchObject([{ list: 'edge_serials', reason: 'server_error' }]);
  });

  test('polls the appliance that replaced the only one, although /edges is late', async () => {
    const inventory = new Lists();
    await inventory.read(listed(A), edgesOf(A));
    await inventory.read(listed(B), edgesOf(A));
    await inventory.read(listed(B), { status: 503 });
    expect(inventory.polled).toEqual([B]);
  });

  test('without any serial does not poll the edges of an earlier list', async () => {
    const inventory = new Lists();
    await inventory.read(listed(A), edgesOf(A));
    for (let cycle = 0; cycle < 2; cycle += 1) await inventory.read(listed(), { status: 503 });
    expect(inventory.polled).toEqual([]);
  });

  test('keeps the names of PORTAL_SERIALS after a 403 of every list', async () => {
    const inventory = new Lists({ serials: [String(A)] });
    await inventory.read({ status: 403 }, { status: 403 });
    expect(inventory.names).toEqual([A]);
    await inventory.read(listed(A), edgesOf(A));
    inventory.fileIq = { status: 403 };
    await inventory.read({ status: 403 }, { status: 403 });
    expect(inventory.names).toEqual(['edge a']);
  });

  test('fails if every list is forbidden or none is one, and leaves the appliances as they were', async () => {
    const inventory = new Lists();
    await inventory.read(listed(A), edgesOf(A));
    for (const body of ['maintenance', { items: [null, { id: 'none' }] }, { status: 403 }]) {
      inventory.fileIq = body;
      await expect(inventory.read(body, body)).rejects.toThrow(/^reading|returned 403/);
    }
    expect(inventory.polled).toEqual([A]);
  });

  test('that is empty fails if another list of serials is missing, because that one may have appliances', async () => {
    const inventory = new Lists();
    inventory.fileIq = { status: 503 };
    await expect(inventory.read(listed(), edgesOf())).rejects.toThrow('503');
  });

  test.each<[string, Partial<PortalOptions>, Reply, readonly string[]]>([
    ['its collector is on', { collectors: collecting('edges') }, { status: 403 }, ['edges forbidden']],
    ['its collector is off', {}, { status: 403 }, []],
  ])('a forbidden /edges is a gap if %s', async (_, options, edges, gaps) => {
    const inventory = new Lists(options);
    await inventory.read(listed(A), edges);
    expect(inventory.collector.inventory.gaps.map(({ list, reason }) => `${list} ${reason}`)).toEqual(gaps);
  });

  test('shows what /edges returned while that is fresh, and is as old as its oldest fresh list', async () => {
    const inventory = new Lists({ collectors: collecting('edges') });
    const edges = { items: [{ serial: A, is_reachable: true }] };
    const reachable = ({ samples }: Awaited<ReturnType<typeof poll>>) =>
      Object.keys(valuesOf(samples)).filter((series) => series.startsWith('filer_appliance_reachable')).length;
    expect(reachable(await inventory.read(listed(A), edges))).toBe(1);
    await inventory.portal.clock.advance(15 * MINUTE);
    const once = await inventory.read(listed(A), { status: 503 });
    expect([reachable(once), once.respondedAt]).toEqual([1, 0]);
    await inventory.portal.clock.advance(15 * MINUTE);
    const twice = await inventory.read(listed(A), { status: 503 });
    expect([reachable(twice), twice.respondedAt]).toEqual([0, 30 * MINUTE]);
  });

  test('that is too large for the memory polls the same appliances in any order of the list', async () => {
    const inventory = new Lists({ maxAppliances: 2 });
    for (const serials of [
      [A, B, C],
      [C, B, A],
    ]) {
      const { drops } = await inventory.read(listed(...serials), edgesOf());
      expect([inventory.polled, drops.get('record')]).toEqual([[A, B], 1]);
    }
    expect([64, 256, 100_000].map((mib) => maxAppliances(mib * 2 ** 20))).toEqual([512, 2_048, 10_000]);
  });

  test('that renames an appliance changes the names of every task whose samples have the name', async () => {
    const inventory = new Lists({ collectors: collecting('volumes', 'edges') }, new FilerNames([]));
    const edges = (description: string) => ({ items: [{ id: 'e', serial: A, description }] });
    const namesOf = () => Object.fromEntries(Array.from(inventory.collector.tasks(), ({ id, names }) => [id, names]));
    await inventory.read(listed(A), edges('lyon'));
    const before = namesOf();
    await inventory.read(listed(A), edges('lyon'));
    expect(namesOf()).toEqual(before);
    await inventory.read(listed(A), edges('paris'));
    const after = namesOf();
    expect(Object.keys(before).filter((id) => before[id] !== after[id])).toEqual([
      'portal/volume_connections',
      `portal/${A}/edge`,
      `portal/${A}/cpu_utilization`,
    ]);
    expect(inventory.names).toEqual(['paris']);
  });
});

test.each([
  ['10.0.3', 'memory_utilization'],
  ['10.0', 'memory_utilization'],
  ['10.0.4', 'memory_utilization_details'],
  ['10.0.4-rc1', 'memory_utilization_details'],
  ['10.0.40', 'memory_utilization_details'],
  ['100.0.0', 'memory_utilization_details'],
  ['v10', 'memory_utilization memory_utilization_details'],
])('an appliance of build %s is polled for %s', (build, series) => {
  const memory = ['memory_utilization', 'memory_utilization_details'];
  expect(memory.filter((name) => buildSupports(name, build)).join(' ')).toBe(series);
});

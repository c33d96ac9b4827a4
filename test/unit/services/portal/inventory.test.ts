import { expect, test } from 'vitest';
import { FilerNames } from '../../../../src/services/filer-names.ts';
import { buildSupports } from '../../../../src/services/portal/appliances/builds.ts';
import { maxAppliances, readList } from '../../../../src/services/portal/appliances/inventory.ts';
import type { PortalOptions } from '../../../../src/services/portal/context.ts';
import { valuesOf } from '../../../harness/sample-values.ts';
import { collecting, every5m, FakePortal, MINUTE, poll, type Reply } from './fake-portal.ts';

const [A = '', B = '', C = ''] = ['a', 'b', 'c'].map((end) => `00000000-0000-4000-8000-00000000000${end}`);

const listed = (...serials: readonly unknown[]) => ({ items: serials.map((id) => ({ id, type: 'edge' })) });
const edgesOf = (...serials: readonly unknown[]) => {
  return { items: serials.map((serial) => ({ serial, description: `edge ${String(serial).at(-1)}` })) };
};
const NONE = { items: [] };
const FORBIDDEN = { status: 403 };
const FAILS = { status: 503 };

/** The responses to one poll of the inventory. */
type Cycle = readonly [serials: Reply, edges: Reply, fileIq?: Reply];

/** A portal whose lists the test says, and its inventory task. */
class Lists {
  #cycle: Cycle = [NONE, NONE];
  readonly portal = new FakePortal(({ path, query }) => {
    const [serials, edges, fileIq = NONE] = this.#cycle;
    if (path === '/edges') return edges;
    if (path !== '/serials') return NONE;
    return query?.type === 'edge' ? serials : fileIq;
  });
  readonly collector;

  constructor(options: Partial<PortalOptions> = {}, names?: FilerNames) {
    this.collector = this.portal.collector({ series: every5m('cpu_utilization'), ...options }, names);
  }

  read(...cycle: Cycle) {
    this.#cycle = cycle;
    return poll(this.collector.inventory.task);
  }

  get polled(): readonly string[] {
    return this.collector.appliances.map(({ serial }) => serial);
  }

  get names(): readonly string[] {
    return this.collector.appliances.map(({ name }) => name);
  }

  get gaps(): readonly string[] {
    return this.collector.inventory.gaps.map(({ list, reason }) => `${list} ${reason}`);
  }
}

const AB = edgesOf(A, B);

test.each<[string, readonly Cycle[], readonly string[], readonly string[]]>([
  ['serials, if /edges is forbidden', [[listed(A), FORBIDDEN]], [A], ['edges forbidden']],
  ['serials, if /edges lists none', [[listed(A), NONE]], [A], ['edges empty']],
  ['serials, if /edges lists more', [[listed(A), AB]], [A], []],
  ['serials, if /edges lists fewer', [[listed(A, B), edgesOf(A)]], [A, B], []],
  ['edges, if the ids were never the same', [[listed(C), AB]], [A, B], ['edge_serials other_ids']],
  [
    'serials, if the ids once were the same: the appliance was replaced, and /edges is late',
    [
      [listed(A), edgesOf(A)],
      [listed(B), edgesOf(A)],
      [listed(B), FAILS],
    ],
    [B],
    ['edges server_error'],
  ],
  ['edges, if there is no serial', [[NONE, edgesOf(A)]], [A], ['edge_serials empty']],
  [
    'none, if there is no serial and /edges fails',
    [
      [listed(A), edgesOf(A)],
      [NONE, FAILS],
      [NONE, FAILS],
    ],
    [],
    ['edges server_error', 'all empty'],
  ],
  ['edges, if serials are forbidden', [[FORBIDDEN, AB]], [A, B], ['edge_serials forbidden']],
  [
    'the last serials, if /serials fails: /edges also lists decommissioned appliances',
    [
      [listed(A), AB],
      [FAILS, AB],
      [FAILS, AB],
      [FAILS, AB],
    ],
    [A],
    ['edge_serials server_error'],
  ],
  ['file_iq, beside edges', [[listed(A), edgesOf(A), listed(C)]], [A, C], []],
  ['file_iq alone', [[NONE, NONE, listed(C)]], [C], []],
  [
    'file_iq beside edges, if the ids of edges were never the same',
    [[listed(B), edgesOf(A), listed(C)]],
    [C, A],
    ['edge_serials other_ids'],
  ],
  ['none at all', [[NONE, NONE]], [], ['all empty']],
])('the appliances that are polled are those of %s', async (_, cycles, serials, gaps) => {
  const inventory = new Lists({ collectors: collecting('edges') });
  for (const cycle of cycles) await inventory.read(...cycle);
  expect([inventory.polled, inventory.gaps]).toEqual([serials, gaps]);
});

const serial = { id: A.toUpperCase(), type: 'edge', description: 'old', build: '9.15', available_build: '10.1' };
const edge = { id: 'E-1', serial: A, description: 'lyon', build: '10.0.5' };

test('what is known of an appliance is joined by its serial in any case; /edges has the present name and build', async () => {
  const inventory = new Lists();
  await inventory.read({ items: [serial] }, { items: [edge] });
  const known = { serial: A, edgeId: 'e-1', name: 'lyon', type: 'edge', build: '10.0.5', availableBuild: '10.1' };
  expect(inventory.collector.appliances).toEqual([known]);
});

test('in a list are edges and file_iq in use; a record without a uuid is reported', () => {
  const types = [{ type: 'edge' }, { type: 'file_iq' }, { type: null }, { type: 'nmc' }, { in_use: false }];
  const listed = types.map((fields, index) => ({ ...fields, id: `00000000-0000-4000-8000-00000000000${index}` }));
  const places: string[] = [];
  const items = [...listed, { id: 'not-a-uuid' }, { id: null }, { id: `${A} ` }, 'text'];
  const records = readList({ items }, '/serials', (_, place) => places.push(place));
  expect([...records.values()]).toEqual(listed.slice(0, 3));
  expect(places).toEqual([5, 6, 7, 8].map((index) => `GET /serials items[${index}].id`));
});

test('the inventory keeps the names of PORTAL_SERIALS after a 403 of every list', async () => {
  const inventory = new Lists({ serials: [A] });
  await inventory.read(FORBIDDEN, FORBIDDEN);
  expect(inventory.names).toEqual([A]);
  await inventory.read(listed(A), edgesOf(A));
  await inventory.read(FORBIDDEN, FORBIDDEN, FORBIDDEN);
  expect(inventory.names).toEqual(['edge a']);
});

test('the inventory fails if every list is forbidden or none is one, and leaves the appliances as they were', async () => {
  const inventory = new Lists();
  await inventory.read(listed(A), edgesOf(A));
  for (const body of ['maintenance', { items: [null, { id: 'none' }] }, FORBIDDEN])
    await expect(inventory.read(body, body, body)).rejects.toThrow(/^reading|returned 403/);
  expect(inventory.polled).toEqual([A]);
});

test('an inventory that is empty fails if another list of serials is missing, because that one may have appliances', async () => {
  await expect(new Lists().read(NONE, NONE, FAILS)).rejects.toThrow('503');
});

test('the inventory has no gap for a list that the configuration does not need', async () => {
  const withoutEdges = new Lists();
  await withoutEdges.read(listed(A), FORBIDDEN);
  const named = new Lists({ serials: [A] });
  await named.read(FORBIDDEN, edgesOf(A), FORBIDDEN);
  expect([withoutEdges.gaps, named.gaps]).toEqual([[], []]);
});

test('the inventory shows what /edges returned while that is fresh, and is as old as its oldest fresh list', async () => {
  const inventory = new Lists({ collectors: collecting('edges') });
  const edges = { items: [{ serial: A, is_reachable: true }] };
  const reachable = ({ samples }: Awaited<ReturnType<typeof poll>>) =>
    Object.keys(valuesOf(samples)).filter((series) => series.startsWith('filer_appliance_reachable')).length;
  expect(reachable(await inventory.read(listed(A), edges))).toBe(1);
  await inventory.portal.clock.advance(15 * MINUTE);
  const once = await inventory.read(listed(A), FAILS);
  expect([reachable(once), once.respondedAt, once.empty]).toEqual([1, 0, false]);
  await inventory.portal.clock.advance(15 * MINUTE);
  const twice = await inventory.read(listed(A), FAILS);
  expect([reachable(twice), twice.respondedAt]).toEqual([0, 30 * MINUTE]);
});

test('an inventory that is too large for the memory polls the same appliances in any order of the list, with one warning', async () => {
  const inventory = new Lists({ maxAppliances: 2 });
  for (const serials of [
    [A, B, C],
    [C, B, A],
  ]) {
    const { drops } = await inventory.read(listed(...serials), NONE);
    expect([inventory.polled, drops.get('record')]).toEqual([[A, B], 1]);
  }
  expect(inventory.portal.kept.lines).toMatchObject([{ level: 'warn', appliances: 3, polled: 2 }]);
  expect([64, 256, 100_000].map((mib) => maxAppliances(mib * 2 ** 20))).toEqual([512, 2_048, 10_000]);
});

test('an inventory that renames an appliance changes the names of every task whose samples have the name', async () => {
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

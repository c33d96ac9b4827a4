import { describe, expect, test } from 'vitest';
import { SchemaError } from '../../../src/runtime/errors.ts';
import { buildSupports } from '../../../src/services/portal/appliances/builds.ts';
import { maxAppliances, readInventory } from '../../../src/services/portal/appliances/inventory.ts';
import type { ListName } from '../../../src/services/portal/appliances/inventory-lists.ts';
import { shardOf } from '../../../src/services/portal/appliances/shard.ts';
import { uuid } from '../../support/portal-parts.ts';

const A = uuid(0xa);
const B = uuid(0xb);

function read(serials: readonly unknown[] | undefined, edges?: readonly unknown[]) {
  const notes: string[] = [];
  const answers = { edge_serials: serials && { items: serials }, edges: edges && { items: edges } };
  const { appliances } = readInventory(answered(answers), (reason, place) => notes.push(`${reason} ${place}`));
  return { appliances: [...appliances.values()], notes };
}

/** The lists of one round that were answered. */
function answered(bodies: Readonly<Partial<Record<ListName, unknown>>>) {
  const known = Object.entries(bodies).filter(([, body]) => body !== undefined);
  return new Map(known.map(([name, body]) => [name as ListName, { body, isCurrent: true, isFresh: true }]));
}

test.each([
  [64, 512],
  [256, 2_048],
  [100_000, 10_000],
])('with a heap of %d MiB an instance polls %d appliances at most', (heapMib, most) => {
  expect(maxAppliances(heapMib * 1024 * 1024)).toBe(most);
});

describe('the inventory', () => {
  test.each([
    ['an edge', { type: 'edge' }, 1],
    ['a file_iq', { type: 'file_iq' }, 1],
    ['of a type not told', { type: null }, 1],
    ['a management console', { type: 'nmc' }, 0],
    ['not in use', { type: 'edge', in_use: false }, 0],
  ])('has a serial that is %s or has it not: %j', (_, fields, count) => {
    expect(read([{ id: A, ...fields }])).toMatchObject({ appliances: { length: count }, notes: [] });
  });

  test('writes serials in lower case and joins both lists by them, whatever their case', () => {
    const edge = { serial: A, description: 'lyon', build: '10.0.5' };
    const serial = {
      id: A.toUpperCase(),
      type: 'edge',
      description: 'old name',
      build: '9.15',
      available_build: '10.1',
    };
    expect(read([serial], [{ ...edge, serial: A.toUpperCase() }]).appliances).toMatchObject([
      { serial: A, edgeId: '', name: 'lyon', type: 'edge', build: '10.0.5', availableBuild: '10.1' },
    ]);
  });

  test('names an appliance that nobody has named by its serial', () => {
    expect(read([{ id: A, type: 'edge', description: '' }], [{ serial: A }]).appliances).toMatchObject([
      { serial: A, edgeId: '', name: A, type: 'edge', build: '', availableBuild: '' },
    ]);
  });

  test('has a serial that is listed twice once, as the later says', () => {
    const serials = [
      { id: A, type: 'edge', description: 'one' },
      { id: A.toUpperCase(), type: 'edge', description: 'two' },
    ];
    expect(read(serials).appliances.map(({ name }) => name)).toEqual(['two']);
  });

  test.each([['not-a-uuid'], [null], [`${A} `], ['00000000-0000-4000-8000-00000000000g']])(
    'passes over a serial whose id is %j, and counts it',
    (id) => {
      const { appliances, notes } = read(
        [
          { id, type: 'edge' },
          { id: B, type: 'edge' },
        ],
        [{ serial: id }],
      );
      expect(appliances.map(({ serial }) => serial)).toEqual([B]);
      expect(notes).toEqual(['record GET /serials items[0].id', 'record GET /edges items[0].serial']);
    },
  );

  test('counts what is no object', () => {
    expect(read([null, 'x', []]).notes).toHaveLength(3);
  });

  test('takes no edge that the serials do not have, and all of them where the serials are forbidden', () => {
    const edges = [
      { serial: A, description: 'a', build: '10.0.4' },
      { serial: B, description: 'b' },
    ];
    expect(read([{ id: A, type: 'edge' }], edges).appliances.map(({ serial }) => serial)).toEqual([A]);
    expect(read(undefined, edges).appliances).toMatchObject([
      { serial: A, edgeId: '', name: 'a', type: 'edge', build: '10.0.4', availableBuild: '' },
      { serial: B, edgeId: '', name: 'b', type: 'edge', build: '', availableBuild: '' },
    ]);
  });

  test.each([[{}], [{ items: null }], [{ items: [] }]])('reads %j as nobody there', (body) => {
    expect(readInventory(answered({ edge_serials: body, edges: body }), () => {}).appliances.size).toBe(0);
  });

  test.each([[null], [[]], [{ items: 'none' }]])('cannot be %j', (body) => {
    expect(() => readInventory(answered({ edge_serials: body }), () => {})).toThrow(SchemaError);
    expect(() => readInventory(answered({ edges: body }), () => {})).toThrow(SchemaError);
  });
});

describe('of the two memory series', () => {
  test.each([
    ['10.0.3', 'memory_utilization'],
    ['10.0', 'memory_utilization'],
    ['10.0.4', 'memory_utilization_details'],
    ['10.0.4-rc1', 'memory_utilization_details'],
    ['10.0.40', 'memory_utilization_details'],
    ['10.1', 'memory_utilization_details'],
    ['100.0.0', 'memory_utilization_details'],
  ])('build %s has %s alone', (build, series) => {
    const fitting = ['memory_utilization', 'memory_utilization_details'].filter((name) => buildSupports(name, build));
    expect(fitting).toEqual([series]);
  });

  test.each(['10', '', 'v10.0.4', '10.x'])('a build %j that tells nothing has both', (build) => {
    expect(buildSupports('memory_utilization', build) && buildSupports('memory_utilization_details', build)).toBe(true);
  });

  test('no build has anything to do with the other series', () => {
    expect(buildSupports('cpu_utilization', '9.0')).toBe(true);
  });
});

describe('a shard', () => {
  const serials = Array.from({ length: 4_000 }, (_, index) => uuid(index * 7_919));

  test.each([1, 3, 16])('has each serial in exactly one of %d, evenly', (total) => {
    const counts = new Array<number>(total).fill(0);
    for (const serial of serials) counts[shardOf(serial, total)] = (counts[shardOf(serial, total)] ?? 0) + 1;
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(serials.length);
    for (const count of counts)
      expect(Math.abs(count - serials.length / total)).toBeLessThan(0.2 * (serials.length / total));
  });

  test('more takes a quarter of the serials when three become four, and moves no other', () => {
    const moved = serials.filter((serial) => shardOf(serial, 3) !== shardOf(serial, 4));
    expect(moved.length).toBeLessThanOrEqual(0.3 * serials.length);
    expect(moved.length).toBeGreaterThan(0.2 * serials.length);
    expect(moved.every((serial) => shardOf(serial, 4) === 3)).toBe(true);
  });

  test('is the same on every machine and in every version', () => {
    const known = [1, 2, 3, 4, 5, 6, 7, 8].map((index) => shardOf(uuid(index), 4));
    expect(known).toEqual([3, 1, 2, 3, 2, 1, 2, 2]);
  });
});

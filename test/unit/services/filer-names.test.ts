import { expect, test } from 'vitest';
import { FilerNames } from '../../../src/services/filer-names.ts';

const A = '0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';
const B = '1b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';
const C = '2b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';

type Named = Readonly<Record<string, string | undefined>>;

/** Names from an inventory, then from the titles of file acceleration, as `aliases` says. */
function namesOf(inventory: Named, titles: Named = {}, aliases: readonly (readonly [string, string])[] = []) {
  const shared: unknown[] = [];
  const names = new FilerNames(
    aliases.map(([id, target]) => ({ id, target })),
    (name, ids) => shared.push([name, ids]),
  );
  names.setInventory(new Map(Object.entries(inventory)));
  names.setTitles(Object.entries(titles));
  return {
    names,
    shared,
    /** The labels `filer` of these appliances, and of these filers. */
    appliances: (...serials: readonly string[]) => serials.map((id) => names.applianceName(id, inventory[id])),
    filers: (...guids: readonly string[]) => guids.map((id) => names.filerName(id, titles[id] ?? id)),
  };
}

test('a filer has the name of the appliance with its id, in any case, and follows when that is renamed', () => {
  const { names, filers } = namesOf({ [A]: 'leeds' }, { [A.toUpperCase()]: 'title', [B]: 'other' });
  expect(filers(A.toUpperCase(), B)).toEqual(['leeds', 'other']);
  names.setInventory(new Map([[A, 'leeds-new']]));
  expect(filers(A)).toEqual(['leeds-new']);
});

test('an alias joins two ids in any order and in a chain, and a name in it overrides all others', () => {
  for (const alias of [[A, B] as const, [B, A] as const])
    expect(namesOf({ [B]: 'leeds' }, { [A]: 'title' }, [alias]).filers(A)).toEqual(['leeds']);
  const chain = namesOf({ [C]: 'leeds' }, { [A]: 'a', [B]: 'b' }, [
    [A, B],
    [C, A],
  ]);
  expect(chain.filers(A, B)).toEqual(['leeds', 'leeds']);
  const named = namesOf({ [B]: 'leeds' }, { [A]: 'title' }, [
    [A, B],
    [B, 'north'],
  ]);
  expect([...named.filers(A), ...named.appliances(B)]).toEqual(['north', 'north']);
});

test('an appliance without a name has the title of its filer, and its serial while there is none', () => {
  const { names, appliances } = namesOf({ [A]: undefined });
  expect(appliances(A)).toEqual([A]);
  names.setTitles([[A.toUpperCase(), 'title']]);
  expect(appliances(A)).toEqual(['title']);
});

test('filers of one name have a short id behind it in both services, and are reported once', () => {
  const { names, shared, appliances, filers } = namesOf(
    { [A]: 'edge', [B]: 'edge', [C]: 'leeds' },
    { [B]: 'edge', [A]: 'edge' },
  );
  expect([appliances(A, B, C), filers(A, B)]).toEqual([
    ['edge (0b7e)', 'edge (1b7e)', 'leeds'],
    ['edge (0b7e)', 'edge (1b7e)'],
  ]);
  names.setInventory(new Map([A, B].map((serial) => [serial, 'edge'])));
  expect(shared).toEqual([['edge', [A, B]]]);
  // They differ, and are equal again.
  names.setInventory(new Map([[A, 'edge']]));
  names.setTitles([]);
  names.setInventory(new Map([A, B].map((serial) => [serial, 'edge'])));
  expect(shared).toHaveLength(2);
});

test('a short id is as long as it must be, and makes no name that another filer has', () => {
  const near = `0b7effff${A.slice(8)}`;
  expect(namesOf({}, { [A]: 'edge', [near]: 'edge' }).filers(A, near)).toEqual(['edge (0b7e2)', 'edge (0b7ef)']);
  const taken = namesOf({ [A]: 'edge', [B]: 'edge', [C]: 'edge (0b7e)' });
  expect(taken.appliances(A, B, C)).toEqual(['edge (0b7e2)', 'edge (1b7e2)', 'edge (0b7e)']);
});

test('one filer of a name in each service is the same filer, unless the appliance is another one by its id', () => {
  const same = namesOf({ [B]: 'edge' }, { [A]: 'edge' });
  expect([...same.appliances(B), ...same.filers(A)]).toEqual(['edge', 'edge']);
  const other = namesOf({ [B]: 'edge' }, { [B]: 'edge before', [A]: 'edge' });
  expect(other.filers(B, A)).toEqual(['edge', 'edge (0b7e)']);
});

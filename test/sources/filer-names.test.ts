import { describe, expect, test } from 'vitest';
import { FilerNames } from '../../src/sources/filer-names.ts';

const GUID = '0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';
const SERIAL = '1b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';
const THIRD = '2b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';

const inventory = (...names: readonly (readonly [string, string])[]) => new Map(names);

test('a filer is called as the inventory calls the appliance of the same id, in any case', () => {
  const names = new FilerNames([], true);
  expect(names.ofFiler(GUID.toUpperCase(), 'title')).toBe('title');
  names.takeInventory(inventory([GUID, 'leeds']));
  expect(names.ofFiler(GUID.toUpperCase(), 'title')).toBe('leeds');
  expect(names.ofFiler(SERIAL, 'other')).toBe('other');
  names.takeInventory(inventory([GUID, 'leeds-new']));
  expect(names.ofFiler(GUID, 'title')).toBe('leeds-new');
});

test('an alias joins two ids, whichever is written first', () => {
  for (const alias of [
    { id: GUID, is: SERIAL },
    { id: SERIAL, is: GUID },
  ]) {
    const names = new FilerNames([alias], true);
    names.takeInventory(inventory([SERIAL, 'leeds']));
    expect(names.ofFiler(GUID, 'title')).toBe('leeds');
    expect(names.ofAppliance(SERIAL, 'leeds')).toBe('leeds');
  }
});

test('a name that the operator gives counts before any other, on both sides', () => {
  const names = new FilerNames(
    [
      { id: GUID, is: SERIAL },
      { id: SERIAL, is: 'north' },
    ],
    true,
  );
  names.takeInventory(inventory([SERIAL, 'leeds']));
  expect([names.ofFiler(GUID, 'title'), names.ofAppliance(SERIAL, 'leeds')]).toEqual(['north', 'north']);
  const equal = new FilerNames([{ id: GUID, is: 'north' }], true);
  equal.takeInventory(inventory([GUID, 'leeds']));
  expect([equal.ofFiler(GUID, 'title'), equal.ofAppliance(GUID, 'leeds')]).toEqual(['north', 'north']);
});

test('a chain of aliases is one filer', () => {
  const names = new FilerNames(
    [
      { id: GUID, is: SERIAL },
      { id: THIRD, is: GUID },
    ],
    true,
  );
  names.takeInventory(inventory([THIRD, 'leeds']));
  expect([names.ofFiler(GUID, 'a'), names.ofFiler(SERIAL, 'b')]).toEqual(['leeds', 'leeds']);
});

test('an appliance that the inventory has no name for goes by the title, and by its serial while there is none', () => {
  const names = new FilerNames([], true);
  expect(names.ofAppliance(GUID, undefined)).toBe(GUID);
  names.takeTitles([[GUID.toUpperCase(), 'title']]);
  expect(names.ofAppliance(GUID, undefined)).toBe('title');
  expect(names.ofFiler(GUID, 'title')).toBe('title');
  names.takeTitles([]);
  expect(names.ofAppliance(GUID, undefined)).toBe(GUID);
});

test('without an inventory to ask, nobody waits for one', async () => {
  const alone = new FilerNames([], false);
  expect(alone.hasBeenAsked).toBe(true);
  await alone.whenAsked;
  const both = new FilerNames([], true);
  expect(both.hasBeenAsked).toBe(false);
  both.asked();
  expect(both.hasBeenAsked).toBe(true);
  await both.whenAsked;
});

describe('filers of one name', () => {
  const others = ['aaaa2a64', 'aaaa3a64', 'bbbb2a64'].map((start) => `${start}-5f0c-4c1e-9d3a-8f6b1c2d3e4f`);
  const [one = '', two = '', three = ''] = others;

  test('have a short id behind it on both sides, whatever the order, and are told once', () => {
    const shared: unknown[] = [];
    const names = new FilerNames([], true, (...told) => shared.push(told));
    names.takeInventory(inventory([GUID, 'edge'], [three, 'edge'], [SERIAL, 'leeds']));
    names.takeTitles([
      [three.toUpperCase(), 'edge'],
      [GUID, 'edge'],
    ]);
    names.takeInventory(inventory([three, 'edge'], [SERIAL, 'leeds'], [GUID, 'edge']));
    expect([names.ofAppliance(GUID, 'edge'), names.ofFiler(GUID, 'edge')]).toEqual(['edge (0b7e)', 'edge (0b7e)']);
    expect([names.ofAppliance(three, 'edge'), names.ofFiler(three, 'edge')]).toEqual(['edge (bbbb)', 'edge (bbbb)']);
    expect(names.ofAppliance(SERIAL, 'leeds')).toBe('leeds');
    expect(shared).toEqual([['edge', [GUID, three]]]);
  });

  test('have as much of the id as tells them apart', () => {
    const names = new FilerNames([], false);
    names.takeTitles([
      [one, 'edge'],
      [two, 'edge'],
    ]);
    expect([names.ofFiler(one, 'edge'), names.ofFiler(two, 'edge')]).toEqual(['edge (aaaa2)', 'edge (aaaa3)']);
  });

  test('have no name that another filer has by itself', () => {
    const names = new FilerNames([], true);
    const third = `0b7effff${GUID.slice(8)}`;
    names.takeInventory(inventory([GUID, 'edge'], [SERIAL, 'edge'], [THIRD, 'edge (0b7e)']));
    names.takeTitles([
      [third, 'edge'],
      [one, 'edge'],
    ]);
    const called = [GUID, SERIAL, THIRD, third, one].map((id) => names.ofFiler(id, 'edge'));
    expect(called).toEqual(['edge (0b7e2)', 'edge (1b7e2)', 'edge (0b7e)', 'edge (0b7ef)', 'edge (aaaa2)']);
  });

  test('are one where each service knows one of that name, and neither knows the other by its id', () => {
    const names = new FilerNames([], true);
    names.takeInventory(inventory([SERIAL, 'edge']));
    names.takeTitles([[GUID, 'edge']]);
    expect([names.ofAppliance(SERIAL, 'edge'), names.ofFiler(GUID, 'edge')]).toEqual(['edge', 'edge']);
  });

  test('are two where the appliance of that name is another filer by its id', () => {
    const names = new FilerNames([], true);
    names.takeInventory(inventory([SERIAL, 'edge']));
    names.takeTitles([
      [SERIAL, 'edge before'],
      [GUID, 'edge'],
    ]);
    expect([names.ofFiler(SERIAL, 'edge before'), names.ofFiler(GUID, 'edge')]).toEqual(['edge', 'edge (0b7e)']);
  });

  test('keep it while the operator calls one of them otherwise', () => {
    const names = new FilerNames([{ id: GUID, is: 'north' }], true);
    names.takeInventory(inventory([GUID, 'edge'], [SERIAL, 'edge']));
    expect([names.ofAppliance(GUID, 'edge'), names.ofAppliance(SERIAL, 'edge')]).toEqual(['north', 'edge']);
  });
});

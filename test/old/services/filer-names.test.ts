import { describe, expect, test } from 'vitest';
import { FilerNames } from '../../src/services/filer-names.ts';

const GUID = '0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';
const SERIAL = '1b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';
const THIRD = '2b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';

const inventory = (...names: readonly (readonly [string, string | undefined])[]) => new Map(names);

test('a filer is called as the inventory calls the appliance of the same id, in any case', () => {
  const names = new FilerNames([]);
  expect(names.filerName(GUID.toUpperCase(), 'title')).toBe('title');
  names.setInventory(inventory([GUID, 'leeds']));
  expect(names.filerName(GUID.toUpperCase(), 'title')).toBe('leeds');
  expect(names.filerName(SERIAL, 'other')).toBe('other');
  names.setInventory(inventory([GUID, 'leeds-new']));
  expect(names.filerName(GUID, 'title')).toBe('leeds-new');
});

test('an alias joins two ids, whichever is written first', () => {
  for (const alias of [
    { id: GUID, target: SERIAL },
    { id: SERIAL, target: GUID },
  ]) {
    const names = new FilerNames([alias]);
    names.setInventory(inventory([SERIAL, 'leeds']));
    expect(names.filerName(GUID, 'title')).toBe('leeds');
    expect(names.applianceName(SERIAL, 'leeds')).toBe('leeds');
  }
});

test('a name that the operator gives counts before any other, on both sides', () => {
  const names = new FilerNames([
    { id: GUID, target: SERIAL },
    { id: SERIAL, target: 'north' },
  ]);
  names.setInventory(inventory([SERIAL, 'leeds']));
  expect([names.filerName(GUID, 'title'), names.applianceName(SERIAL, 'leeds')]).toEqual(['north', 'north']);
  const equal = new FilerNames([{ id: GUID, target: 'north' }]);
  equal.setInventory(inventory([GUID, 'leeds']));
  expect([equal.filerName(GUID, 'title'), equal.applianceName(GUID, 'leeds')]).toEqual(['north', 'north']);
});

test('a chain of aliases is one filer', () => {
  const names = new FilerNames([
    { id: GUID, target: SERIAL },
    { id: THIRD, target: GUID },
  ]);
  names.setInventory(inventory([THIRD, 'leeds']));
  expect([names.filerName(GUID, 'a'), names.filerName(SERIAL, 'b')]).toEqual(['leeds', 'leeds']);
});

test('an appliance that the inventory has no name for goes by the title, and by its serial while there is none', () => {
  const names = new FilerNames([]);
  expect(names.applianceName(GUID, undefined)).toBe(GUID);
  names.setTitles([[GUID.toUpperCase(), 'title']]);
  expect(names.applianceName(GUID, undefined)).toBe('title');
  expect(names.filerName(GUID, 'title')).toBe('title');
  names.setTitles([]);
  expect(names.applianceName(GUID, undefined)).toBe(GUID);
});

test('without an inventory to ask, nobody waits for one', async () => {
  const alone = new FilerNames([]);
  expect(alone.isInventoryRead).toBe(true);
  await alone.inventoryRead;
  const both = new FilerNames([]);
  both.expectInventory();
  expect(both.isInventoryRead).toBe(false);
  both.markInventoryRead();
  expect(both.isInventoryRead).toBe(true);
  await both.inventoryRead;
});

describe('filers of one name', () => {
  const others = ['aaaa2a64', 'aaaa3a64', 'bbbb2a64'].map((start) => `${start}-5f0c-4c1e-9d3a-8f6b1c2d3e4f`);
  const [one = '', two = '', three = ''] = others;

  test('are reported again if they are shared again: names of filers that are gone are forgotten', () => {
    const shared: string[] = [];
    const names = new FilerNames([], (name) => shared.push(name));
    const both = inventory([GUID, 'leeds'], [SERIAL, 'leeds']);
    for (const read of [both, both, inventory([GUID, 'leeds']), both]) names.setInventory(read);
    expect(shared).toEqual(['leeds', 'leeds']);
  });

  test('have a short id behind it on both sides, whatever the order, and are told once', () => {
    const shared: unknown[] = [];
    const names = new FilerNames([], (...told) => shared.push(told));
    names.setInventory(inventory([GUID, 'edge'], [three, 'edge'], [SERIAL, 'leeds']));
    names.setTitles([
      [three.toUpperCase(), 'edge'],
      [GUID, 'edge'],
    ]);
    names.setInventory(inventory([three, 'edge'], [SERIAL, 'leeds'], [GUID, 'edge']));
    expect([names.applianceName(GUID, 'edge'), names.filerName(GUID, 'edge')]).toEqual(['edge (0b7e)', 'edge (0b7e)']);
    expect([names.applianceName(three, 'edge'), names.filerName(three, 'edge')]).toEqual([
      'edge (bbbb)',
      'edge (bbbb)',
    ]);
    expect(names.applianceName(SERIAL, 'leeds')).toBe('leeds');
    expect(shared).toEqual([['edge', [GUID, three]]]);
  });

  test('have as much of the id as tells them apart', () => {
    const names = new FilerNames([]);
    names.setTitles([
      [one, 'edge'],
      [two, 'edge'],
    ]);
    expect([names.filerName(one, 'edge'), names.filerName(two, 'edge')]).toEqual(['edge (aaaa2)', 'edge (aaaa3)']);
  });

  test('have no name that another filer has by itself', () => {
    const names = new FilerNames([]);
    const third = `0b7effff${GUID.slice(8)}`;
    names.setInventory(inventory([GUID, 'edge'], [SERIAL, 'edge'], [THIRD, 'edge (0b7e)']));
    names.setTitles([
      [third, 'edge'],
      [one, 'edge'],
    ]);
    const called = [GUID, SERIAL, THIRD, third, one].map((id) => names.filerName(id, 'edge'));
    expect(called).toEqual(['edge (0b7e2)', 'edge (1b7e2)', 'edge (0b7e)', 'edge (0b7ef)', 'edge (aaaa2)']);
  });

  test('are one where each service knows one of that name, and neither knows the other by its id', () => {
    const names = new FilerNames([]);
    names.setInventory(inventory([SERIAL, 'edge']));
    names.setTitles([[GUID, 'edge']]);
    expect([names.applianceName(SERIAL, 'edge'), names.filerName(GUID, 'edge')]).toEqual(['edge', 'edge']);
  });

  test('are two where the appliance of that name is another filer by its id, and both ids are told', () => {
    const shared: unknown[] = [];
    const names = new FilerNames([], (...told) => shared.push(told));
    names.setInventory(inventory([SERIAL, 'edge']));
    names.setTitles([
      [SERIAL, 'edge before'],
      [GUID, 'edge'],
    ]);
    expect([names.filerName(SERIAL, 'edge before'), names.filerName(GUID, 'edge')]).toEqual(['edge', 'edge (0b7e)']);
    expect(shared).toEqual([['edge', [SERIAL, GUID]]]);
  });

  test('have a short id too if the operator gives the name to one that has none in either service', () => {
    const names = new FilerNames([
      { id: GUID, target: 'north' },
      { id: one, target: 'south' },
    ]);
    names.setInventory(inventory([GUID, undefined], [SERIAL, 'north']));
    names.setTitles([
      [one, undefined],
      [two, 'south'],
    ]);
    expect([names.applianceName(GUID, undefined), names.applianceName(SERIAL, 'north')]).toEqual([
      'north (0b7e)',
      'north (1b7e)',
    ]);
    expect([names.filerName(one, one), names.filerName(two, 'south')]).toEqual(['south (aaaa2)', 'south (aaaa3)']);
  });

  test('keep it while the operator calls one of them otherwise', () => {
    const names = new FilerNames([{ id: GUID, target: 'north' }]);
    names.setInventory(inventory([GUID, 'edge'], [SERIAL, 'edge']));
    expect([names.applianceName(GUID, 'edge'), names.applianceName(SERIAL, 'edge')]).toEqual(['north', 'edge']);
  });
});

test('an appliance that replaces another of its name has the plain name at once', () => {
  const names = new FilerNames([]);
  names.setInventory(inventory([GUID, 'edge']));
  names.setInventory(inventory([GUID, 'edge'], [SERIAL, 'edge']), new Set([GUID]));
  expect(names.applianceName(SERIAL, 'edge')).toBe('edge');
  expect(names.applianceName(GUID, 'edge')).toMatch(/^edge \(/);
});

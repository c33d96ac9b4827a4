import { expect, test } from 'vitest';
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
  expect(alone.isSettled).toBe(true);
  await alone.settled;
  const both = new FilerNames([], true);
  expect(both.isSettled).toBe(false);
  both.settle();
  expect(both.isSettled).toBe(true);
  await both.settled;
});

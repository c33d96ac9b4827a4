import { expect, test } from 'vitest';
import { compareNames } from '../../../src/services/compare-names.ts';

type Names = NonNullable<Parameters<typeof compareNames>[0]>;

const filers = (...names: readonly string[]): Names => ({
  filers: names.map((name, index) => ({ id: `F-${name}-${index}`, name })),
  volumes: [],
});
const volumes = (...ids: readonly string[]): Names => ({
  filers: [],
  volumes: ids.map((id) => ({ id, name: `volume ${id}` })),
});
const UUID = '0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';

test.each<[string, Names, Names, readonly { readonly id: string; readonly target: string }[], readonly string[]]>([
  ['nothing in common is known without one of the services', filers('a'), filers(), [], []],
  ['one filer of two is an appliance', filers('a', 'b'), filers('a'), [], ['ok filer-ids joined']],
  ['no filer is an appliance', filers('a'), filers('b'), [], ['warning filer-ids apart']],
  [
    'an alias joins a filer with an appliance',
    filers('a'),
    filers('b'),
    [{ id: 'f-a-0', target: 'f-b-0' }],
    ['ok filer-ids joined'],
  ],
  ['one volume, with a number after its id', volumes(UUID), volumes(`${UUID}_12`), [], ['ok volume-ids joined']],
  ['no volume is one of the portal', volumes(UUID), volumes('v'), [], ['warning volume-ids apart']],
  ['two filers of one name', filers('a', 'a'), filers(), [], ['warning filer-names not-unique']],
  [
    'an alias of a filer that is nowhere',
    filers('a'),
    filers(),
    [{ id: 'x', target: 'leeds' }],
    ['warning aliases unmatched'],
  ],
])('%s', (_, gfa, portal, aliases, expected) => {
  const found: string[] = [];
  compareNames(gfa, portal, aliases, (level, check, code) => found.push(`${level} ${check} ${code}`));
  expect(found).toEqual(expected);
});

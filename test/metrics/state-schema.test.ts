import { describe, expect, test } from 'vitest';
import * as schema from '../../src/metrics/state-schema.ts';

const pet = { name: schema.text, age: schema.optional(schema.number(0)), seen: schema.time };

interface Both {
  write(value: never): unknown;
  read(saved: unknown): unknown;
}

describe('a saved value', () => {
  test.each<[string, Both, unknown]>([
    ['a text', schema.text, 'a'],
    ['a flag', schema.flag, true],
    ['a count', schema.count, 3],
    ['a number', schema.number(), -0.5],
    ['a word', schema.word(['on', 'off']), 'off'],
    ['nothing', schema.optional(schema.text), undefined],
    ['a time', schema.time, 1_772_409_600.5],
    ['no time', schema.time, Number.NEGATIVE_INFINITY],
    ['a list', schema.list(schema.count), [1, 2]],
    ['an object', schema.object(pet), { name: 'a', age: undefined, seen: Number.NEGATIVE_INFINITY }],
    ['a row', schema.row(pet), { name: 'a', age: 2, seen: 5 }],
    ['a map', schema.map(schema.count, schema.text), new Map([[1, 'a']])],
    ['a table', schema.table(pet), new Map([['cat', { name: 'a', age: 2, seen: 5 }]])],
  ])('that is %s comes back through JSON', (_, one, value) => {
    expect(one.read(JSON.parse(JSON.stringify(one.write(value as never))))).toEqual(value);
  });

  test('that is a moment is as long ago as it was, by the clock of the next process', () => {
    expect(schema.moment(50).read(schema.moment(1_000).write(400))).toBe(-550);
  });

  test('has one line of a list for each entry of a table, the key first', () => {
    const cats = new Map([['cat', { name: 'a', age: 2, seen: 5 }]]);
    expect(schema.table(pet).write(cats)).toEqual([['cat', 'a', 2, 5]]);
  });
});

test.each<[string, Pick<Both, 'read'>, unknown, string]>([
  ['a number for a text', schema.text, 1, 'a string'],
  ['half a count', schema.count, 0.5, 'a count'],
  ['a number below the least', schema.number(0), -1, 'a number'],
  ['another word', schema.word(['on', 'off']), 'odd', 'a known word'],
  ['a text for a list', schema.list(schema.text), 'a', 'a list'],
  ['a list for an object', schema.object(pet), [], 'an object'],
  ['an object without a property', schema.object(pet), { age: null, seen: 5 }, 'a string'],
  ['a row that ends early', schema.row(pet), ['a'], 'a number'],
  ['a table with a key that is no text', schema.table(pet), [[1, 'a', 2, 3]], 'a string'],
])('%s is refused, with what was expected', (_, one, saved, expected) => {
  expect(() => one.read(saved)).toThrow(new TypeError(`state file: expected ${expected}`));
});

test('a time that a file of an earlier version does not have is none', () => {
  expect(schema.row(pet).read(['a', null])).toMatchObject({ seen: Number.NEGATIVE_INFINITY });
});

import { describe, expect, test } from 'vitest';
import { SchemaError } from '../../../src/runtime/errors.ts';
import { parseDataResponse } from '../../../src/services/gfa/data-response.ts';
import { dataAnswer, filer, lock, volume } from '../../support/gfa-answers.ts';

function read(body: unknown) {
  const notes: string[] = [];
  const answer = parseDataResponse(body, (reason, place) => notes.push(`${reason} ${place}`));
  return { groups: answer.groups, notes };
}

describe('metrics', () => {
  const records = { filers: [filer(0, 1)], volumes: [volume(0)], locks: [lock(0), lock(1)] };
  const groups = { ...records, propagation: [] };

  test.each([
    ['a list of one object', [records]],
    ['one object', records],
    [
      'split over objects',
      [{ filers: records.filers, locks: [lock(0)] }, { volumes: records.volumes }, { locks: [lock(1)] }],
    ],
    ['with empty and null groups beside', [{ ...records, propagation: [] }, { filers: null, locks: [] }, {}]],
  ])('as %s are read alike', (_, metrics) => {
    expect(read({ ...dataAnswer({}), metrics })).toEqual({ groups, notes: [] });
  });

  test('of no object at all are an answer without records', () => {
    expect(read({ ...dataAnswer({}), metrics: [] }).groups.filers).toEqual([]);
  });
});

test.each([
  ['nothing', undefined],
  ['a text', 'maintenance'],
  ['no info', { metrics: [] }],
  ['no metrics', { info: {} }],
  ['metrics as a text', { info: {}, metrics: 'none' }],
  ['a metrics object that is null', { info: {}, metrics: [null] }],
  ['a group that is an object', { info: {}, metrics: [{ locks: {} }] }],
])('an answer that is %s is of the wrong shape', (_, body) => {
  expect(() => read(body)).toThrow(SchemaError);
});

test('the message of a wrong shape names the place and what was there', () => {
  expect(() => read({ info: {}, metrics: [{}, 3] })).toThrow(
    'reading GET /data: metrics[1]: expected an object, got a number',
  );
});

test('what is no object among the records is left out and counted with its place', () => {
  expect(read(dataAnswer({ locks: [null, lock(0), 'x', []] }))).toMatchObject({
    groups: { locks: [lock(0)] },
    notes: ['record metrics[0].locks[0]', 'record metrics[0].locks[2]', 'record metrics[0].locks[3]'],
  });
});

test('the keys __proto__ and constructor in an answer change nothing', () => {
  const body = `{"__proto__": {"info": 1}, "constructor": 1, "info": {"__proto__": {"volumes": []}},
    "metrics": {"__proto__": {"locks": [{}]}, "constructor": [{}], "filers": [{"__proto__": {"filer_guid": "x"}}]}}`;
  const { groups } = read(JSON.parse(body));
  expect(groups.locks).toEqual([]);
  expect(groups.filers).toHaveLength(1);
  expect(Object.hasOwn(Object.prototype, 'filer_guid')).toBe(false);
});

import { describe, expect, test } from 'vitest';
import { compareWithSchema, oneOf, type Schema, type SchemaDifference } from '../../src/doctor/schema.ts';

const documented: Schema = {
  items: [{ time: 'milliseconds', name: 'text', state: oneOf('on', 'off'), load: 'decimal?', build: 'text?' }],
};

function told(...items: readonly unknown[]): readonly SchemaDifference[] {
  const found: SchemaDifference[] = [];
  compareWithSchema(documented, { items }, (one) => found.push(one));
  return found;
}

const usual = { time: 1_772_445_300_000, name: 'lyon', state: 'on', load: '0.5', build: null };

describe('what an answer has that the documentation does not', () => {
  test('a documented answer has nothing of the kind', () => {
    expect(told(usual, { ...usual, load: 3, build: '10.1' })).toEqual([]);
  });

  test('a field that may be left out is not missed', () => {
    expect(told({ time: usual.time })).toEqual([]);
  });

  test('a field with another name is told with its place and look, and without its text', () => {
    expect(told({ ...usual, hostName: 'secret.example' })).toEqual([
      { what: 'unknown field', path: 'items[].hostName', format: 'text' },
    ]);
  });

  test('a word that the documentation lacks is told', () => {
    expect(told({ ...usual, state: 'PAUSED' })).toMatchObject([{ what: 'unknown word', word: 'PAUSED' }]);
  });

  test('a text where a number was documented, and a null where none may be', () => {
    expect(told({ ...usual, load: 'high' }, { ...usual, name: null })).toEqual([
      { what: 'unexpected type', path: 'items[].load', format: 'text' },
      { what: 'unexpected null', path: 'items[].name', format: 'null' },
    ]);
  });

  test('records in no order are told once a list', () => {
    const at = (time: number) => ({ ...usual, time: usual.time + time });
    expect(told(at(0), at(60), at(30))).toEqual([{ what: 'out of order', path: 'items', format: 'list' }]);
    expect(told(at(60), at(30), at(0))).toEqual([]);
  });

  test('a list that is an object is an unexpected type', () => {
    const found: SchemaDifference[] = [];
    compareWithSchema(documented, { items: {} }, (one) => found.push(one));
    expect(found).toEqual([{ what: 'unexpected type', path: 'items', format: 'object' }]);
  });
});

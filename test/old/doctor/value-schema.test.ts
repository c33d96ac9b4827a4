import { expect, test } from 'vitest';
import { formatOf, schemaOf } from '../../src/doctor/value-schema.ts';

test('each JSON value has one look', () => {
  const values = [null, true, 3, 0.5, '12.5', '', '2026-03-02T10:00:00Z', '0b6a1f0e-5f0a-4a53-9b5e-1d7f0c2a9e11'];
  expect(values.map(formatOf)).toEqual([
    ...['null', 'flag', 'integer', 'decimal', 'decimal text', 'empty text', 'date', 'uuid'],
  ]);
  expect(['lyon', [], {}].map(formatOf)).toEqual(['text', 'list', 'object']);
});

test('a shape has the share of each look and the magnitude of numbers by field, and nothing of their text', () => {
  const items = [
    { name: 'secret-name', load: '0.25' },
    { name: null, load: '1800' },
  ];
  const shape = schemaOf([{ items }], (field) => field);
  const name = { seen: 0, shares: { text: 0.5, null: 0.5 } };
  const load = { seen: 0, shares: { 'decimal text': 1 }, magnitude: [-1, 3] };
  expect(shape).toEqual({
    seen: 0,
    shares: { object: 1 },
    fields: {
      items: { seen: 0, shares: { list: 1 }, items: { seen: 0, shares: { object: 1 }, fields: { name, load } } },
    },
  });
  expect(JSON.stringify(shape)).not.toContain('secret');
});

test('fields whose names may not be shown become one', () => {
  const shape = schemaOf([{ lyon: 1, osaka: 200, build: 'x' }], (field) => (field === 'build' ? field : '*'));
  expect(shape.fields).toEqual({
    '*': { seen: 0, shares: { integer: 1 }, magnitude: [0, 2] },
    build: { seen: 0, shares: { text: 1 } },
  });
});

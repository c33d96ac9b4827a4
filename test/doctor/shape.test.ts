import { expect, test } from 'vitest';
import { lookOf, ShapeCount } from '../../src/doctor/shape.ts';

test('each JSON value has one look', () => {
  const values = [null, true, 3, 0.5, '12.5', '', '2026-03-02T10:00:00Z', '0b6a1f0e-5f0a-4a53-9b5e-1d7f0c2a9e11'];
  expect(values.map(lookOf)).toEqual([
    ...['null', 'flag', 'integer', 'decimal', 'decimal text', 'empty text', 'date', 'uuid'],
  ]);
  expect(['lyon', [], {}].map(lookOf)).toEqual(['text', 'list', 'object']);
});

test('a shape counts looks by field and keeps the magnitude of numbers, and nothing of their text', () => {
  const shape = new ShapeCount()
    .add({
      items: [
        { name: 'secret-name', load: '0.25' },
        { name: null, load: '1800' },
      ],
    })
    .shape((field) => field);
  expect(shape).toEqual({
    looks: { object: 1 },
    fields: {
      items: {
        looks: { list: 1 },
        items: {
          looks: { object: 2 },
          fields: {
            name: { looks: { text: 1, null: 1 } },
            load: { looks: { 'decimal text': 2 }, magnitude: [-1, 3] },
          },
        },
      },
    },
  });
  expect(JSON.stringify(shape)).not.toContain('secret');
});

test('fields whose names may not be shown become one', () => {
  const shape = new ShapeCount()
    .add({ lyon: 1, osaka: 200, build: 'x' })
    .shape((field) => (field === 'build' ? field : '*'));
  expect(shape.fields).toEqual({
    '*': { looks: { integer: 2 }, magnitude: [0, 2] },
    build: { looks: { text: 1 } },
  });
});

import { expect, test } from 'vitest';
import type { EnumField, Family } from '../../../src/metrics/family.ts';
import { LabelledCounter } from '../../../src/metrics/labelled-counter.ts';
import { recordOne } from '../../../src/metrics/units.ts';
import { valuesOf } from '../../harness/sample-values.ts';

function family(labels: Readonly<Record<string, Omit<EnumField, 'field'>>>): Family {
  const enumLabels = Object.fromEntries(Object.entries(labels).map(([name, rest]) => [name, { field: name, ...rest }]));
  return { name: 'filer_n', help: 'x', from: recordOne, fields: {}, enumLabels };
}

const noDrop = () => {};

test('a counter counts by its labels, and a value that is not documented is other', () => {
  const counter = new LabelledCounter(family({ state: { documentedValues: ['good', 'Bad'] }, kind: {} }));
  for (const state of ['good', 'good', 'ugly', 'BAD']) counter.add({ state, kind: 'a' }, 1, noDrop);
  expect(valuesOf(counter.samples())).toEqual({
    'filer_n{state="good",kind="a"}': 2,
    'filer_n{state="other",kind="a"}': 1,
    'filer_n{state="bad",kind="a"}': 1,
  });
});

test('a label with zeros has a series for each documented value from the start, or beside each value of another label', () => {
  const state = { documentedValues: ['Good', 'bad'], zeros: true } as const;
  const alone = new LabelledCounter(family({ state }));
  expect(valuesOf(alone.samples())).toEqual({ 'filer_n{state="good"}': 0, 'filer_n{state="bad"}': 0 });
  const counter = new LabelledCounter(family({ state, kind: {} }));
  expect(counter.samples()).toEqual([]);
  counter.add({ state: 'bad', kind: 'a' }, 1, noDrop);
  const values = { 'filer_n{state="good",kind="a"}': 0, 'filer_n{state="bad",kind="a"}': 1 };
  expect(valuesOf(counter.samples())).toEqual(values);
});

test('min and max keep the least and the greatest value, and have no series without a record', () => {
  const [least, greatest] = [new LabelledCounter(family({}), Math.min), new LabelledCounter(family({}), Math.max)];
  expect([...least.samples(), ...greatest.samples()]).toEqual([]);
  for (const value of [5, 3, 9]) {
    least.add({}, value, noDrop);
    greatest.add({}, value, noDrop);
  }
  expect([least.samples()[0]?.value, greatest.samples()[0]?.value]).toEqual([3, 9]);
});

test('beyond its limit of series the rest is other, reported, and no count is lost', () => {
  const counter = new LabelledCounter(family({ a: {}, b: {} }), undefined, 10);
  const reported: string[] = [];
  for (let index = 0; index < 400; index += 1) {
    counter.add({ a: `a${index % 20}`, b: `b${Math.floor(index / 20)}` }, 1, (reason) => reported.push(reason));
  }
  const values = valuesOf(counter.samples());
  expect(Object.keys(values)).toHaveLength(11);
  expect(values['filer_n{a="other",b="other"}']).toBe(390);
  expect(reported).toEqual(new Array(390).fill('label'));
});

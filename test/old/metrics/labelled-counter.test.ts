import { describe, expect, test } from 'vitest';
import type { Family } from '../../src/metrics/family.ts';
import { LabelledCounter } from '../../src/metrics/labelled-counter.ts';
import { toSamples } from '../../src/metrics/samples.ts';
import { booleanValue, enumValue, recordOne } from '../../src/metrics/units.ts';
import { valuesOf } from '../support/exposition-lines.ts';

/** A family with these labels. */
function family(
  ...labels: readonly { readonly name: string; readonly documentedValues?: readonly string[] }[]
): Family {
  const wordsFrom = Object.fromEntries(labels.map(({ name, ...rest }) => [name, { field: name, ...rest }]));
  return { name: 'filer_n', help: 'x', from: recordOne, fields: {}, enumLabels: wordsFrom };
}

describe('a tally', () => {
  test('counts by its labels, and calls a word that is not documented other', () => {
    const tally = new LabelledCounter(family({ name: 'state', documentedValues: ['good', 'bad'] }, { name: 'kind' }));
    tally.add({ state: 'good', kind: 'a' });
    tally.add({ state: 'good', kind: 'a' });
    tally.add({ state: 'ugly', kind: 'a' });
    tally.add({ state: 'bad', kind: 'b' }, 0);
    expect(valuesOf(tally.samples())).toEqual({
      'filer_n{state="good",kind="a"}': 2,
      'filer_n{state="other",kind="a"}': 1,
      'filer_n{state="bad",kind="b"}': 0,
    });
  });

  test('keeps fifty values of an open set, and loses nothing of the rest', () => {
    const tally = new LabelledCounter(family({ name: 'kind' }));
    for (let kind = 0; kind < 80; kind += 1) tally.add({ kind: `k${kind}` });
    const values = valuesOf(tally.samples());
    expect(Object.keys(values)).toHaveLength(51);
    expect(values['filer_n{kind="other"}']).toBe(30);
  });

  test('has no more series than it may, whatever is combined', () => {
    const tally = new LabelledCounter(family({ name: 'a' }, { name: 'b' }), 10);
    for (let index = 0; index < 400; index += 1) tally.add({ a: `a${index % 20}`, b: `b${Math.floor(index / 20)}` });
    const values = valuesOf(tally.samples());
    expect(Object.keys(values)).toHaveLength(11);
    expect(Object.values(values).reduce((sum, value) => sum + value, 0)).toBe(400);
  });

  test('goes on in another process where it was', () => {
    const tally = new LabelledCounter(family({ name: 'kind' }));
    tally.add({ kind: 'a' }, 3);
    const next = new LabelledCounter(family({ name: 'kind' }));
    for (const count of tally.takeChanged()) next.restore(count);
    tally.add({ kind: 'a' });
    for (const count of tally.all()) next.restore(count);
    next.add({ kind: 'a' });
    expect(valuesOf(next.samples())).toEqual({ 'filer_n{kind="a"}': 5 });
  });
});

test('a tally over documented words alone has each of them from the start', () => {
  const tally = new LabelledCounter(family({ name: 'state', documentedValues: ['Good', 'bad'] }));
  expect(Object.values(valuesOf(tally.samples()))).toEqual([0, 0, 0]);
});

describe('a state set', () => {
  const family = {
    name: 'filer_test',
    help: 'Test.',
    from: enumValue,
    fields: { status: {} },
    states: { label: 'status', documentedValues: ['idle', 'failed'] },
  } as const satisfies Family;
  const read = (status: unknown) => {
    const notes: string[] = [];
    const values = valuesOf(toSamples([family], [{ status }], {}, (reason) => notes.push(reason)));
    return { values: Object.values(values), notes };
  };

  test.each([
    ['idle', [1, 0, 0]],
    ['failed', [0, 1, 0]],
    ['pondering', [0, 0, 1]],
  ])('of %j has exactly one 1, and a series for every word', (status, values) => {
    expect(read(status)).toEqual({ values, notes: [] });
  });

  test.each([
    [null, 'absent'],
    ['', 'invalid'],
    [7, 'invalid'],
  ])('of %j has no series at all, and the drop is counted', (status, note) => {
    expect(read(status)).toEqual({ values: [], notes: [note] });
  });
});

test('a flag is true or false, as a word too, and nothing else', () => {
  const read = [true, 'true', false, 'false', 1, 0, '', null].map((raw) => booleanValue.read(raw) ?? 'no value');
  expect(read).toEqual([1, 1, 0, 0, ...Array(4).fill('no value')]);
});

import { describe, expect, test } from 'vitest';
import type { FamilyHeader, Format } from '../../src/exposition/format.ts';
import { LineStore } from '../../src/exposition/store.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import fc from '../support/fast-check.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { textOf } from '../support/store-text.ts';
import { scraping } from './scraping.ts';

const families: readonly FamilyHeader[] = [
  { name: 'filer_b', help: 'B.', type: 'gauge' },
  { name: 'filer_a', help: 'A.', type: 'gauge' },
  { name: 'filer_events_total', help: 'Events.', type: 'counter' },
  { name: 'filer_took_seconds', help: 'Took.', type: 'histogram', unit: 'seconds' },
];

const sample = (name: string, of: string, value = 1): Sample => ({ name, labels: { of }, value });
const none = { cut: 0, duplicates: 0 };

/** The series of a store's exposition, each as `name{of} value`, by family. */
function parsed(store: LineStore): Record<string, string[]> {
  const written = parseExposition(textOf(store), 'text');
  const lines = (all: readonly Sample[]) => all.map(({ name, labels, value }) => `${name}{${labels.of}} ${value}`);
  return Object.fromEntries(written.map(({ name, samples }) => [name, lines(samples)]));
}

describe('the store', () => {
  test('of nothing writes nothing, not even headers', () => {
    const store = new LineStore(families);
    expect([textOf(store), store.samples, [...store.tasks]]).toEqual(['', 0, []]);
  });

  test('writes families in the order of the catalogue and in one piece, whoever published when', () => {
    const store = new LineStore(families);
    store.publish('t1', [sample('filer_a', 'x'), sample('filer_b', 'x'), sample('filer_a', 'y')]);
    store.publish('t2', [sample('filer_b', 'z')]);
    expect(parsed(store)).toEqual({
      filer_b: ['filer_b{x} 1', 'filer_b{z} 1'],
      filer_a: ['filer_a{x} 1', 'filer_a{y} 1'],
    });
    expect(Object.keys(parsed(store))).toEqual(['filer_b', 'filer_a']);
    expect(store.samples).toBe(4);
  });

  test('keeps the later of two samples with the same labels, and says so', () => {
    const store = new LineStore(families);
    const corrected = store.publish('t', [sample('filer_a', 'x', 1), sample('filer_a', 'x', 2)]);
    expect([corrected, parsed(store), store.samples]).toEqual([
      { ...none, duplicates: 1 },
      { filer_a: ['filer_a{x} 2'] },
      1,
    ]);
  });

  test('knows duplicates that only a cut has made', () => {
    const store = new LineStore(families);
    const long = 'a'.repeat(2_000);
    const corrected = store.publish('t', [sample('filer_a', `${long}1`), sample('filer_a', `${long}2`)]);
    expect([corrected, store.samples]).toEqual([{ cut: 2, duplicates: 1 }, 1]);
  });

  test('gathers the lines of a histogram in its family', () => {
    const store = new LineStore(families);
    const bucket = (le: string, value: number) => ({
      name: 'filer_took_seconds_bucket',
      labels: { of: 'x', le },
      value,
    });
    const samples = [
      bucket('1.0', 1),
      bucket('+Inf', 2),
      sample('filer_took_seconds_sum', 'x', 3),
      sample('filer_took_seconds_count', 'x', 2),
    ];
    store.publish('t', [...samples, { ...sample('filer_events_total', 'x'), value: 5 }]);
    const names = (format: Format, end = '') =>
      parseExposition(textOf(store, format) + end, format).map(({ name, unit }) => [name, unit]);
    expect(names('text')).toEqual([
      ['filer_events_total', undefined],
      ['filer_took_seconds', undefined],
    ]);
    expect(names('openmetrics', '# EOF\n')).toEqual([
      ['filer_events', undefined],
      ['filer_took_seconds', 'seconds'],
    ]);
  });

  test('rejects a name that the catalogue does not have, and keeps what it had', () => {
    const store = new LineStore(families);
    store.publish('t', [sample('filer_a', 'x')]);
    const before = textOf(store);
    const publish = () => store.publish('t', [sample('filer_b', 'x'), sample('filer_unknown', 'x')]);
    expect(publish).toThrow('cannot publish filer_unknown: the catalogue does not declare it');
    expect([textOf(store), store.samples]).toEqual([before, 1]);
  });

  test('a scrape that has begun gets every byte of its moment, whatever others read and whenever lines change', () => {
    const store = new LineStore(families);
    // Enough for several buffers.
    const many = (value: number) =>
      Array.from({ length: 2_000 }, (_, id) => sample('filer_a', `${id}`.padStart(900, 'x'), value));
    for (const others of [0, 1, 2, 3]) {
      store.publish('t', many(others));
      const moment = store.snapshot('text');
      const expected = textOf(store);
      for (let reader = 0; reader < others; reader += 1) Array.from(moment.buffers());
      const copies: Buffer[] = [];
      for (const buffer of moment.buffers()) {
        copies.push(Buffer.from(buffer));
        if (copies.length === 2) store.withdraw('t');
      }
      expect(copies.length).toBeGreaterThan(2);
      expect(Buffer.concat(copies).toString() === expected).toBe(true);
    }
  });

  test('after any churn holds what was published last, and nothing else', () => {
    const task = fc.constantFrom('t1', 't2', 't3');
    const published = fc.array(
      fc.tuple(fc.constantFrom('filer_a', 'filer_b', 'filer_events_total'), fc.constantFrom('x', 'y')),
    );
    const step = fc.tuple(task, fc.option(published, { nil: undefined }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const store = new LineStore(families);
        const model = new Map<string, ReadonlySet<string>>();
        for (const [id, names] of steps) {
          // One task's series are its own, as in the program.
          const samples = names?.map(([name, of]) => sample(name, `${id}${of}`));
          if (samples === undefined) {
            store.withdraw(id);
            model.delete(id);
          } else {
            store.publish(id, samples);
            model.set(id, new Set(samples.map(({ name, labels }) => `${name}{${labels.of}} 1`)));
          }
        }
        const meant = [...model.values()].flatMap((lines) => [...lines]).sort();
        expect(Object.values(parsed(store)).flat().sort()).toEqual(meant);
        expect(store.samples).toBe(meant.length);
        expect(store.snapshot('text').length).toBe(Buffer.byteLength(textOf(store)));
        expect([...store.tasks].sort()).toEqual([...model.keys()].sort());
      }),
    );
  });
});

describe('the whole exposition', () => {
  test('has upstream data first, then the exporter’s own, of one moment, and ends as its format ends', async () => {
    const clock = new ManualClock();
    const exposition = new LineStore(families);
    const status = async () => {
      exposition.withdraw('t');
      return { apis: [], own: new Map(), warnings: [] };
    };
    const scrapes = scraping(exposition, clock, { status });
    await exposition.accept('t', [sample('filer_a', 'x'), sample('filer_a', 'y')], clock);
    for (const format of ['text', 'openmetrics'] as const) {
      const names = parseExposition((await scrapes.render(format)).toString(), format);
      await exposition.accept('t', [sample('filer_a', 'x'), sample('filer_a', 'y')], clock);
      expect(names[0]?.name).toBe('filer_a');
      expect(names.find(({ name }) => name === 'filer_exporter_samples')?.samples[0]?.value).toBe(2);
    }
  });

  test('has nothing in it that is not fresh', async () => {
    const clock = new ManualClock();
    const exposition = new LineStore(families);
    const scrapes = scraping(exposition, clock, { apis: [], expire: async () => exposition.withdraw('t') });
    await exposition.accept('t', [sample('filer_a', 'x')], clock);
    await exposition.accept('fresh', [sample('filer_b', 'x')], clock);
    const text = (await scrapes.render('text')).toString();
    expect(text).not.toContain('filer_a');
    expect(text).toContain('filer_b{of="x"} 1\n');
    expect(text).toContain('filer_exporter_samples 1\n');
  });

  test('takes no more lines than there is memory for, and has room again when some have left', async () => {
    const clock = new ManualClock();
    const exposition = new LineStore(families, 'filer_a{of="x"} 1\n'.length * 3);
    const samples = ['x', 'y'].map((of) => sample('filer_a', of));
    await exposition.accept('t', samples, clock);
    await expect(exposition.accept('t', samples, clock)).rejects.toMatchObject({
      reason: 'oversize',
      message:
        'writing the samples: the lines would take more than the remaining 18 bytes of memory; give the process more memory, or export fewer series',
    });
    expect(parsed(exposition)).toEqual({ filer_a: ['filer_a{x} 1', 'filer_a{y} 1'] });
    await exposition.accept('t', samples.slice(1), clock);
    expect(exposition.snapshot('text').length).toBe(textOf(exposition).length);
    await exposition.accept('u', samples, clock);
    expect(exposition.samples).toBe(3);
    exposition.withdraw('t');
    exposition.withdraw('u');
    expect(exposition.snapshot('text').length).toBe(0);
  });

  test('tells what had to be corrected, and nothing where nothing had to be', async () => {
    const [exposition, clock] = [new LineStore(families), new ManualClock()];
    const accept = (...samples: Sample[]) => exposition.accept('t', samples, clock);
    expect(await accept(sample('filer_a', 'x'))).toEqual(none);
    expect(await accept(sample('filer_a', 'a'.repeat(2_000)))).toEqual({ ...none, cut: 1 });
    expect(await accept(sample('filer_a', 'x'), sample('filer_a', 'x'), sample('filer_a', 'x'))).toEqual({
      ...none,
      duplicates: 2,
    });
  });
});

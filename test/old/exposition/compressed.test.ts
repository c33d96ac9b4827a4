import { setImmediate as turn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Format } from '../../src/exposition/format.ts';
import { deflate, gzipBody } from '../../src/exposition/gzip.ts';
import { LineStore } from '../../src/exposition/store.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import fc from '../support/fast-check.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { scraping } from './scraping.ts';

const families = ['filer_a', 'filer_b'].map((name) => ({ name, help: 'A "figure".', type: 'gauge' as const }));

/** So many lines of a task; in every round all values are others. */
function* samplesOf(task: string, lines: number, round: number): Generator<Sample> {
  for (let line = 0; line < lines; line += 1) {
    yield { name: `filer_${line % 2 === 0 ? 'a' : 'b'}`, labels: { of: `${task} ü ${line}` }, value: round };
  }
}

function made() {
  const clock = new ManualClock();
  const store = new LineStore(families);
  const scrapes = scraping(store, clock);
  const publish = (task: string, lines: number, round: number) =>
    void store.publish(task, samplesOf(task, lines, round));
  const read = async (gzip: boolean, format: Format = 'text') => {
    const body = await scrapes.body(format, gzip);
    const bytes = Buffer.concat(Array.from(body.buffers(), (buffer) => Buffer.from(buffer)));
    expect(bytes).toHaveLength(body.length);
    return bytes;
  };
  return { clock, store, scrapes, publish, packed: () => read(true), plain: () => read(false), read };
}

/** The values of all samples of upstream data in a page: one, if it is of one moment. */
function valuesOf(page: Buffer): ReadonlySet<number> {
  const upstream = parseExposition(page.toString(), 'text').filter(({ name }) => /^filer_[ab]$/.test(name));
  return new Set(upstream.flatMap(({ samples }) => samples.map(({ value }) => value)));
}

describe('a compressed scrape', () => {
  test('is the plain one, in both formats, whatever has changed since the last', async () => {
    const { clock, publish, read } = made();
    for (let round = 0; round < 6; round += 1) {
      for (let task = 0; task < 40; task += 1) if ((task + round) % 3 === 0) publish(`small ${task}`, 30, round);
      publish('large', round % 2 === 0 ? 30_000 : 10_000, round);
      await clock.advance(100);
      for (const format of ['text', 'openmetrics'] as const) {
        const [is, meant] = await Promise.all([read(true, format), read(false, format)]);
        expect(gunzipSync(is).equals(meant)).toBe(true);
        expect(is.length).toBeLessThan(meant.length / 4);
      }
    }
  });

  test('is as small as one call of zlib makes it, also the first', async () => {
    const { publish, packed } = made();
    for (let task = 0; task < 500; task += 1) publish(`small ${task}`, 20, task);
    const { length } = await packed();
    const alone = await deflate([gunzipSync(await packed())]);
    expect(length).toBeLessThan(1.1 * gzipBody(alone, Buffer.alloc(0)).length);
  });

  test('is shared for a tenth of a second, also if lines change, and made anew after it', async () => {
    const { clock, publish, scrapes } = made();
    publish('t', 1_000, 0);
    const first = await scrapes.body('text', true);
    publish('t', 1_000, 1);
    await clock.advance(99);
    expect(await scrapes.body('text', true)).toBe(first);
    await clock.advance(1);
    const next = await scrapes.body('text', true);
    expect(valuesOf(gunzipSync(Buffer.concat([...next.buffers()])))).toEqual(new Set([1]));
  });
});

test.each([true, false])(
  'a scrape that is read slowly is of the moment at which it began, packed: %s',
  async (gzip) => {
    const { scrapes, publish } = made();
    publish('large', 15_000, 1);
    publish('small', 10, 1);
    const heard: Buffer[] = [];
    let round = 1;
    for (const buffer of (await scrapes.body('text', gzip)).buffers()) {
      heard.push(Buffer.from(buffer));
      round += 1;
      publish('large', 15_000, round);
      publish('small', 10, round);
      await turn();
    }
    const bytes = Buffer.concat(heard);
    expect(valuesOf(gzip ? gunzipSync(bytes) : bytes)).toEqual(new Set([1]));
  },
);

test('whatever was compressed before and follows it is one member of gzip, which curl, browsers and fetch read', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.nat(200_000).map((length) => new Uint8Array(length).fill(length % 251)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { maxLength: 12 }), bytes, async (before, end) => {
      const { length, buffers } = gzipBody(await deflate(before.map((some) => Buffer.from(some))), Buffer.from(end));
      const is = Buffer.concat([...buffers()]);
      expect(is).toHaveLength(length);
      expect(gunzipSync(is).equals(Buffer.concat([...before, end]))).toBe(true);
      const read = new Response(new Blob([is]).stream().pipeThrough(new DecompressionStream('gzip')));
      expect(Buffer.from(await read.arrayBuffer()).equals(Buffer.concat([...before, end]))).toBe(true);
    }),
    { numRuns: 100 },
  );
});

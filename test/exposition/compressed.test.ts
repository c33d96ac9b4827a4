import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Body, bodyOf } from '../../src/exposition/body.ts';
import { CODINGS, codec, joinSmall, type Piece } from '../../src/exposition/compression.ts';
import { Compressor, type CompressorSettings, quietCodec } from '../../src/exposition/compressor.ts';
import { Exposition } from '../../src/exposition/exposition.ts';
import { LineStore } from '../../src/exposition/store.ts';
import { chooseCoding } from '../../src/http/negotiate.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { large, serve, serving, sluggish } from '../http/serving.ts';
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

function made(settings: CompressorSettings = quietCodec) {
  const clock = new ManualClock();
  const store = new LineStore(families);
  const exposition = new Exposition(store, clock, Number.POSITIVE_INFINITY, settings);
  const scrapes = scraping(exposition, clock);
  const publish = (task: string, lines: number, round: number) =>
    void store.publish({ task, samples: samplesOf(task, lines, round) });
  const packed = async () => bytesOf(await scrapes.body('text', 'gzip'));
  const plain = async () => bytesOf(await scrapes.body('text', undefined));
  return { clock, store, exposition, scrapes, publish, packed, plain };
}

function bytesOf(body: Body & { release?(): void }): Buffer {
  const bytes = Buffer.concat([...body.buffers()]);
  expect(bytes).toHaveLength(body.length);
  body.release?.();
  return bytes;
}

describe('a compressed scrape', () => {
  test('is the plain one at every moment, also while it is being compressed', async () => {
    const { exposition, publish, packed, plain } = made();
    const sizes = new Set<number>();
    for (let round = 0; round < 12; round += 1) {
      for (let task = 0; task < 40; task += 1) if ((task + round) % 3 === 0) publish(`small ${task}`, 30, round);
      publish('large', round % 2 === 0 ? 120_000 : 20_000, round);
      for (let look = 0; look < 6; look += 1) {
        const [is, meant] = await Promise.all([packed(), plain()]);
        expect(gunzipSync(is).equals(meant)).toBe(true);
        sizes.add(is.length);
        await turn();
      }
    }
    await exposition.idle;
    const settled = await packed();
    expect(gunzipSync(settled).equals(await plain())).toBe(true);
    expect(settled.length).toBeLessThan((await plain()).length / 4);
    // Some looks came before the compression, some after.
    expect(sizes.size).toBeGreaterThan(12);
  });

  test('compresses a block once however often polls changed it, and again nothing that did not change', async () => {
    const compressions: number[] = [];
    const { exposition, store, publish, packed } = made({
      ...quietCodec,
      compressNow: (coding, lines) => {
        compressions.push(lines.length);
        return codec.compressNow(coding, lines);
      },
    });
    for (let task = 0; task < 1_500; task += 1) publish(`small ${task}`, 20, 0);
    await packed();
    const lines = () => [...store.blocks()].map((block) => block.lines(store.memory));
    const before = lines();
    expect(before.length).toBeGreaterThan(20);
    expect(compressions).toHaveLength(before.length);
    for (let round = 1; round <= 5; round += 1) for (const task of [7, 8, 9]) publish(`small ${task}`, 20, round);
    await exposition.idle;
    expect([...store.blocks()].filter((block) => block.compressed('gzip') === undefined)).toHaveLength(2);
    await packed();
    expect([...store.blocks()].filter((block) => block.compressed('gzip') === undefined)).toEqual([]);
    expect(compressions).toHaveLength(before.length + 2);
    const after = lines();
    expect(after.filter((each, index) => each !== before[index])).toHaveLength(2);
  });

  test('leaves to the thread pool what is more than one scrape should compress, and does not wait for it', async () => {
    let pooled = 0;
    const waiting: (() => void)[] = [];
    const { exposition, store, publish, packed, plain } = made({
      ...quietCodec,
      compress: async (coding, lines) => {
        pooled += 1;
        if (pooled <= 2) await new Promise<void>((resolve) => void waiting.push(resolve));
        return codec.compress(coding, lines);
      },
    });
    for (let task = 0; task < 8_000; task += 1) publish(`small ${task}`, 20, 0);
    const blocks = [...store.blocks()];
    expect(blocks.length).toBeGreaterThan(140);
    expect(gunzipSync(await packed()).equals(await plain())).toBe(true);
    const compressed = () => blocks.filter((block) => block.compressed('gzip') !== undefined).length;
    expect([compressed() > 60, compressed() < 80]).toEqual([true, true]);
    while (waiting.length < 2) await turn();
    for (const resolve of waiting) resolve();
    await exposition.idle;
    await packed();
    expect(compressed()).toBe(blocks.length);
  });

  test('is not prepared while nobody asks for it, nor ten minutes after the last who did', async () => {
    const { clock, exposition, store, publish, packed } = made();
    const packedBlocks = () => [...store.blocks()].filter((block) => block.compressed('gzip')).length;
    publish('t', 1_000, 0);
    await exposition.idle;
    expect(packedBlocks()).toBe(0);
    await packed();
    await exposition.idle;
    expect(packedBlocks()).toBeGreaterThan(0);
    await clock.advance(600_001);
    await exposition.accept('other', samplesOf('other', 1_000, 1));
    await exposition.idle;
    expect(packedBlocks()).toBe(0);
  });

  test('of a large task is compressed before it is shown', async () => {
    const { exposition, store, packed } = made();
    await packed();
    await exposition.accept('large', samplesOf('large', 40_000, 1));
    expect([...store.blocks()].every((block) => block.compressed('gzip'))).toBe(true);
    expect((await packed()).length).toBeLessThan(400_000);
  });

  test('leaves no more for the next one than one scrape compresses, however large the tasks are', async () => {
    const { store, exposition, publish, packed } = made();
    for (let task = 0; task < 30; task += 1) publish(`large ${task}`, 6_000, 1);
    expect([...store.blocks()].length).toBeLessThanOrEqual(64);
    await packed();
    await exposition.idle;
    const waiting = [...store.changedBlocks].reduce((sum, { bytes }) => sum + bytes, 0);
    expect(waiting).toBeLessThanOrEqual(2 * 1024 * 1024);
    await packed();
    expect(store.changedBlocks.size).toBe(0);
  });

  test('that is read slowly is of the moment at which it began', async () => {
    const { scrapes, publish, store } = made();
    publish('large', 30_000, 1);
    publish('small', 10, 1);
    for (const coding of ['gzip', undefined] as const) {
      const body = await scrapes.body('text', coding);
      const pieces = body.buffers()[Symbol.iterator]();
      const heard: Buffer[] = [];
      for (let round = 2; ; round += 1) {
        const { value, done } = pieces.next();
        if (done) break;
        heard.push(value);
        publish('large', 30_000, round);
        publish('small', 10, round);
        await turn();
      }
      const bytes = Buffer.concat(heard);
      expect(store.memory.waiting).toBeGreaterThan(0);
      body.release();
      const text = (coding === undefined ? bytes : gunzipSync(bytes)).toString();
      const values = new Set(
        parseExposition(text, 'text')
          .slice(0, 2)
          .flatMap(({ samples }) => samples.map(({ value }) => value)),
      );
      expect(values.size).toBe(1);
      publish('large', 30_000, 1);
      publish('small', 10, 1);
      expect(store.samples).toBe(30_010);
    }
  });

  test('is one that fetch reads, as curl and browsers do', async () => {
    const { exposition, scrapes, publish, plain } = made();
    publish('large', 30_000, 1);
    const server = createServer((_, response) => {
      void scrapes.body('text', 'gzip').then((body) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length });
        for (const piece of body.buffers()) response.write(piece);
        response.end(body.release);
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { readonly port: number };
    try {
      for (let time = 0; time < 2; time += 1) {
        const text = await (await fetch(`http://127.0.0.1:${port}/`)).text();
        expect(text === (await plain()).toString()).toBe(true);
        await exposition.idle;
      }
    } finally {
      server.close();
    }
  });
});

test('what cannot be compressed goes out as it is; that is told once, and once more when it begins again', async () => {
  const told: string[] = [];
  let isWell = false;
  const { exposition, publish, packed, plain } = made({
    compress: (coding, lines) => (isWell ? codec.compress(coding, lines) : Promise.reject(new Error('no memory'))),
    compressNow: (coding, lines) => {
      if (!isWell) throw new Error('no memory');
      return codec.compressNow(coding, lines);
    },
    failed: ({ message }) => told.push(message),
  });
  for (const well of [false, true, false]) {
    isWell = well;
    for (let round = 0; round < 3; round += 1) {
      for (let task = 0; task < 3; task += 1) publish(`task ${task}`, 30, round);
      await packed();
      await exposition.idle;
      expect(gunzipSync(await packed()).equals(await plain())).toBe(true);
    }
  }
  expect(told).toEqual(['no memory', 'no memory']);
});

test('however often something was compressed, nothing is remembered of it', async () => {
  const many = Array.from({ length: 100 }, (_, index) => ({
    name: `filer_${index}`,
    help: 'A.',
    type: 'gauge' as const,
  }));
  const store = new LineStore(many);
  const compressor = new Compressor(store, new ManualClock(), quietCodec);
  const waiting = () => [...store.changedBlocks].reduce((sum, { bytes }) => sum + bytes, 0);
  const pad = 'x'.repeat(1_000);
  await compressor.asked('gzip');
  for (let change = 0; change < 10; change += 1) {
    for (const task of ['t', 'u']) {
      const samples = many.flatMap(({ name }) =>
        Array.from({ length: 14 }, (_, line) => ({ name, labels: { of: `${task} ${line}`, pad }, value: change })),
      );
      store.publish({ task, samples });
    }
    expect(waiting()).toBeGreaterThan(2 * 1024 * 1024);
    compressor.changed();
    await compressor.idle;
    expect(waiting()).toBeLessThanOrEqual(2 * 1024 * 1024);
  }
  expect(await compressor.idle).toEqual([]);
});

test('pieces compressed and not, in any order and however they are joined, are one stream of gzip', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.nat(200_000).map((length) => new Uint8Array(length).fill(length % 251)),
  );
  const parts = fc.array(fc.tuple(bytes, fc.boolean()), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(parts, async (given) => {
      const pieces: Piece[] = [];
      for (const [some, isCompressed] of given) {
        const lines = Buffer.from(some);
        pieces.push(isCompressed ? await codec.compress('gzip', lines) : lines);
      }
      const meant = Buffer.concat(given.map(([some]) => some));
      for (const each of [pieces, joinSmall(pieces)]) {
        expect(gunzipSync(bytesOf(bodyOf(each, 'gzip'))).equals(meant)).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});

test('small pieces are joined and large ones go as they are, with nothing lost and in order', () => {
  const sizes = (buffers: readonly Buffer[]) =>
    joinSmall(buffers).map((piece) => bytesOf(bodyOf([piece], undefined)).length / 1024);
  const kib = (count: number) => Buffer.alloc(count * 1024);
  expect(sizes([])).toEqual([]);
  expect(sizes([kib(1), kib(2)])).toEqual([3]);
  expect(sizes([kib(1), kib(100), kib(2), kib(3)])).toEqual([1, 100, 5]);
  expect(sizes(Array.from({ length: 40 }, () => kib(15)))).toEqual([270, 270, 60]);
  const one = kib(1_000);
  expect(joinSmall([one])[0]).toBe(one);
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40_000, size: 'max' }), { maxLength: 20 }), (some) => {
      const buffers = some.map((bytes) => Buffer.from(bytes));
      expect(bytesOf(bodyOf(joinSmall(buffers), undefined)).equals(Buffer.concat(buffers))).toBe(true);
    }),
  );
});

// Node's own decoder stops after the first frame, so each is decoded alone; the `zstd` program reads them in a row.
test.runIf(CODINGS.includes('zstd'))('pieces compressed and not are frames of zstd in a row', async () => {
  const zlib = (await import('node:zlib')) as unknown as { readonly zstdDecompressSync: (bytes: Buffer) => Buffer };
  const lines = Buffer.alloc(300_000, 'filer_a 1\n');
  const items = [
    await codec.compress('zstd', lines),
    lines,
    Buffer.alloc(0),
    lines.subarray(0, 10),
    await codec.compress('zstd', lines),
  ];
  const frames = items.map((item) => bytesOf(bodyOf([item], 'zstd'))).filter(({ length }) => length > 0);
  const read = Buffer.concat(frames.map((frame) => zlib.zstdDecompressSync(frame)));
  expect(read.equals(Buffer.concat([lines, lines, lines.subarray(0, 10), lines]))).toBe(true);
  expect(bytesOf(bodyOf(items, 'zstd')).equals(Buffer.concat(frames))).toBe(true);
});

test.each([
  ['zstd, gzip', 'zstd'],
  ['gzip, zstd', 'gzip'],
  ['gzip;q=0.5, zstd', 'zstd'],
  ['zstd;q=0.1, gzip;q=0.2', 'gzip'],
  ['zstd;q=0, gzip;q=0.1', 'gzip'],
  ['zstd', 'zstd'],
  ['x-gzip', 'gzip'],
  ['*', 'gzip'],
  ['br, *;q=0.1', 'gzip'],
  ['zstd;q=0', undefined],
  ['identity', undefined],
  [undefined, undefined],
] as const)('who accepts %s gets %s', (header, coding) => {
  expect(chooseCoding(header, ['gzip', 'zstd'])).toBe(coding);
  expect(chooseCoding(header, ['gzip'])).toBe(
    coding === 'zstd' && !header.includes('gzip') ? undefined : coding && 'gzip',
  );
});

test('a scraper that goes away in the middle of a compressed answer leaves nothing behind', async () => {
  const { port, ask } = await serve({ exposition: serving(large) }, { maxScrapes: 1 });
  const gone = await sluggish(port, 'GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n');
  await turn();
  gone.destroy();
  let status = 503;
  for (let tries = 0; tries < 10_000 && status !== 200; tries += 1) {
    await turn();
    ({ status } = await ask('/metrics', {}, 'HEAD'));
  }
  expect(status).toBe(200);
});

test('what is not compressed is sent as it is, and its length is told before', () => {
  const lines = [Buffer.from('a 1\n'), Buffer.from('b 2\n')];
  expect(bytesOf(bodyOf(lines, undefined)).toString()).toBe('a 1\nb 2\n');
});

import { setImmediate as turn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Coding } from '../../src/exposition/compression.ts';
import { Exposition } from '../../src/exposition/exposition.ts';
import type { Format } from '../../src/exposition/format.ts';
import { LineStore } from '../../src/exposition/store.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { exposition as few, large, serve, serving, sluggish, until } from '../http/serving.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { scraping } from './scraping.ts';

const families = [{ name: 'filer_a', help: 'A figure.', type: 'gauge' as const }];

function* samplesOf(task: string, lines: number, value: number): Generator<Sample> {
  for (let line = 0; line < lines; line += 1) {
    yield { name: 'filer_a', labels: { task, line: `${line}`, pad: 'x'.repeat(100) }, value };
  }
}

/** Counts who has been given a body and has not yet let go of it. */
function counted(buffers: readonly Buffer[]) {
  const held = { now: 0, ever: 0 };
  const exposition = (format: Format, coding: Coding | undefined) => {
    held.now += 1;
    held.ever += 1;
    return serving(buffers, () => {
      held.now -= 1;
    })(format, coding);
  };
  return { held, exposition };
}

test.each<[string, Readonly<Record<string, string>>, string]>([
  ['read to its end', {}, 'GET'],
  ['packed', { 'accept-encoding': 'gzip' }, 'GET'],
  ['asked for its headers alone', {}, 'HEAD'],
])('a scrape that is %s lets go of what it held', async (_, headers, method) => {
  const { held, exposition } = counted(few);
  const { ask } = await serve({ exposition });
  await ask('/metrics', headers, method);
  await until(() => held.now === 0);
  expect(held.ever).toBe(1);
});

test('so does one whose scraper goes away, before or in the middle of the answer', async () => {
  const { held, exposition } = counted(large);
  const { port } = await serve({ exposition });
  const early = await sluggish(port);
  early.destroy();
  const late = await sluggish(port);
  await until(() => held.now > 0);
  for (let turns = 0; turns < 20; turns += 1) await turn();
  late.destroy();
  await until(() => held.now === 0);
  expect(held.ever).toBeGreaterThan(0);
});

test('so does one that is cut off for being slow', async () => {
  const { held, exposition } = counted(large);
  const clock = new ManualClock();
  const { port } = await serve({ exposition }, { clock });
  await sluggish(port);
  await until(() => clock.sleeping === 1);
  expect(held.now).toBe(1);
  await clock.advance(120_000);
  await until(() => held.now === 0);
});

test('so does one that went away while its answer was being made', async () => {
  const { held, exposition } = counted(few);
  let answer = () => {};
  const made = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { port } = await serve({
    exposition: async (format, coding) => {
      const body = exposition(format, coding);
      await made;
      return body;
    },
  });
  const gone = await sluggish(port);
  await until(() => held.now === 1);
  gone.destroy();
  for (let turns = 0; turns < 20; turns += 1) await turn();
  answer();
  await until(() => held.now === 0);
});

test('with everything changing under a crowd of fast, slow and vanishing scrapers, every answer is one moment, and all memory comes back', async () => {
  const store = new LineStore(families);
  const exposition = new Exposition(store, systemClock);
  const scrapes = scraping(exposition, systemClock);
  const { port, ask } = await serve({ exposition: (format, coding) => scrapes.body(format, coding) });
  const publishAll = (round: number) => {
    store.publish({ task: 'large', samples: samplesOf('large', 4_000, round) });
    for (let task = 0; task < 50; task += 1) {
      store.publish({ task: `t${task}`, samples: samplesOf(`t${task}`, 20, round) });
    }
  };
  publishAll(0);
  let running = true;
  const polls = (async () => {
    for (let round = 1; running; round += 1) {
      publishAll(round);
      await turn();
    }
  })();
  const scraper = async (headers: Readonly<Record<string, string>>) => {
    for (let time = 0; time < 12; time += 1) {
      const { body } = await ask('/metrics', headers);
      const text = (headers['accept-encoding'] === undefined ? body : gunzipSync(body)).toString();
      const { samples } = parseExposition(text, 'text').find(({ name }) => name === 'filer_a') ?? { samples: [] };
      expect([samples.length, new Set(samples.map(({ value }) => value)).size]).toEqual([5_000, 1]);
    }
  };
  const vanishing = async () => {
    for (let time = 0; time < 20; time += 1) {
      const socket = await sluggish(port);
      await turn();
      socket.destroy();
    }
  };
  await Promise.all([scraper({}), scraper({ 'accept-encoding': 'gzip' }), scraper({}), vanishing()]);
  running = false;
  await polls;
  await exposition.idle;
  await until(() => store.memory.waiting === 0);
});

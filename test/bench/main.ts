import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { gzip } from '../../src/exposition/metrics-page.ts';
import { LineStore } from '../../src/exposition/store.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { simulatedLimits } from '../unit/transport/rate/unknown-limits.ts';

/** Prints one measurement as one line of JSON. */
function report(name: string, value: number, unit: string): void {
  process.stdout.write(`${JSON.stringify({ name, value: Number(value.toPrecision(4)), unit })}\n`);
}

async function timed(name: string, work: () => unknown): Promise<void> {
  const startedAt = systemClock.monotonic();
  await work();
  report(name, systemClock.monotonic() - startedAt, 'ms');
}

/** How much of an unknown limit is used, and how many requests are rejected. */
function limits(): void {
  for (const { name, hasRetryAfter, used, rejected } of simulatedLimits()) {
    const limit = `limits/${name}, ${hasRetryAfter ? 'with' : 'without'} Retry-After`;
    report(`${limit}/used`, 100 * used, '%');
    report(`${limit}/rejected`, 100 * rejected, '%');
  }
}

const SERIES = ['cpu', 'load', 'memory', 'cache', 'disk'];

/** A page of 350,000 samples, beside joining the same text and one call of zlib. */
async function scrape(): Promise<void> {
  const store = new LineStore([{ name: 'filer_bench', help: 'A sample.', type: 'gauge' }]);
  const samplesOf = (appliance: number, series: string): readonly Sample[] =>
    Array.from({ length: 35 }, (_, index) => ({
      name: 'filer_bench',
      labels: { serial: `0b7e2a64-5f0c-4c1e-9d3a-${String(appliance).padStart(12, '0')}`, series, part: `${index}` },
      value: appliance + index,
    }));
  await timed('scrape/writing the lines of 10,000 tasks', async () => {
    for (let appliance = 0; appliance < 2_000; appliance += 1) {
      for (const series of SERIES) await store.accept(`${appliance}/${series}`, samplesOf(appliance, series));
    }
  });
  report('scrape/samples', store.samples, 'samples');
  let text = Buffer.alloc(0);
  await timed('scrape/plain', () => {
    text = Buffer.concat([...store.snapshot('text').buffers()]);
  });
  report('scrape/bytes', text.length, 'bytes');
  await timed('scrape/gzip', () => gzip(store.snapshot('text')));
  await timed('scrape/one call of zlib at level 1', () => gzipSync(text, { level: 1 }));
}

/** `npm run bench -- limits` runs one suite, without a name all of them run. */
const suites: Readonly<Record<string, () => void | Promise<void>>> = { limits, scrape };

const chosen = process.argv.slice(2);
for (const name of chosen.length === 0 ? Object.keys(suites) : chosen) {
  const suite = suites[name];
  if (suite === undefined) throw new Error(`no suite ${name}; expected one of ${Object.keys(suites).join(', ')}`);
  await suite();
}

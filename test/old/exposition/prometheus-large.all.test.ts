import { once } from 'node:events';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import type { FamilyHeader, Format } from '../../src/exposition/format.ts';
import { LineStore } from '../../src/exposition/store.ts';
import { CONTENT_TYPES } from '../../src/http/negotiate.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { systemClock as clock } from '../../src/runtime/clock.ts';
import { serve } from '../http/serving.ts';
import { servedPort } from '../support/listening.ts';
import { temporaryDirectory } from '../support/program.ts';
import { hasPrometheus, runPrometheus } from '../support/prometheus.ts';
import { until } from '../support/until.ts';
import { scraping } from './scraping.ts';

const SAMPLES = 60_000;
/** Long enough for a busy machine. Prometheus begins within an interval, and nothing works until then. */
const INTERVAL_SECONDS = 30;

/** Twenty gauges, as an appliance has them. */
const gauges = Array.from({ length: 20 }, (_, index): FamilyHeader => {
  return { name: `filer_appliance_figure_${index}_bytes`, help: 'One of twenty figures.', type: 'gauge' };
});

/** The samples of so many subjects from one on, twenty of each. */
function* samplesOf(first: number, subjects: number): Generator<Sample> {
  for (let subject = first; subject < first + subjects; subject += 1) {
    const labels = { serial: `a1d1b8de-${subject}`, filer: `appliance ${subject}`, volume: `volume ${subject % 500}` };
    for (const [index, { name }] of gauges.entries()) yield { name, labels, value: (subject * 20 + index) / 16 };
  }
}

test.runIf(hasPrometheus || process.env.REQUIRE_PROMETHEUS !== undefined)(
  'a real Prometheus takes 60,000 samples in both formats, packed, and counts as many as we do',
  async () => {
    expect(hasPrometheus, 'prometheus on the PATH, for REQUIRE_PROMETHEUS is set').toBe(true);
    const exposition = new LineStore(gauges);
    const scrapes = scraping(exposition, clock);
    for (let task = 0; task < 15; task += 1) {
      await exposition.accept(`t${task}`, samplesOf(task * 200, 200), clock);
    }
    // Sample lines of each answer: the metrics of the process are not as many at every moment.
    const served = { openmetrics: [] as number[], text: [] as number[] };
    const body = async (format: Format) => {
      const made = await scrapes.body(format, true);
      const lines = gunzipSync(Buffer.concat([...made.buffers()]))
        .toString()
        .split('\n');
      served[format].push(lines.filter((line) => line !== '' && !line.startsWith('#')).length);
      return made;
    };
    // What Prometheus asks for by itself, from the server as it is: OpenMetrics, packed.
    const { port } = await serve({ exposition: (format) => body(format) });
    // The text format, whatever it asks for.
    const text = createServer((_, response) => {
      void body('text').then((made) => {
        response.writeHead(200, {
          'content-type': CONTENT_TYPES.text,
          'content-encoding': 'gzip',
          'content-length': made.length,
        });
        for (const piece of made.buffers()) response.write(piece);
        response.end();
      });
    });
    const job = (name: string, at: number) => `
  - job_name: ${name}
    static_configs: [{ targets: ['127.0.0.1:${at}'] }]`;
    const seconds = `${INTERVAL_SECONDS}s`;
    const prometheus = await runPrometheus(
      temporaryDirectory(),
      `global: { scrape_interval: ${seconds}, scrape_timeout: ${seconds} }
scrape_configs:${job('openmetrics', port)}${job('text', await servedPort(text))}
`,
    );
    onTestFinished(async () => {
      prometheus.child.kill('SIGKILL');
      await once(prometheus.child, 'close');
    });
    const values = async (query: string): Promise<Readonly<Record<string, number>>> =>
      Object.fromEntries((await prometheus.query(query)).map(({ metric, value }) => [metric.job, Number(value[1])]));
    const areScraped = async () => {
      const { openmetrics, text } = await values('up');
      return openmetrics === 1 && text === 1;
    };
    await until('a good scrape of each', areScraped, 230_000);
    const scraped = await values('scrape_samples_scraped');
    expect(served.openmetrics).toContain(scraped.openmetrics);
    expect(served.text).toContain(scraped.text);
    expect(scraped.text).toBeGreaterThan(SAMPLES);
    expect(await values('count by (job) ({__name__=~"filer_appliance_figure_.+"})')).toEqual({
      openmetrics: SAMPLES,
      text: SAMPLES,
    });
  },
);

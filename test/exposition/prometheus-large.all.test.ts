import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { Exposition } from '../../src/exposition/exposition.ts';
import type { Format } from '../../src/exposition/format.ts';
import { LineStore } from '../../src/exposition/store.ts';
import { CONTENT_TYPES } from '../../src/http/negotiate.ts';
import { systemClock as clock } from '../../src/runtime/clock.ts';
import { gauges, samplesOf } from '../bench/gauges.ts';
import { serve } from '../http/serving.ts';
import { until } from '../support/until.ts';
import { scraping } from './scraping.ts';

const isInstalled = spawnSync('prometheus', ['--version']).status === 0;
const SAMPLES = 300_000;
const INTERVAL_SECONDS = 8;

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test.runIf(isInstalled || process.env.REQUIRE_PROMETHEUS !== undefined)(
  'a real Prometheus takes 300,000 samples in both formats, packed, and counts as many as we do',
  async () => {
    expect(isInstalled, 'prometheus on the PATH, for REQUIRE_PROMETHEUS is set').toBe(true);
    const store = new LineStore(gauges);
    const exposition = new Exposition(store, clock);
    const scrapes = scraping(exposition, clock);
    for (let task = 0; task < 15; task += 1) {
      await exposition.accept(`t${task}`, samplesOf(task * 1_000, 1_000, 1));
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
    const directory = mkdtempSync(join(tmpdir(), 'filer-exporter-prometheus-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const job = (name: string, at: number) => `
  - job_name: ${name}
    static_configs: [{ targets: ['127.0.0.1:${at}'] }]`;
    const config = join(directory, 'prometheus.yml');
    const seconds = `${INTERVAL_SECONDS}s`;
    writeFileSync(
      config,
      `global: { scrape_interval: ${seconds}, scrape_timeout: ${seconds} }
scrape_configs:${job('openmetrics', port)}${job('text', await portOf(text))}
`,
    );
    const free = createServer();
    const address = `127.0.0.1:${await portOf(free)}`;
    await new Promise((resolve) => free.close(resolve));
    const options = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=${address}`,
    ];
    const child = spawn('prometheus', options, { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    const values = async (query: string): Promise<Readonly<Record<string, number>>> => {
      const answer = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(query)}`);
      const { data } = (await answer.json()) as {
        data: { result: { metric: { job: string }; value: [number, string] }[] };
      };
      return Object.fromEntries(data.result.map(({ metric, value }) => [metric.job, Number(value[1])]));
    };
    // The second scrape: the first one makes every series anew, which is Prometheus' own work.
    const twice = async () => {
      const counts = await values('sum_over_time(up[1h])');
      return (counts.openmetrics ?? 0) >= 2 && (counts.text ?? 0) >= 2;
    };
    await until('two good scrapes of each', twice, 230_000);
    const scraped = await values('scrape_samples_scraped');
    expect(served.openmetrics).toContain(scraped.openmetrics);
    expect(served.text).toContain(scraped.text);
    expect(scraped.text).toBeGreaterThan(SAMPLES);
    expect(await values('count by (job) ({__name__=~"filer_appliance_figure_.+"})')).toEqual({
      openmetrics: SAMPLES,
      text: SAMPLES,
    });
    const version = execFileSync('prometheus', ['--version'], { encoding: 'utf8' }).split(' ')[2];
    const took = JSON.stringify(await values('scrape_duration_seconds'));
    process.stdout.write(`prometheus ${version}: scrape_duration_seconds of 300,000 samples ${took}\n`);
  },
  240_000,
);

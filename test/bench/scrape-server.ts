import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { createApp } from '../../src/app/app.ts';
import { Exposition } from '../../src/exposition/exposition.ts';
import { LineStore } from '../../src/exposition/store.ts';
import { CachedDocument } from '../../src/http/cached-document.ts';
import { Connections } from '../../src/http/connections.ts';
import { ExpositionServer } from '../../src/http/server.ts';
import { systemClock as clock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { polledServices } from '../../src/services/services.ts';
import { scraping } from '../exposition/scraping.ts';
import { loadConfig } from '../support/load-config.ts';
import { gauges, samplesOf } from './gauges.ts';

/**
 * The serving side of the benchmark, a process of its own: what it serves is in its arguments, and it does what its
 * parent asks for by messages.
 */
type Order = (...given: readonly number[]) => Promise<unknown>;

const [kind = '', ...given] = process.argv.slice(2);
const kinds: Readonly<
  Record<string, () => Promise<{ readonly port: number; readonly orders: Record<string, Order> }>>
> = { ours, bare, program };

const { port, orders } = (await kinds[kind]?.()) ?? { port: 0, orders: {} };
process.on('message', ({ id, order, args }: { id: number; order: string; args: number[] }) => {
  void orders[order]?.(...args).then((result) => process.send?.({ id, result }));
});
process.on('disconnect', () => process.exit());
process.send?.({ id: 0, result: port });

/** Our own: `publish` replaces every task's snapshot, as polls would. */
async function ours() {
  const exposition = new Exposition(new LineStore(gauges), clock);
  const scrapes = scraping(exposition, clock);
  const log = createLog('silent', process.stderr);
  const nothingToShow = () => Promise.resolve(new CachedDocument({}, []));
  const server = new ExpositionServer({
    host: '127.0.0.1',
    port: 0,
    metricsPath: '/metrics',
    maxScrapes: 40,
    connections: new Connections(256, clock, log),
    clock,
    log,
    pages: {
      exposition: (format, gzip) => scrapes.body(format, gzip),
      ready: () => true,
      statusPage: nothingToShow,
      statusJson: nothingToShow,
      landingPage: nothingToShow,
    },
  });
  const publish: Order = async (tasks = 1, subjects = 1, round = 0, pauseMs = 0) => {
    let ms = 0;
    for (let task = 0; task < tasks; task += 1) {
      // The samples are there already when a poll publishes them: making them is not in the figure.
      const samples = [...samplesOf(task * subjects, subjects, round)];
      const started = performance.now();
      await exposition.accept(`task ${task}`, samples);
      ms += performance.now() - started;
      // Each answer comes in a turn of its own.
      await (pauseMs > 0 ? sleep(pauseMs) : turn());
    }
    return { ms };
  };
  return { port: await server.listen(), orders: { publish, ...measures() } };
}

/** Node's own server with the same bytes in memory, plain and packed, whatever is asked. */
async function bare() {
  const [plain = Buffer.alloc(0), packed = Buffer.alloc(0)] = given.map((path) => readFileSync(path));
  const server = createServer((request, response) => {
    const gzip = String(request.headers['accept-encoding'] ?? '').includes('gzip');
    response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
    if (gzip) response.setHeader('content-encoding', 'gzip');
    response.setHeader('content-length', gzip ? packed.length : plain.length);
    response.end(gzip ? packed : plain);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, orders: measures() };
}

/** The program as it is, polling a stand-in of the file acceleration service. */
async function program() {
  const config = loadConfig({
    environment: {
      LISTEN_ADDRESS: '127.0.0.1:0',
      GFA_URL: given[0] ?? '',
      GFA_TOKEN: 'benchmark',
      GFA_INTERVAL: '10s',
      MAX_RESPONSE_BYTES: '1000000000',
    },
  });
  const log = createLog('silent', process.stderr);
  const versions = { version: '1', revision: 'r', nodeVersion: process.version };
  const app = createApp(polledServices(config), config, { clock, random: seededRandom(1), log, ...versions });
  return { port: await app.start(), orders: measures() };
}

/** What the process looks like from inside. */
function measures(): Record<string, Order> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  return {
    watchLoop: async () => {
      delay.reset();
      delay.enable();
    },
    loop: async () => {
      delay.disable();
      // What is recorded is from one look to the next, the millisecond between them included.
      return { p99: Math.max(0, delay.percentile(99) / 1e6 - 1), max: Math.max(0, delay.max / 1e6 - 1) };
    },
    memory: async () => {
      const { rss, heapUsed, external } = process.memoryUsage();
      return { rss, held: heapUsed + external };
    },
    collect: async () => {
      for (let round = 0; round < 3; round += 1) {
        globalThis.gc?.();
        await sleep(20);
      }
    },
  };
}

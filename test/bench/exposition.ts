import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { largeAnswer } from './large-answer.ts';
import type { Report } from './main.ts';
import { startNginx } from './nginx.ts';
import {
  isInstalled,
  middle,
  perSecond,
  type Serving,
  scrapes,
  startServing,
  startServingOf,
  trees,
} from './scraping.ts';

const gunzipped = promisify(gunzip);

const SIZES = [1_000, 10_000, 100_000, 300_000, 1_000_000];

/** prom-client is not asked for more: a scrape of it takes many seconds. */
const MOST_OF_PROM_CLIENT = 300_000;

/** Samples of one subject. */
const EACH = 20;

/** So many samples are published before publishing is measured. */
const WARM_SAMPLES = 400_000;

/** Tasks the samples are spread over, unless it says otherwise. */
const TASKS = 10;

interface Published {
  readonly ms: number;
}

/** What a scrape costs, beside a bare server, the usual client library and nginx in the same run. */
export async function exposition(report: Report): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'filer-exporter-bench-'));
  try {
    for (const samples of SIZES) await ofSize(report, samples, directory);
    await spread(report);
    for (const [name, root] of trees) await crowd(report, root, name);
    await memory(report, 15_000, 1);
    await memory(report, 15, 1_000);
    await answer(report);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The rows of a still page, and the longest stall with a crowd, beside the tree that `BEFORE` names. */
export async function still(report: Report): Promise<void> {
  for (const [name, root] of trees) await crowd(report, root, name);
  const servers: [name: string, server: Serving][] = [];
  for (const [name, root] of trees) {
    const server = await startServingOf(root, 'ours');
    for (let round = 0; round < 6; round += 1) await server.ask('publish', TASKS, 300_000 / EACH / TASKS, round);
    // What compresses beforehand does so after the first that asks for it.
    await scrapes(server.port, '/metrics', true, 3, 1_000);
    servers.push([name, server]);
  }
  const directory = mkdtempSync(join(tmpdir(), 'filer-exporter-bench-'));
  const { port } = servers.at(-1)?.[1] ?? { port: 0 };
  const paths = [join(directory, 'metrics'), join(directory, 'metrics.gz')] as const;
  for (const [index, path] of paths.entries()) writeFileSync(path, await body(port, index === 1));
  servers.push(['bare', await startServing('bare', ...paths)]);
  for (const gzip of [false, true]) {
    const took = await alternately(servers, gzip, 15);
    for (const [name, ms] of took) report(`still/300000 samples/${gzip ? 'gzip' : 'plain'}/${name}`, ms, 'ms');
  }
  for (const [, server] of servers) server.stop();
  rmSync(directory, { recursive: true, force: true });
}

async function ofSize(report: Report, samples: number, directory: string): Promise<void> {
  const place = `exposition/${samples}`;
  const subjects = samples / EACH / TASKS;
  const times = samples >= 1_000_000 ? 5 : 15;
  const ours = await startServing('ours');
  const published: Published[] = [];
  // A program that runs for months is warm: the first half is not counted.
  const rounds = Math.max(6, WARM_SAMPLES / samples);
  for (let round = 0; round < rounds; round += 1) published.push(await ours.ask('publish', TASKS, subjects, round));
  const publishMs = middle(published.slice(rounds / 2).map(({ ms }) => ms));
  report(`${place}/publish`, publishMs, 'ms');
  report(`${place}/publish a sample`, (publishMs * 1000) / samples, 'us');
  const plain = await body(ours.port, false);
  const packed = await body(ours.port, true);
  report(`${place}/bytes plain`, plain.length, 'bytes');
  report(`${place}/bytes gzip`, packed.length, 'bytes');
  const paths = [join(directory, 'metrics'), join(directory, 'metrics.gz')] as const;
  writeFileSync(paths[0], plain);
  writeFileSync(paths[1], packed);
  const bare = await startServing('bare', ...paths);
  const nginx = (await isInstalled('nginx')) ? await startNginx(directory) : undefined;
  const servers: readonly (readonly [string, { readonly port: number } | undefined])[] = [
    ['ours', ours],
    ['bare', bare],
    ['nginx', nginx],
  ];
  for (const gzip of [false, true]) {
    const coding = gzip ? 'gzip' : 'plain';
    const took = await alternately(servers, gzip, times);
    for (const [name, ms] of took) report(`${place}/scrape ${coding}/${name}`, ms, 'ms');
    const base = took.get('bare') ?? Number.NaN;
    report(`${place}/scrape ${coding}/ours to bare`, (took.get('ours') ?? Number.NaN) / base, 'ratio');
  }
  const isCounted = samples === 100_000 && nginx !== undefined && (await isInstalled('wrk'));
  const packedPerSecond = isCounted ? await requests(report, place, servers) : Number.NaN;
  if (samples <= MOST_OF_PROM_CLIENT) {
    const theirs = await startServing('prom-client');
    const first = await theirs.ask<Published>('publish', TASKS, subjects, 0);
    const again = await theirs.ask<Published>('publish', TASKS, subjects, 1);
    report(`${place}/publish/prom-client, first`, first.ms, 'ms');
    report(`${place}/publish/prom-client, again`, again.ms, 'ms');
    const ms = middle(await fetched(theirs.port, 3));
    report(`${place}/scrape plain/prom-client`, ms, 'ms');
    const gzip = middle(await scrapes(ours.port, '/metrics', true, times));
    report(`${place}/prom-client to ours, one gzip scrape`, ms / gzip, 'ratio');
    if (isCounted) {
      const perSecondOfTheirs = await perSecond(theirs.port, '/metrics', true, 20);
      report(`${place}/requests/prom-client`, perSecondOfTheirs, 'per second');
      report(`${place}/requests gzip/ours to prom-client`, packedPerSecond / perSecondOfTheirs, 'ratio');
    }
    theirs.stop();
  }
  ours.stop();
  bare.stop();
  nginx?.stop();
}

/** Server after server and again: a machine that is slow for a while is so for all of them. */
async function alternately(
  servers: readonly (readonly [string, { readonly port: number } | undefined])[],
  gzip: boolean,
  times: number,
): Promise<ReadonlyMap<string, number>> {
  const took = new Map<string, number[]>();
  for (let round = 0; round < 4; round += 1) {
    for (const [name, server] of servers) {
      if (server === undefined) continue;
      const ms = await scrapes(server.port, '/metrics', gzip, times);
      // The first round warms up.
      if (round > 0) took.set(name, [...(took.get(name) ?? []), ...ms]);
    }
  }
  return new Map([...took].map(([name, ms]) => [name, middle(ms)]));
}

/** Answers a second beside the other servers; resolves with our own packed ones. */
async function requests(
  report: Report,
  place: string,
  servers: readonly (readonly [string, { readonly port: number } | undefined])[],
): Promise<number> {
  let packed = Number.NaN;
  for (const gzip of [false, true]) {
    const rates = new Map<string, number>();
    for (const [name, server] of servers) {
      if (server === undefined) continue;
      rates.set(name, await perSecond(server.port, '/metrics', gzip));
      report(`${place}/requests ${gzip ? 'gzip' : 'plain'}/${name}`, rates.get(name) ?? Number.NaN, 'per second');
    }
    const ours = rates.get('ours') ?? Number.NaN;
    report(`${place}/requests ${gzip ? 'gzip' : 'plain'}/ours to nginx`, ours / (rates.get('nginx') ?? 1), 'ratio');
    packed = ours;
  }
  return packed;
}

/** Many small tasks beside a few large ones, with the same samples. */
async function spread(report: Report): Promise<void> {
  for (const gzip of [false, true]) {
    const took: number[] = [];
    for (const [tasks, subjects] of [
      [15_000, 1],
      [15, 1_000],
    ] as const) {
      const ours = await startServing('ours');
      for (let round = 0; round < 2; round += 1) await ours.ask('publish', tasks, subjects, round);
      await scrapes(ours.port, '/metrics', gzip, 3);
      const ms = middle((await scrapes(ours.port, '/metrics', gzip, 30)).slice(5));
      report(`exposition/spread/${tasks} tasks/scrape ${gzip ? 'gzip' : 'plain'}`, ms, 'ms');
      if (!gzip) {
        const published: number[] = [];
        for (let round = 2; round < 9; round += 1) {
          published.push((await ours.ask<Published>('publish', tasks, subjects, round)).ms);
        }
        const publishMs = middle(published);
        report(
          `exposition/spread/${tasks} tasks/publish a sample`,
          (publishMs * 1000) / (tasks * subjects * EACH),
          'us',
        );
      }
      took.push(ms);
      ours.stop();
    }
    const [many = Number.NaN, few = Number.NaN] = took;
    report(`exposition/spread/many to few, ${gzip ? 'gzip' : 'plain'}`, many / few, 'ratio');
  }
}

/** Ten scrapers, half of them packed, while polls bring 350,000 samples in 4,375 tasks, over and over. */
async function crowd(report: Report, root: string, name: string): Promise<void> {
  const ours = await startServingOf(root, 'ours');
  for (let round = 0; round < 2; round += 1) await ours.ask('publish', 4_375, 4, round);
  await scrapes(ours.port, '/metrics', true, 3, 1_000);
  await ours.ask('watchLoop');
  let running = true;
  const polls = (async () => {
    for (let round = 2; running; round += 1) await ours.ask('publish', 50, 4, round, 20);
  })();
  const scrapers = Array.from({ length: 10 }, (_, index) => scrapes(ours.port, '/metrics', index % 2 === 0, 4, 500));
  const took = (await Promise.all(scrapers)).flat();
  running = false;
  await polls;
  const { p99, max } = await ours.ask<{ readonly p99: number; readonly max: number }>('loop');
  report(`exposition/crowd/loop delay p99/${name}`, p99, 'ms');
  report(`exposition/crowd/loop delay max/${name}`, max, 'ms');
  report(`exposition/crowd/scrape median/${name}`, middle(took), 'ms');
  ours.stop();
}

/** Resident memory over the empty process, while every value changes in every round and scrapers come. */
async function memory(report: Report, tasks: number, subjects: number): Promise<void> {
  const place = `exposition/memory/${tasks} tasks`;
  const ours = await startServing('ours');
  await ours.ask('collect');
  const empty = await ours.ask<Memory>('memory');
  await ours.ask('publish', tasks, subjects, 0);
  await scrapes(ours.port, '/metrics', true, 1);
  const plain = (await body(ours.port, false)).length;
  const rounds: number[] = [];
  for (let round = 1; round <= 20; round += 1) {
    await ours.ask('publish', tasks, subjects, round);
    await scrapes(ours.port, '/metrics', round % 2 === 0, 2);
    rounds.push((await ours.ask<Memory>('memory')).rss - empty.rss);
  }
  report(`${place}/most resident to plain bytes`, Math.max(...rounds) / plain, 'ratio');
  report(`${place}/resident a sample`, middle(rounds) / 300_000, 'bytes');
  report(`${place}/second half to first half`, mean(rounds.slice(10)) / mean(rounds.slice(0, 10)), 'ratio');
  await ours.ask('collect');
  const { held } = await ours.ask<Memory>('memory');
  report(`${place}/heap and buffers to plain bytes`, (held - empty.held) / plain, 'ratio');
  ours.stop();
}

/** The whole program while it takes two answers of `GET /data` of 300,000 records: the longest turn of its loop. */
async function answer(report: Report): Promise<void> {
  const bytes = largeAnswer();
  let asked = 0;
  const service = createHttpServer((_, response) => {
    asked += 1;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
    response.end(bytes);
  });
  await new Promise<void>((resolve) => void service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as { readonly port: number };
  const started = performance.now();
  const program = await startServing('program', `http://127.0.0.1:${port}/v1`);
  await program.ask('watchLoop');
  const samples = async () =>
    Number(
      /^filer_exporter_samples (\d+)$/m.exec((await body(program.port, true).then(gunzipped)).toString())?.[1] ?? 0,
    );
  let shown = 0;
  while (shown === 0 && performance.now() - started < 60_000) {
    await sleep(100);
    shown = await samples();
  }
  report('exposition/answer/bytes', bytes.length, 'bytes');
  report('exposition/answer/samples', shown, 'samples');
  report('exposition/answer/from start to shown', performance.now() - started, 'ms');
  // The next answer is the same once more: all of it is read and known.
  while (asked < 2 && performance.now() - started < 90_000) await sleep(100);
  await sleep(6_000);
  const { p99, max } = await program.ask<{ readonly p99: number; readonly max: number }>('loop');
  report('exposition/answer/loop delay p99', p99, 'ms');
  report('exposition/answer/loop delay max', max, 'ms');
  program.stop();
  service.closeAllConnections();
  service.close();
}

interface Memory {
  readonly rss: number;
  readonly held: number;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A whole answer as it came. */
function body(port: number, gzip: boolean): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = gzip ? { 'accept-encoding': 'gzip' } : {};
    request({ host: '127.0.0.1', port, path: '/metrics', headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      answer.on('end', () => resolve(Buffer.concat(chunks)));
    })
      .on('error', reject)
      .end();
  });
}

/** Whole answers of a server that does not say how long they are. */
async function fetched(port: number, times: number): Promise<number[]> {
  const took: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const started = performance.now();
    await body(port, false);
    took.push(performance.now() - started);
  }
  return took;
}

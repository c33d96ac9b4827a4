import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { largeAnswer } from './large-answer.ts';
import { listening } from './listening.ts';
import type { Report } from './main.ts';
import { middle, type Serving, scrapes, startServing, startServingOf, trees } from './scraping.ts';

const gunzipped = promisify(gunzip);

const SAMPLES = 300_000;

/** Samples of one subject. */
const EACH = 20;

/** Tasks the samples of a still page are spread over. */
const TASKS = 10;

interface Published {
  readonly ms: number;
}

/** What a page costs, still, with a crowd and in memory, beside the tree that `BEFORE` names. */
export async function exposition(report: Report): Promise<void> {
  await still(report);
  for (const [name, root] of trees) await crowd(report, root, name);
  await memory(report, 15_000, 1);
  await memory(report, 15, 1_000);
  await answer(report);
}

/** A page that does not change, beside a bare server of the same bytes. */
async function still(report: Report): Promise<void> {
  const place = `exposition/still/${SAMPLES} samples`;
  const servers: [name: string, server: Serving][] = [];
  for (const [name, root] of trees) {
    const server = await startServingOf(root, 'ours');
    const published: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      published.push((await server.ask<Published>('publish', TASKS, SAMPLES / EACH / TASKS, round)).ms);
    }
    // A program that runs for months is warm: the first half is not counted.
    report(`${place}/publish a sample/${name}`, (middle(published.slice(3)) * 1000) / SAMPLES, 'us');
    // What compresses beforehand does so after the first that asks for it.
    await scrapes(server.port, '/metrics', true, 3, 1_000);
    servers.push([name, server]);
  }
  const directory = mkdtempSync(join(tmpdir(), 'filer-exporter-bench-'));
  const { port } = servers.at(-1)?.[1] ?? { port: 0 };
  const paths = [join(directory, 'metrics'), join(directory, 'metrics.gz')] as const;
  for (const [index, path] of paths.entries()) {
    const bytes = await body(port, index === 1);
    report(`${place}/bytes ${index === 1 ? 'gzip' : 'plain'}`, bytes.length, 'bytes');
    writeFileSync(path, bytes);
  }
  servers.push(['bare', await startServing('bare', ...paths)]);
  for (const gzip of [false, true]) {
    const took = await alternately(servers, gzip, 15);
    for (const [name, ms] of took) report(`${place}/scrape ${gzip ? 'gzip' : 'plain'}/${name}`, ms, 'ms');
  }
  for (const [, server] of servers) server.stop();
  rmSync(directory, { recursive: true, force: true });
}

/** Server after server and again: a machine that is slow for a while is so for all of them. */
async function alternately(
  servers: readonly (readonly [string, Serving])[],
  gzip: boolean,
  times: number,
): Promise<ReadonlyMap<string, number>> {
  const took = new Map<string, number[]>();
  for (let round = 0; round < 4; round += 1) {
    for (const [name, server] of servers) {
      const ms = await scrapes(server.port, '/metrics', gzip, times);
      // The first round warms up.
      if (round > 0) took.set(name, [...(took.get(name) ?? []), ...ms]);
    }
  }
  return new Map([...took].map(([name, ms]) => [name, middle(ms)]));
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
  const url = `${await listening(service)}/v1`;
  const started = performance.now();
  const program = await startServing('program', url);
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

import { Agent, request } from 'node:http';
import process from 'node:process';
import { deflateRawSync, gunzipSync } from 'node:zlib';
import { processorMs } from './program.ts';

/** A scrape of a program, measured from outside. */
export interface Scraped {
  readonly ms: number;
  /** What the program used of the processors in the meantime, in milliseconds. */
  readonly processorMs: number;
  readonly bytes: number;
  readonly samples: number;
  /** What one call of zlib at level 1 makes of the same page; 0 if it was not asked for. */
  readonly bytesOfOneCall: number;
  /** The processor time of joining the same lines, and of that call; 0 if they were not asked for. */
  readonly joinMs: number;
  readonly compressMs: number;
}

/** The scraper of the benchmark, a process of its own. */
export interface Order {
  readonly url: string;
  readonly pid: number;
  readonly gzip: boolean;
  readonly compares: boolean;
}

const agent = new Agent({ keepAlive: true });

process.on('message', ({ url, pid, gzip, compares }: Order) => {
  const before = processorMs(pid);
  const started = performance.now();
  void body(url, gzip).then((bytes) => {
    const ms = performance.now() - started;
    const used = processorMs(pid) - before;
    const page = compares && gzip ? gunzipSync(bytes) : bytes;
    const lines = compares ? page.toString().split('\n') : [];
    const join = () => Buffer.from(lines.join('\n'));
    const scraped: Scraped = {
      ms,
      processorMs: used,
      bytes: bytes.length,
      samples: compares ? Number(/^filer_exporter_samples (\d+)$/m.exec(page.toString())?.[1]) : 0,
      bytesOfOneCall: compares ? deflateRawSync(page, { level: 1 }).length : 0,
      joinMs: compares ? leastProcessorMs(join) : 0,
      compressMs: compares ? leastProcessorMs(() => deflateRawSync(page, { level: 1 })) : 0,
    };
    process.send?.(scraped);
  });
});
process.on('disconnect', () => process.exit());

/** Of several times, because another process makes each of them longer. */
function leastProcessorMs(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

function body(url: string, gzip: boolean): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers: gzip ? { 'accept-encoding': 'gzip' } : {} }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      answer.on('end', () => resolve(Buffer.concat(chunks)));
    })
      .on('error', reject)
      .end();
  });
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { demoCatalog } from '../support/demo-catalog.ts';
import { root } from '../support/program.ts';
import { Scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';
import type { Report } from './main.ts';

const LONGEST_MS = 60_000;

/** From the start of the demo to its first answer and to every metric, and from SIGTERM to its end. */
export async function starting(report: Report): Promise<void> {
  const begun = performance.now();
  const demo = spawn(process.execPath, ['dist/main.js', '--demo'], {
    cwd: root,
    env: { PATH: process.env.PATH, LISTEN_ADDRESS: '127.0.0.1:0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await addressOf(demo.stdout);
    const scrape = async () => new Scrape(await (await fetch(`${url}/metrics`)).text());
    await scrape();
    report('start.first_answer', (performance.now() - begun) / 1000, 's');
    const isWhole = async () => {
      const { types } = await scrape();
      return demoCatalog.every(({ name, type }) => types.get(name) === type);
    };
    await until('every metric of the catalogue', isWhole, LONGEST_MS);
    report('start.every_metric', (performance.now() - begun) / 1000, 's');
    const asked = performance.now();
    demo.kill('SIGTERM');
    await once(demo, 'exit');
    report('stop', (performance.now() - asked) / 1000, 's');
  } finally {
    demo.kill('SIGKILL');
  }
}

async function addressOf(log: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: log })) {
    const { msg, port } = JSON.parse(line) as { readonly msg?: string; readonly port?: number };
    if (msg?.startsWith('listening on ')) return `http://127.0.0.1:${port}`;
  }
  throw new Error('the demo ended before it served');
}

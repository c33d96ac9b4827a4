/**
 * The exporter as a process of its own whose clock is fast: the whole program, configured by its environment, told by its
 * arguments when time began and how many times as fast it goes. Its parent asks it for figures, and to stop.
 */
import { setMaxListeners } from 'node:events';
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { asError } from '../../src/runtime/errors.ts';
import { createLog } from '../../src/runtime/log.ts';
import { FileStore } from '../../src/state/file-store.ts';
import { assemble } from '../support/assemble.ts';
import { fastClock } from '../support/fast-clock.ts';
import type { Answer, Question } from './figures.ts';

const [since = 0, speed = 1] = process.argv.slice(2).map(Number);
const RESOLUTION_MS = 10;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
const heard = { rejections: 0, defects: 0, lines: 0 };

// As run.ts does for the process.
setMaxListeners(100);
process.on('unhandledRejection', () => {
  heard.rejections += 1;
});

const log = createLog('info', {
  write: (line) => {
    heard.lines += 1;
    // Errors that are not the program's own have a stack.
    if (!line.includes('"stack"')) return;
    heard.defects += 1;
    process.stderr.write(line);
  },
});
const environment = Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']));
const clock = fastClock(speed, since);
const app = assemble(environment, { clock, log, openState: (path) => new FileStore(path) });

process.on('message', (question: Question) => void obey(question));
// Whoever asked is gone: nobody would stop it.
process.once('disconnect', gone);
answer({ port: await app.start() });
delay.enable();

async function obey(question: Question): Promise<void> {
  if (question === 'figures') {
    answer({ figures: measure() });
    return;
  }
  try {
    await app.stop();
    process.exitCode = 0;
  } catch (error) {
    process.stderr.write(`${asError(error).stack}\n`);
    process.exitCode = 1;
  }
  delay.disable();
  // From here on nothing may keep the process alive.
  process.off('disconnect', gone).disconnect();
}

function gone(): void {
  process.exit(1);
}

function measure() {
  const ms = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  const delays = { p99: ms(delay.percentile(99)), max: ms(delay.max) };
  // What is not alive is no leak; twice, for what the first collection only marks as finalizable.
  for (let round = 0; round < 2; round += 1) globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const figures = {
    liveBytes: heapUsed + external,
    residentBytes: rss,
    handles: process.getActiveResourcesInfo().length,
    descriptors: readdirSync('/proc/self/fd').length,
    delayP99Ms: delays.p99,
    delayMaxMs: delays.max,
    ...heard,
  };
  // The collections just now were ours.
  delay.reset();
  return figures;
}

function answer(message: Answer): void {
  process.send?.(message);
}

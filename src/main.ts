#!/usr/bin/env node
import process from 'node:process';
import { isatty } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from './runtime/clock.ts';
import { exitNow, THREAD_WAIT_MS, waitForThreads } from './runtime/exit.ts';
import { explainLoadError, ProcessLimitError } from './runtime/process-limits.ts';

// Each saves 10 MiB or more with Node 20 and 24; of 100 appliances (`npm run bench -- running`), in MiB:
//   without                                    123 / 168    V8 lets the space of young objects grow to 48 MiB, and keeps it
//   without the two for WebAssembly            113 / 137    it optimizes undici's HTTP parser, which gains nothing
//   with both                                   95 / 126
setFlagsFromString('--semi-space-growth-factor=1');
setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');

let isStopRequested = false;

/** Resolves at the first SIGTERM or SIGINT, or when the terminal closes; a second SIGTERM or SIGINT ends the process at once. */
const stopRequested = new Promise<void>((resolve) => {
  const ask = () => {
    isStopRequested = true;
    resolve();
  };
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => (isStopRequested ? exitNow(1) : ask()));
  // A closing terminal may send SIGHUP twice. Otherwise SIGHUP is ignored: files are reloaded automatically, and under
  // `nohup` it has to be ignored, which Node does not remember.
  const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  process.on('SIGHUP', hasTerminal ? ask : () => {});
  // On SIGUSR1 Node would open its debugger to every user of this machine, with all secrets; SIGUSR2 would end the
  // process.
  for (const name of ['SIGUSR1', 'SIGUSR2'] as const) process.on(name, () => {});
});

// The reader of our output may exit, such as `head` or a log shipper: that must not stop the exporter.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// Loaded after the signal handlers, so that a stop while loading is clean too.
const { run } = await import('./cli/run.ts').catch(async (error: unknown) => {
  const fault = explainLoadError(error);
  if (!(fault instanceof ProcessLimitError)) throw error;
  process.stderr.write(`${fault.message}\n`);
  await waitForThreads(systemClock, systemClock.monotonic() + THREAD_WAIT_MS);
  return exitNow(1);
});
// V8 of Node 20 collects old objects when the heap is up to four times as large as what is alive. With half as much again,
// 1,000 appliances take 156 MiB instead of 245; with Node 24, 213 instead of 216. Set after loading, during which the heap only
// grows.
setFlagsFromString('--heap-growing-percent=50');
const code = await run(process.argv.slice(2), process.env, stopRequested);
// While a thread is busy, Node.js loses an exit code other than 0, so wait: most threads are busy for milliseconds. The
// daemon waits by itself.
if (isStopRequested && code !== 0) await waitForThreads(systemClock, systemClock.monotonic() + THREAD_WAIT_MS);
// Open handles must not keep a stopped program alive.
if (isStopRequested) exitNow(code);
process.exit(code);

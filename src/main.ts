#!/usr/bin/env node
import process from 'node:process';
import { isatty } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from './runtime/clock.ts';
import { CLOSING_MS, endNow, threadsAtRest } from './runtime/exit.ts';
import { LimitError, loadingFault } from './runtime/limits.ts';

// V8 lets the space of young objects grow to 48 MiB under load, and keeps it. At its initial size requests cost the
// same, the largest answers 5 % more, and the process is 30 MiB smaller (`npm run bench -- running`).
setFlagsFromString('--semi-space-growth-factor=1');
// undici's HTTP parser is WebAssembly. To optimize it takes V8 0.2 s and 30 MiB, and requests cost the same afterwards.
setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');
// V8 optimizes a function eight times as late as by default; Node 20 has a flag of another name. Optimized code takes memory
// and time to make: 3 MiB with Node 20, 8 MiB with Node 24. A request of 10 appliances costs 0.2 ms less, in the first minutes
// of 100 appliances 0.2 ms more, and the process starts 40 ms sooner (`npm run bench -- running`).
const later =
  Number.parseInt(process.versions.v8, 10) < 12
    ? ['--interrupt-budget=540000']
    : ['--invocation-count-for-maglev=3200', '--invocation-count-for-turbofan=24000'];
for (const flag of later) setFlagsFromString(flag);

let isAsked = false;

/** Resolves at the first SIGTERM or SIGINT, or when the terminal closes; a second SIGTERM or SIGINT ends the process at once. */
const stopped = new Promise<void>((resolve) => {
  const ask = () => {
    isAsked = true;
    resolve();
  };
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => (isAsked ? endNow(1) : ask()));
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
  const fault = loadingFault(error);
  if (!(fault instanceof LimitError)) throw error;
  process.stderr.write(`${fault.message}\n`);
  await threadsAtRest(systemClock, systemClock.monotonic() + CLOSING_MS);
  return endNow(1);
});
// By default V8 collects old objects when the heap is up to four times as large as what is alive. With half as much again,
// 100 appliances take 30 MiB less at their peak. Set after loading, during which the heap only grows.
setFlagsFromString('--heap-growing-percent=50');
const code = await run(process.argv.slice(2), process.env, stopped);
// While a thread is busy, Node.js loses an exit code other than 0, so wait: most threads are busy for milliseconds. The
// daemon waits by itself.
if (isAsked && code !== 0) await threadsAtRest(systemClock, systemClock.monotonic() + CLOSING_MS);
// Open handles must not keep a stopped program alive.
if (isAsked) endNow(code);
process.exit(code);

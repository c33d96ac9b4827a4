#!/usr/bin/env node
import process from 'node:process';
import { isatty } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import { endNow } from './runtime/exit.ts';

// V8 lets the space of young objects grow to 48 MiB under load, and keeps it. At the size it begins with, requests cost
// the same, the largest answers a twentieth more, and the process is 30 MiB smaller (`npm run bench -- running`).
setFlagsFromString('--semi-space-growth-factor=1');

let isAsked = false;

/** Resolves at the first SIGTERM or SIGINT, or when the terminal closes; a second SIGTERM or SIGINT ends the process at once. */
const stopped = new Promise<void>((resolve) => {
  const ask = () => {
    isAsked = true;
    resolve();
  };
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => (isAsked ? endNow(1) : ask()));
  // A terminal that closes may say so twice. Without one, SIGHUP asks a daemon to read its files again, which it does by
  // itself, and under `nohup` it is to be ignored: Node forgets that it was.
  const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  process.on('SIGHUP', hasTerminal ? ask : () => {});
  // Node opens its debugger at the one, for everybody on this machine, secrets included; the other would end the process.
  for (const name of ['SIGUSR1', 'SIGUSR2'] as const) process.on(name, () => {});
});

// Whoever reads what we write may go away, as `head` does or a log shipper: that must not take the metrics with it.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// Loaded only now, with the signals already heard: a stop while the program loads is a clean stop too.
const { run } = await import('./cli/run.ts');
const code = await run(process.argv.slice(2), process.env, stopped);
// Whatever is still open must not keep a stopped program alive.
if (isAsked) endNow(code);
process.exit(code);

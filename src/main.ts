#!/usr/bin/env node
import { close as closeDebugger } from 'node:inspector';
import process from 'node:process';
import { isatty } from 'node:tty';
import { exitNow, waitForThreads } from './runtime/exit.ts';

/** How long the end of the process waits for files to be closed and names to be found, in milliseconds. */
const THREAD_WAIT_MS = 1_000;

let isStopRequested = false;

/** Resolves at the first SIGTERM or SIGINT, or when the terminal closes; a second SIGTERM or SIGINT ends the process at once. */
const stopRequested = new Promise<void>((resolve) => {
  const requestStop = () => {
    isStopRequested = true;
    resolve();
  };
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => (isStopRequested ? exitNow(1) : requestStop()));
  // A closing terminal may send SIGHUP twice. Without a terminal SIGHUP is ignored: files are reloaded automatically,
  // and under `nohup` the signal has to be ignored, but Node does not keep that setting.
  const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  process.on('SIGHUP', hasTerminal ? requestStop : () => {});
});

// On SIGUSR1 Node would open its debugger, and with it all secrets, to other programs on this machine; SIGUSR2 would end the process.
for (const name of ['SIGUSR1', 'SIGUSR2'] as const) process.on(name, () => {});
// A SIGUSR1 before this line may have opened the debugger, or may open it in the next event-loop turn.
closeDebugger();
setImmediate(closeDebugger);

// The reader of the output, such as `head` or a log shipper, may exit, which must not stop the exporter.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// These are loaded after the signal handlers, so that a stop during loading is clean too.
const { systemClock } = await import('./runtime/clock.ts');
const { smallFileReader } = await import('./runtime/small-files.ts');
const { run } = await import('./cli/run.ts');
closeDebugger();
const code = await run(process.argv.slice(2), {
  variables: process.env,
  // The largest of these files is that of certificate authorities.
  readFile: smallFileReader(systemClock, 1024 * 1024),
  stdout: process.stdout,
  stderr: process.stderr,
  stopped: stopRequested,
});
// Most threads are busy for milliseconds; while one is, Node loses an exit code other than 0.
await waitForThreads(systemClock, systemClock.monotonic() + THREAD_WAIT_MS);
// This is still the event-loop turn of the last check: in a later turn a file might be open again.
if (isStopRequested) exitNow(code);
process.exit(code);

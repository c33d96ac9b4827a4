import process from 'node:process';
import type { Clock } from './clock.ts';

/** How long a command that ends early waits for its files to be closed, in milliseconds. */
export const THREAD_WAIT_MS = 1_000;

const LOOK_MS = 20;

/** Files and name lookups: the operations of Node's thread pool, which can hang. */
const ON_A_THREAD = /^(?:FSReq|GetAddrInfo)/;

function isThreadBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => ON_A_THREAD.test(name));
}

/** Waits until no thread works on a file or a name lookup, or until `deadline` in monotonic milliseconds. */
export async function waitForThreads(clock: Clock, deadline: number): Promise<void> {
  while (isThreadBusy() && clock.monotonic() < deadline) await clock.sleep(LOOK_MS);
}

/**
 * Ends the process now. At exit Node waits for its threads, and a thread that hangs on a disk or a name server may
 * never return. In that case the process ends by a signal: SIGTERM for code 0, which service managers take for a clean
 * stop, otherwise SIGKILL.
 */
export function exitNow(code: number): never {
  if (isThreadBusy()) {
    const name = code === 0 ? 'SIGTERM' : 'SIGKILL';
    // Without a listener, SIGTERM ends the process, unless it is process 1 of a container.
    for (const listener of process.listeners(name)) process.off(name, listener);
    process.kill(process.pid, name);
  }
  return process.exit(code);
}

/**
 * Ends the process once no thread works on a file or a name lookup, or after a second. Most threads are busy for
 * milliseconds; while one is, Node loses an exit code other than 0.
 */
export async function exitWhenIdle(code: number, clock: Clock): Promise<never> {
  const deadline = clock.monotonic() + THREAD_WAIT_MS;
  // The process ends in the same turn as the last check: in another one a file might be open again.
  while (isThreadBusy() && clock.monotonic() < deadline) await clock.sleep(LOOK_MS);
  return exitNow(code);
}

import process from 'node:process';
import type { Clock } from './clock.ts';

const CHECK_INTERVAL_MS = 20;

/** The operations of Node's thread pool that can hang: files and name lookups. */
const THREAD_OPERATION = /^(?:FSReq|GetAddrInfo)/;

function isThreadBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => THREAD_OPERATION.test(name));
}

/** Waits until no thread works on a file or a name lookup, or until `deadline` in monotonic milliseconds. */
export async function waitForThreads(clock: Clock, deadline: number): Promise<void> {
  while (isThreadBusy() && clock.monotonic() < deadline) await clock.sleep(CHECK_INTERVAL_MS);
}

/**
 * Ends the process now. At exit Node waits for its threads, and a thread that hangs on a disk or a name server may never
 * return. If a thread is busy, the process therefore ends by a signal: SIGTERM for code 0, which service managers regard
 * as a clean stop, otherwise SIGKILL.
 */
export function exitNow(code: number): never {
  if (isThreadBusy()) {
    const name = code === 0 ? 'SIGTERM' : 'SIGKILL';
    // Once it has no listener, SIGTERM ends the process, unless this is process 1 of a container.
    for (const listener of process.listeners(name)) process.off(name, listener);
    process.kill(process.pid, name);
  }
  return process.exit(code);
}

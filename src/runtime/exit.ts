import process from 'node:process';
import type { Clock } from './clock.ts';

/** How often to look whether a thread has come back, in milliseconds. */
const LOOK_MS = 20;

/** Files and names: what Node has its threads do, and what can hang there. */
const ON_A_THREAD = /^(?:FSReq|GetAddrInfo)/;

function isThreadBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => ON_A_THREAD.test(name));
}

/** Waits until no thread is at work on a file or a name any more, and no longer than until `deadline` in monotonic milliseconds. */
export async function threadsAtRest(clock: Clock, deadline: number): Promise<void> {
  while (isThreadBusy() && clock.monotonic() < deadline) await clock.sleep(LOOK_MS);
}

/**
 * Ends the process now. At its end Node waits for its threads, and one that hangs on a disk or a name server may never come
 * back: then it ends by a signal that nothing can hold up, SIGTERM where all is well and SIGKILL where it is not. Service
 * managers take the former for a clean end.
 */
export function endNow(code: number): never {
  if (isThreadBusy()) {
    const name = code === 0 ? 'SIGTERM' : 'SIGKILL';
    // Without a listener the system ends the process. It does not where this is the first one of a container.
    process.removeAllListeners(name);
    process.kill(process.pid, name);
  }
  return process.exit(code);
}

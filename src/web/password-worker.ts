import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

/*
 * The thread on which passwords are checked: bcrypt takes its time on purpose, and the event loop has none to give.
 */

/** What it is asked. */
export interface PasswordQuestion {
  readonly id: number;
  readonly password: string;
  readonly hash: string;
}

/** What it answers. */
export interface CompareVerdict {
  readonly id: number;
  readonly matches: boolean;
}

parentPort?.on('message', ({ id, password, hash }: PasswordQuestion) => {
  const verdict: CompareVerdict = { id, matches: compareSync(password, hash) };
  parentPort?.postMessage(verdict);
});

import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

/** The thread that checks passwords: bcrypt is slow on purpose and would block the event loop. */

export interface PasswordQuestion {
  readonly id: number;
  readonly password: string;
  readonly hash: string;
}

export interface CompareVerdict {
  readonly id: number;
  readonly matches: boolean;
}

parentPort?.on('message', ({ id, password, hash }: PasswordQuestion) => {
  const verdict: CompareVerdict = { id, matches: compareSync(password, hash) };
  parentPort?.postMessage(verdict);
});

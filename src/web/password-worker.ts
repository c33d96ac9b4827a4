import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

/** The thread that checks passwords: bcrypt is slow on purpose and would block the event loop. */

export interface PasswordQuestion {
  readonly password: string;
  readonly hash: string;
}

parentPort?.on('message', ({ password, hash }: PasswordQuestion) => {
  parentPort?.postMessage(compareSync(password, hash));
});

import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

/** The thread that checks passwords: bcrypt is slow on purpose and would block the event loop. */

export interface PasswordComparison {
  readonly password: string;
  readonly hash: string;
}

parentPort?.on('message', ({ password, hash }: PasswordComparison) => {
  parentPort?.postMessage(compareSync(password, hash));
});

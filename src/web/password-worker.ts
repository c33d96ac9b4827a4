import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

/** What the thread that checks passwords gets; it responds with a boolean. */
export interface PasswordComparison {
  readonly password: string;
  readonly hash: string;
}

parentPort?.on('message', ({ password, hash }: PasswordComparison) => {
  parentPort?.postMessage(compareSync(password, hash));
});

import { parentPort, workerData } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

/** What the thread that checks a password gets; it responds with a boolean. */
export interface PasswordComparison {
  readonly password: string;
  readonly hash: string;
}

const { password, hash } = workerData as PasswordComparison;
parentPort?.postMessage(compareSync(password, hash));

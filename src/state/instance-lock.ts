import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { asError, codeOf } from '../runtime/errors.ts';

/**
 * Held by one process at a time: a socket beside the file, which the system closes with the process, however that ends.
 * Where there are no such sockets, as on some network file systems, nothing is locked.
 */
export class InstanceLock {
  readonly #path: string;
  #server: Server | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Rejects while another process has it. */
  async take(): Promise<void> {
    if (this.#server !== undefined) return;
    try {
      this.#server = await listening(this.#path);
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') return;
      if (await answers(this.#path)) throw new Error('another instance uses the file; expected a STATE_FILE for each');
      // Left over from a process that was killed.
      await rm(this.#path, { force: true });
      this.#server = await listening(this.#path);
    }
  }

  release(): void {
    this.#server?.close();
    this.#server = undefined;
  }
}

function listening(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve(server));
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => {
      if (['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '')) resolve(false);
      else reject(asError(error));
    });
  });
}

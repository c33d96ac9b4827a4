import { once } from 'node:events';
import { lstat, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { relative } from 'node:path';
import process from 'node:process';
import { errorCode } from './errors.ts';

/** Systems cut longer names of sockets off: those of two files would be one. */
const MAX_NAME_BYTES = 90;

/**
 * Held by one process at a time: a socket in the file system, which the system closes with the process, however that
 * ends. Where there are no such sockets, as on some network file systems, or the path is too long, nothing is locked.
 */
export class InstanceLock {
  readonly #path: string;
  readonly #busy: () => Error;
  #server: Server | undefined;

  /** `busy` makes the error for when another process has it. */
  constructor(path: string, busy: () => Error) {
    const fromHere = relative('', path);
    this.#path = fromHere.length < path.length ? fromHere : path;
    this.#busy = busy;
  }

  /** Rejects while another process has it. */
  async take(): Promise<void> {
    if (this.#server !== undefined || Buffer.byteLength(this.#path) > MAX_NAME_BYTES) return;
    try {
      this.#server = await listening(this.#path);
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE') return;
      if (await answers(this.#path)) throw this.#busy();
      await this.#removeLeft();
      this.#server = await listening(this.#path);
    }
  }

  release(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  /** Removes what a killed process has left, unless another process has replaced it just now. */
  async #removeLeft(): Promise<void> {
    if (!(await lstat(this.#path)).isSocket()) throw new Error(`${this.#path} is not a socket`);
    const left = `${this.#path}.${process.pid}`;
    await rename(this.#path, left);
    if (await answers(left)) {
      await rename(left, this.#path);
      throw this.#busy();
    }
    await rm(left);
  }
}

async function listening(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
    .unref()
    .listen(path);
  await once(server, 'listening');
  // Such as too many open files: the lock itself stays.
  return server.on('error', () => {});
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    if (['ECONNREFUSED', 'ENOENT'].includes(errorCode(error) ?? '')) return false;
    throw error;
  } finally {
    socket.destroy();
  }
}

import { once } from 'node:events';
import { lstat, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { relative } from 'node:path';
import process from 'node:process';
import { errorCode } from './errors.ts';

/** Systems cut off longer paths of sockets: after that, the locks of two files could have the same path. */
const MAX_NAME_BYTES = 90;

/**
 * A lock that one process can hold at a time. It is a socket in the file system, which the system closes when the process
 * ends for whatever reason. If the file system has no sockets, as some network file systems, or the path is too long,
 * nothing is locked.
 */
export class InstanceLock {
  readonly #path: string;
  readonly #busyError: () => Error;
  #server: Server | undefined;

  /** `busyError` creates the error that is thrown if another process holds the lock. */
  constructor(path: string, busyError: () => Error) {
    const relativePath = relative('', path);
    this.#path = relativePath.length < path.length ? relativePath : path;
    this.#busyError = busyError;
  }

  /** Rejects while another process holds the lock. */
  async take(): Promise<void> {
    if (this.#server !== undefined || Buffer.byteLength(this.#path) > MAX_NAME_BYTES) return;
    try {
      this.#server = await listenOn(this.#path);
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE') return;
      if (await acceptsConnection(this.#path)) throw this.#busyError();
      await this.#removeLeftover();
      this.#server = await listenOn(this.#path);
    }
  }

  release(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  /** Removes the socket of a killed process, unless another process has just replaced it. */
  async #removeLeftover(): Promise<void> {
    if (!(await lstat(this.#path)).isSocket()) throw new Error(`${this.#path} is not a socket`);
    const leftover = `${this.#path}.${process.pid}`;
    await rename(this.#path, leftover);
    if (await acceptsConnection(leftover)) {
      await rename(leftover, this.#path);
      throw this.#busyError();
    }
    await rm(leftover);
  }
}

async function listenOn(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
    .unref()
    .listen(path);
  await once(server, 'listening');
  // A later error, such as too many open files, does not end the lock.
  return server.on('error', () => {});
}

async function acceptsConnection(path: string): Promise<boolean> {
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

import { type ChildProcess, fork } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

/** A process of the benchmark that serves, and does what it is told. */
export interface Serving {
  readonly port: number;
  ask<Result>(order: string, ...args: readonly number[]): Promise<Result>;
  stop(): void;
}

const here = fileURLToPath(new URL('../../', import.meta.url));

/** The trees to compare: the one that `BEFORE` names, if it names one, and this one. */
export const trees: readonly (readonly [name: 'before' | 'now', root: string])[] = [
  ...(process.env.BEFORE === undefined ? [] : [['before', `${process.env.BEFORE}/`] as const]),
  ['now', here],
];

/** Starts a process that serves. */
export function startServing(kind: string, ...args: readonly string[]): Promise<Serving> {
  return startServingOf(here, kind, ...args);
}

/** The same with the code of another tree. */
export async function startServingOf(root: string, kind: string, ...args: readonly string[]): Promise<Serving> {
  const child: ChildProcess = fork(`${root}test/bench/scrape-server.ts`, [kind, ...args], {
    cwd: root,
    execArgv: ['--expose-gc', '--import', 'tsx'],
  });
  const open = new Map<number, (result: unknown) => void>();
  let asked = 0;
  const listening = new Promise<number>((resolve, reject) => {
    open.set(0, (port) => resolve(Number(port)));
    child.once('exit', (code) => reject(new Error(`the server of ${kind} ended with ${code}`)));
  });
  child.on('message', ({ id, result }: { id: number; result: unknown }) => {
    open.get(id)?.(result);
    open.delete(id);
  });
  return {
    port: await listening,
    ask: <Result>(order: string, ...args: readonly number[]) => {
      asked += 1;
      const id = asked;
      return new Promise<Result>((resolve) => {
        open.set(id, resolve as (result: unknown) => void);
        child.send({ id, order, args });
      });
    },
    stop: () => child.disconnect(),
  };
}

/** Scrapes on one connection and throws away what comes, as cheaply as can be; resolves with each scrape's milliseconds. */
export function scrapes(port: number, path: string, gzip: boolean, times: number, pauseMs = 0): Promise<number[]> {
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n${gzip ? 'Accept-Encoding: gzip\r\n' : ''}\r\n`;
  return new Promise((resolve, reject) => {
    const took: number[] = [];
    let started = 0;
    let left = -1;
    const ask = () => {
      started = performance.now();
      left = -1;
      socket.write(request);
    };
    const heard = (size: number, buffer: Uint8Array) => {
      if (left < 0) {
        const head = Buffer.from(buffer.buffer, buffer.byteOffset, Math.min(size, 4096)).toString('latin1');
        const length = /content-length: (\d+)/i.exec(head)?.[1];
        const status = head.slice(9, 12);
        if (length === undefined || status !== '200')
          return void reject(new Error(`not an answer: ${head.slice(0, 99)}`));
        left = Number(length) + head.indexOf('\r\n\r\n') + 4;
      }
      left -= size;
      if (left > 0) return;
      took.push(performance.now() - started);
      if (took.length < times) setTimeout(ask, pauseMs);
      else {
        socket.destroy();
        resolve(took);
      }
    };
    const socket = connect({
      port,
      host: '127.0.0.1',
      onread: {
        buffer: Buffer.alloc(1024 * 1024),
        callback: (size, buffer) => {
          heard(size, buffer);
          return true;
        },
      },
    });
    socket.once('connect', ask).once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed within an answer')));
  });
}

/** The median. */
export function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

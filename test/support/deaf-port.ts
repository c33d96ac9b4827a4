import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** Listens and never comes to accept: its thread waits until it is told to end. What is handed in is what it waits on. */
const LISTENER = `
const { parentPort, workerData } = require('node:worker_threads');
const { port, gate, backlog } = workerData;
const server = require('node:net').createServer();
server.listen({ port, host: '127.0.0.1', backlog }, () => {
  parentPort.postMessage('listens');
  Atomics.wait(gate, 0, 0);
  process.exit();
});`;

/** So many connections wait to be accepted at most, but for one that Linux takes on top. */
const BACKLOG = 1;

/** Further ones that try, to be sure: they wait as everybody else does. */
const SPARE = 2;

/** A port at which connections are neither taken nor refused: its queue is full, and Linux drops who else knocks. */
export class DeafPort {
  readonly #worker: Worker;
  readonly #gate: Int32Array;
  readonly #waiting: readonly Socket[];

  private constructor(worker: Worker, gate: Int32Array, waiting: readonly Socket[]) {
    this.#worker = worker;
    this.#gate = gate;
    this.#waiting = waiting;
  }

  /** Opens a port of this machine that nobody listens at. Whoever is quick may still get into the queue, and waits there. */
  static async open(port: number): Promise<DeafPort> {
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(LISTENER, { eval: true, workerData: { port, gate, backlog: BACKLOG } });
    await once(worker, 'message');
    const knock = () => connect(port, '127.0.0.1').on('error', () => {});
    return new DeafPort(worker, gate, Array.from({ length: BACKLOG + 1 + SPARE }, knock));
  }

  /** Closes it: whoever knocks from now on is refused. */
  async close(): Promise<void> {
    for (const socket of this.#waiting) socket.destroy();
    Atomics.store(this.#gate, 0, 1);
    Atomics.notify(this.#gate, 0);
    await once(this.#worker, 'exit');
  }
}

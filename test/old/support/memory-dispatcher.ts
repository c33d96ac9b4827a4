import { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Dispatcher } from 'undici';

/** An answer that arrived whole. */
export interface WholeAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** The service's clock, in Unix seconds; NaN without a `Date`. */
  readonly date: number;
}

/** Hears of each request. Must not throw: it is called from within a service, which makes a failed answer of that. */
export interface Overhearing {
  /** It leaves. With a status, that is the response in the place of the listener's. */
  left(path: string, body: string): number | undefined;
  /** It ended, with an answer or without a whole one. */
  ended(path: string, answer: WholeAnswer | undefined): void;
}

/** Connections without a network: every request goes straight to a listener, so that no socket needs time to pass. */
export class MemoryDispatcher extends Dispatcher {
  readonly #listener: RequestListener;
  readonly #overhearing: Overhearing;

  constructor(listener: RequestListener, overhearing: Overhearing = { left: () => undefined, ended: () => {} }) {
    super();
    this.#listener = listener;
    this.#overhearing = overhearing;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { method, path } = options;
    const response = new MemoryResponse(handler, (answer) => this.#overhearing.ended(path, answer));
    handler.onConnect?.((error) => response.abandon(error ?? new Error('aborted')));
    if (response.destroyed) return true;
    const { body: sent } = options;
    const body = typeof sent === 'string' || sent instanceof Uint8Array ? [Buffer.from(sent)] : [];
    const status = this.#overhearing.left(path, String(body[0] ?? ''));
    if (status !== undefined) {
      response.writeHead(status).end();
      return true;
    }
    const request = Object.assign(Readable.from(body), { method, url: path, headers: lowerCased(options.headers) });
    this.#listener(
      request as unknown as IncomingMessage,
      response as unknown as ServerResponse & { req: IncomingMessage },
    );
    return true;
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  override destroy(): Promise<void> {
    return Promise.resolve();
  }
}

function lowerCased(headers: Dispatcher.DispatchOptions['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

/** What a listener writes, handed to the one who asked. */
class MemoryResponse extends EventEmitter {
  headersSent = false;
  destroyed = false;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #ended: (answer: WholeAnswer | undefined) => void;
  readonly #written: Buffer[] = [];
  #status = 200;
  #headers: Readonly<Record<string, unknown>> = {};

  constructor(handler: Dispatcher.DispatchHandler, ended: (answer: WholeAnswer | undefined) => void) {
    super();
    this.#handler = handler;
    this.#ended = ended;
  }

  writeHead(status: number, headers: Readonly<Record<string, unknown>> = {}): this {
    this.#status = status;
    this.#headers = headers;
    return this;
  }

  flushHeaders(): void {
    if (this.headersSent || this.destroyed) return;
    this.headersSent = true;
    const raw = Object.entries(this.#headers).flatMap(([name, value]) => [
      Buffer.from(name),
      Buffer.from(String(value)),
    ]);
    this.#handler.onHeaders?.(this.#status, raw, () => {}, '');
  }

  write(chunk: Uint8Array, written?: () => void): boolean {
    this.flushHeaders();
    this.#hand(chunk);
    queueMicrotask(() => written?.());
    return true;
  }

  end(chunk?: Uint8Array): void {
    this.flushHeaders();
    if (this.destroyed) return;
    if (chunk !== undefined) this.#hand(chunk);
    const [, date] = Object.entries(this.#headers).find(([name]) => name.toLowerCase() === 'date') ?? [];
    const at = Date.parse(String(date)) / 1000;
    this.#close({ status: this.#status, body: Buffer.concat(this.#written), date: at });
    this.#handler.onComplete?.([]);
  }

  /** The listener ends the connection. */
  destroy(): void {
    this.abandon(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));
  }

  /** Whoever asked does not want it any more, or the connection is gone. */
  abandon(error: Error): void {
    if (this.destroyed) return;
    this.#close(undefined);
    this.#handler.onError?.(error);
  }

  #hand(chunk: Uint8Array): void {
    if (this.destroyed || chunk.length === 0) return;
    const piece = Buffer.from(chunk);
    this.#written.push(piece);
    this.#handler.onData?.(piece);
  }

  #close(answer: WholeAnswer | undefined): void {
    this.destroyed = true;
    this.#ended(answer);
    this.emit('close');
  }
}

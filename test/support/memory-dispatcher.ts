import { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Dispatcher } from 'undici';

/** Hears how each request ended: its method and path, and the status of an answer that arrived whole. */
export type Overheard = (method: string, path: string, status: number | undefined) => void;

/** Connections without a network: every request goes straight to a listener, so that no socket needs time to pass. */
export class MemoryDispatcher extends Dispatcher {
  readonly #listener: RequestListener;
  readonly #overheard: Overheard;

  constructor(listener: RequestListener, overheard: Overheard = () => {}) {
    super();
    this.#listener = listener;
    this.#overheard = overheard;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { method, path } = options;
    const response = new MemoryResponse(handler, (status) => this.#overheard(method, path, status));
    handler.onConnect?.((error) => response.abandon(error ?? new Error('aborted')));
    if (response.destroyed) return true;
    const body = typeof options.body === 'string' ? [Buffer.from(options.body)] : [];
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
  readonly #ended: (status: number | undefined) => void;
  #status = 200;
  #headers: Readonly<Record<string, unknown>> = {};

  constructor(handler: Dispatcher.DispatchHandler, ended: (status: number | undefined) => void) {
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
    if (!this.destroyed) this.#handler.onData?.(Buffer.from(chunk));
    queueMicrotask(() => written?.());
    return true;
  }

  end(chunk?: Uint8Array): void {
    this.flushHeaders();
    if (this.destroyed) return;
    if (chunk !== undefined && chunk.length > 0) this.#handler.onData?.(Buffer.from(chunk));
    this.#close(this.#status);
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

  #close(status: number | undefined): void {
    this.destroyed = true;
    this.#ended(status);
    this.emit('close');
  }
}

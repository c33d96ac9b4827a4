import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';

/** One request as sent, and its answer. Contains secrets and names, so it must not be printed as it is. */
export interface Exchange {
  readonly origin: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** The parsed JSON body of the request; undefined if it had none. */
  readonly asked: unknown;
  /** Undefined if there was no answer. */
  readonly status: number | undefined;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the headers of the answer arrived, in epoch milliseconds. */
  readonly answeredAt: number;
  readonly seconds: number;
  /** The length of the answer's body as sent, compressed or not. */
  readonly bytes: number;
  /** The parsed JSON body; undefined if it is not JSON. */
  readonly body: unknown;
}

/** Larger bodies are counted and not kept. */
const MOST_BYTES = 16 * 1024 * 1024;

/** A dispatcher that reports every exchange once it has ended. */
export function recorded(dispatcher: Dispatcher, clock: Clock, heard: (exchange: Exchange) => void): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) => dispatch(options, new Recorder(options, handler, clock, heard)),
  );
}

class Recorder implements Dispatcher.DispatchHandler {
  readonly #options: Dispatcher.DispatchOptions;
  readonly #next: Dispatcher.DispatchHandler;
  readonly #clock: Clock;
  readonly #heard: (exchange: Exchange) => void;
  readonly #began: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status: number | undefined;
  #headers: Readonly<Record<string, string>> = {};
  #answeredAt = 0;

  constructor(
    options: Dispatcher.DispatchOptions,
    next: Dispatcher.DispatchHandler,
    clock: Clock,
    heard: (exchange: Exchange) => void,
  ) {
    this.#options = options;
    this.#next = next;
    this.#clock = clock;
    this.#heard = heard;
    this.#began = clock.monotonic();
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#next.onRequestStart?.(controller, context);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    message?: string,
  ): void {
    this.#status = status;
    this.#answeredAt = this.#clock.now();
    this.#headers = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value ?? '')]),
    );
    this.#next.onResponseStart?.(controller, status, headers, message);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= MOST_BYTES) this.#chunks.push(chunk);
    this.#next.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    this.#tell();
    this.#next.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#tell();
    this.#next.onResponseError?.(controller, error);
  }

  #tell(): void {
    const { origin, method, path, body } = this.#options;
    this.#heard({
      ...{ origin: String(origin), method, path, asked: parsed(typeof body === 'string' ? body : '') },
      ...{ status: this.#status, headers: this.#headers, answeredAt: this.#answeredAt },
      ...{ seconds: (this.#clock.monotonic() - this.#began) / 1000, bytes: this.#bytes },
      body: this.#bytes <= MOST_BYTES ? parsed(this.#text()) : undefined,
    });
  }

  #text(): string {
    const raw = Buffer.concat(this.#chunks);
    if (this.#headers['content-encoding'] !== 'gzip') return raw.toString('utf8');
    try {
      return gunzipSync(raw, { maxOutputLength: 4 * MOST_BYTES }).toString('utf8');
    } catch {
      return '';
    }
  }
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

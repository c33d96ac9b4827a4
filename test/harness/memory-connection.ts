import { Dispatcher } from 'undici';
import type { SentResponse, ServiceName } from '../../src/demo/services.ts';
import type { Clock } from '../../src/runtime/clock.ts';

/** Where the two services are, for a program that connects with a MemoryConnection. */
export const URLS = { gfa: 'http://gfa.test/v1', portal: 'http://portal.test' } as const;

interface MemoryRequest {
  readonly method: string;
  /** Without the prefix of the service, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What is at the other end; undefined if nothing listens. */
type Respond = (service: ServiceName, request: MemoryRequest) => SentResponse | undefined;

/** Connects a program to services in the same process: a socket takes time that a manual clock does not give. */
export class MemoryConnection extends Dispatcher {
  readonly #respond: Respond;
  readonly #clock: Clock;
  /** What each response takes. */
  readonly #latencyMs: () => number;

  constructor(respond: Respond, clock: Clock, latencyMs: () => number = () => 0) {
    super();
    this.#respond = respond;
    this.#clock = clock;
    this.#latencyMs = latencyMs;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const aborted = new AbortController();
    handler.onConnect?.((error) => {
      aborted.abort();
      handler.onError?.(error ?? new Error('aborted'));
    });
    if (!aborted.signal.aborted) void this.#serve(options, handler, aborted.signal);
    return true;
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  override destroy(): Promise<void> {
    return Promise.resolve();
  }

  async #serve(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler, aborted: AbortSignal) {
    const { origin, path, method, headers, body } = options;
    const service = String(origin) === URLS.gfa.replace('/v1', '') ? 'gfa' : 'portal';
    const named = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]);
    const latencyMs = this.#latencyMs();
    if (latencyMs > 0) await this.#clock.sleep(latencyMs, aborted);
    if (aborted.aborted) return;
    const sent = this.#respond(service, {
      method,
      path: service === 'gfa' ? path.replace('/v1', '') : path,
      headers: Object.fromEntries(named),
      body: body === undefined || body === null ? '' : String(body),
    });
    if (sent?.how === 'hang') return;
    if (sent === undefined || sent.how === 'reset') handler.onError?.(connectionError());
    else await this.#send(sent, handler, aborted);
  }

  async #send({ status, headers, body, how }: SentResponse, handler: Dispatcher.DispatchHandler, aborted: AbortSignal) {
    const raw = Object.entries(headers).flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value)]);
    handler.onHeaders?.(status, raw, () => {}, '');
    const bytes = Buffer.from(body);
    if (how === 'drip') {
      for (const byte of bytes) {
        await this.#clock.sleep(1000, aborted);
        if (aborted.aborted) return;
        handler.onData?.(Buffer.of(byte));
      }
    } else if (how === undefined) {
      handler.onData?.(bytes);
    } else {
      handler.onData?.(bytes.subarray(0, Math.floor(bytes.length / 2)));
      if (how === 'cut') handler.onError?.(connectionError());
      return;
    }
    handler.onComplete?.([]);
  }
}

function connectionError(): Error {
  return Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
}

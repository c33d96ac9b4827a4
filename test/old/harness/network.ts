import type { RequestListener } from 'node:http';
import { Dispatcher } from 'undici';
import { MemoryDispatcher, type Overhearing } from '../support/memory-dispatcher.ts';

/** A network in memory: whoever listens is found by its origin, and at any other address nothing listens. */
export class Network {
  readonly #listening = new Map<string, Dispatcher>();
  #failure: Error = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

  /** Connections to addresses where nothing listens fail with this error. */
  failsWith(error: Error): void {
    this.#failure = error;
  }

  /** Requests to an origin go to a listener from now on; what it returns ends that. */
  listens(url: string, listener: RequestListener, overhearing?: Overhearing): () => void {
    const { origin } = new URL(url);
    this.#listening.set(origin, new MemoryDispatcher(listener, overhearing));
    return () => void this.#listening.delete(origin);
  }

  /** What a program connects with. */
  connect(): Dispatcher {
    return new Connection(this.#listening, this.#failure);
  }
}

class Connection extends Dispatcher {
  readonly #listening: ReadonlyMap<string, Dispatcher>;
  readonly #failure: Error;

  constructor(listening: ReadonlyMap<string, Dispatcher>, failure: Error) {
    super();
    this.#listening = listening;
    this.#failure = failure;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const service = this.#listening.get(String(options.origin));
    if (service !== undefined) return service.dispatch(options, handler);
    handler.onConnect?.(() => {});
    handler.onError?.(this.#failure);
    return true;
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  override destroy(): Promise<void> {
    return Promise.resolve();
  }
}

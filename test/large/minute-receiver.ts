import { Dispatcher } from 'undici';
import { received } from '../history/memory-receiver.ts';

const MINUTE = 60_000;

/** So many minutes fit into it: 60 days. */
const MINUTES = 60 * 24 * 60;

/** A receiver of any size, which accepts everything and keeps one bit for each minute of each appliance. It is its own connection. */
export class MinuteReceiver extends Dispatcher {
  readonly #startMs: number;
  readonly #held = new Map<string, Uint8Array>();
  #repeated = 0;
  requests = 0;
  /** It takes no connections. */
  isAway = false;

  /** `startMs`: the first minute that is counted. */
  constructor(startMs: number) {
    super();
    this.#startMs = startMs;
  }

  holds(serial: string, minute: number): boolean {
    return ((this.#held.get(serial)?.[minute >> 3] ?? 0) & (1 << (minute & 7))) !== 0;
  }

  /** Loses a minute of each appliance. */
  lose(minute: number): void {
    for (const bits of this.#held.values()) bits[minute >> 3] = (bits[minute >> 3] ?? 0) & ~(1 << (minute & 7));
  }

  /** How many minutes have arrived twice since this was last asked. */
  takeRepeated(): number {
    const repeated = this.#repeated;
    this.#repeated = 0;
    return repeated;
  }

  take(body: Uint8Array): void {
    this.requests += 1;
    for (const { labels, samples } of received(body)) {
      const serial = labels.serial ?? '';
      const bits = this.#held.get(serial) ?? new Uint8Array(MINUTES / 8);
      this.#held.set(serial, bits);
      for (const [time] of samples) {
        const minute = Math.round((time - this.#startMs) / MINUTE);
        if (minute < 0) continue;
        if (this.holds(serial, minute)) this.#repeated += 1;
        bits[minute >> 3] = (bits[minute >> 3] ?? 0) | (1 << (minute & 7));
      }
    }
  }

  override dispatch({ body }: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    let isOver = false;
    handler.onConnect?.((error) => {
      isOver = true;
      handler.onError?.(error ?? new Error('aborted'));
    });
    queueMicrotask(() => {
      if (isOver) return;
      if (this.isAway) {
        handler.onError?.(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
        return;
      }
      this.take(body as Uint8Array);
      handler.onHeaders?.(204, [], () => {}, '');
      handler.onComplete?.([]);
    });
    return true;
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  override destroy(): Promise<void> {
    return Promise.resolve();
  }
}

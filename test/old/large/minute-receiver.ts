import { type Received, Receiver, type ReceiverKind } from '../harness/receiver.ts';

const MINUTE = 60_000;

/** So many minutes fit into it: 60 days. */
const MINUTES = 60 * 24 * 60;

/** A receiver of any size, which keeps one bit for each minute of each appliance. */
export class MinuteReceiver extends Receiver {
  readonly #startMs: number;
  readonly #held = new Map<string, Uint8Array>();

  /** `startMs`: the first minute that is counted. */
  constructor(startMs: number, kind: ReceiverKind, now: () => number) {
    super(kind, now);
    this.#startMs = startMs;
  }

  holds(serial: string, minute: number): boolean {
    return ((this.#held.get(serial)?.[minute >> 3] ?? 0) & (1 << (minute & 7))) !== 0;
  }

  /** Loses a minute of each appliance. */
  lose(minute: number): void {
    for (const bits of this.#held.values()) bits[minute >> 3] = (bits[minute >> 3] ?? 0) & ~(1 << (minute & 7));
  }

  protected override keeps({ serial = '', disk = '0' }: Received['labels'], time: number): boolean {
    const minute = Math.round((time - this.#startMs) / MINUTE);
    if (minute < 0 || disk !== '0') return false;
    const bits = this.#held.get(serial) ?? new Uint8Array(MINUTES / 8);
    this.#held.set(serial, bits);
    const isRepeated = this.holds(serial, minute);
    bits[minute >> 3] = (bits[minute >> 3] ?? 0) | (1 << (minute & 7));
    return isRepeated;
  }
}

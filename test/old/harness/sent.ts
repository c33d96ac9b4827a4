import type { Clock } from '../../src/runtime/clock.ts';
import type { Overhearing, WholeAnswer } from '../support/memory-dispatcher.ts';

/** One request as it left. */
interface Left {
  readonly at: number;
  readonly path: string;
}

/** What was sent, and when. */
export class Sent implements Overhearing {
  readonly #clock: Clock;
  readonly #left: Left[] = [];
  /** When the latest of each path left, queries aside. */
  readonly #latest = new Map<string, number>();
  /** The periods of telemetry that were requested. */
  readonly periods: string[] = [];
  /** Called with each of them; with a status, the portal returns that in the place of the records. */
  refuses: (period: string) => number | undefined = () => undefined;
  /** Called with each request. */
  sends: (path: string) => void = () => {};
  /** Called with each answer. */
  hears: (path: string, answer: WholeAnswer) => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  left(path: string, body = ''): number | undefined {
    const at = this.#clock.monotonic();
    this.#left.push({ at, path });
    this.sends(path);
    this.#latest.set(path.split('?')[0] ?? path, at);
    const [, period] = /"period":"([^"]+)"/.exec(body) ?? [];
    if (period === undefined) return undefined;
    this.periods.push(period);
    return this.refuses(period);
  }

  ended(path: string, answer: WholeAnswer | undefined): void {
    if (answer !== undefined) this.hears(path, answer);
  }

  /** How many requests whose path fits left in the last so many milliseconds; all there were unless told. */
  count(path: RegExp = /./, lastMs = Number.POSITIVE_INFINITY): number {
    const from = this.#clock.monotonic() - lastMs;
    let count = 0;
    for (let index = this.#left.length - 1; index >= 0; index -= 1) {
      const { at, path: sent } = this.#left[index] ?? { at: 0, path: '' };
      if (at <= from) break;
      if (path.test(sent)) count += 1;
    }
    return count;
  }

  /** How long ago the latest request of a path left, queries aside, in milliseconds. */
  lastLeft(path: string): number {
    return this.#clock.monotonic() - (this.#latest.get(path) ?? Number.NEGATIVE_INFINITY);
  }

  /** Whether a request of a path, queries aside, has left since then; monotonic milliseconds. */
  hasLeft(path: string, since: number): boolean {
    return (this.#latest.get(path) ?? Number.NEGATIVE_INFINITY) >= since;
  }

  /** The pauses between requests whose path fits, in milliseconds. */
  pauses(path: RegExp): readonly number[] {
    const times = this.#left.filter((one) => path.test(one.path)).map(({ at }) => at);
    return times.slice(1).map((at, index) => at - (times[index] ?? 0));
  }

  /** How long ago a request whose path fits last left, in milliseconds. */
  age(path: RegExp): number {
    const last = this.#left.findLast((one) => path.test(one.path));
    return last === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonic() - last.at;
  }
}

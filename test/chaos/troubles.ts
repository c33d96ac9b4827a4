import type { Trouble } from './trouble.ts';

interface Noted extends Pick<Trouble, 'name' | 'touches' | 'echoMs'> {
  /** Infinite while it goes on. */
  endedAt: number;
}

/** Troubles that ended longer ago are forgotten, echo aside, in milliseconds. */
const FORGOTTEN_AFTER_MS = 14_400_000;

/** What is wrong, and what was wrong lately; monotonic milliseconds. */
export class Troubles {
  #noted: Noted[] = [];

  /** Something begins to be wrong; what is returned says that it has ended. */
  begin(trouble: Pick<Trouble, 'name' | 'touches' | 'echoMs'>): (now: number) => void {
    const noted: Noted = { ...trouble, endedAt: Number.POSITIVE_INFINITY };
    this.#noted.push(noted);
    return (now) => {
      noted.endedAt = now;
      this.#noted = this.#noted.filter(({ endedAt, echoMs }) => now - endedAt - echoMs < FORGOTTEN_AFTER_MS);
    };
  }

  /** Whether nothing has been wrong for so long with what `concerns` says yes to. */
  isQuiet(concerns: (touches: Trouble['touches']) => boolean, forMs: number, now: number): boolean {
    return this.#noted.every(({ touches, endedAt, echoMs }) => !concerns(touches) || now - endedAt - echoMs > forMs);
  }

  /** How many appliances are in trouble of their own, or were lately. */
  get troubled(): number {
    return new Set(this.#noted.flatMap(({ touches }) => (typeof touches === 'object' ? touches.serials : []))).size;
  }

  /** What goes on, for people. */
  get goingOn(): string {
    const names = this.#noted.filter(({ endedAt }) => endedAt === Number.POSITIVE_INFINITY).map(({ name }) => name);
    return names.join(', ') || 'nothing';
  }
}

import type { HistoryMeter } from './remote-write.ts';

const REASONS = ['out_of_order', 'too_old', 'too_large', 'rejected', 'duplicate', 'future', 'changed'] as const;

/** Counts of points and requests since the start. */
export class RemoteWriteCounts implements HistoryMeter {
  #sent = 0;
  readonly #dropped = new Map<string, number>(REASONS.map((reason) => [reason, 0]));
  readonly #holes = new Map<string, number>([
    ['closed', 0],
    ['lost', 0],
  ]);
  readonly #answers = new Map<string, number>();

  sent(points: number): void {
    this.#sent += points;
  }

  dropped(reason: string, points: number): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + points);
  }

  hole(outcome: 'closed' | 'lost'): void {
    this.#holes.set(outcome, (this.#holes.get(outcome) ?? 0) + 1);
  }

  /** A request has ended with this status, or `network`. */
  answered(code: string): void {
    this.#answers.set(code, (this.#answers.get(code) ?? 0) + 1);
  }

  read() {
    return { sent: this.#sent, dropped: this.#dropped, holes: this.#holes, answers: this.#answers };
  }
}

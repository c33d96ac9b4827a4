import type { Outcome } from './poll.ts';

/** What changed for a task: it fails again while others answer, or it can be polled again after that. */
export type FailureChange = 'fails' | 'can be polled again';

/**
 * Tasks that go on failing while their API answers others. A first failure may be chance, and without an answer to another
 * in between it may be the API that is about to count as down.
 */
export class Failures {
  /** Tasks that fail, each with how many polls had succeeded before its first failure in a row, and whether it was told. */
  readonly #tasks = new Map<string, { readonly after: number; told: boolean }>();

  /** Takes an outcome in. `succeeded`: how many polls of the API have, so far; `isDown`: the API as a whole. */
  observe({ task: { id }, state }: Outcome, succeeded: number, isDown: boolean): FailureChange | undefined {
    const failing = this.#tasks.get(id);
    if (state !== 'failed') {
      this.#tasks.delete(id);
      return failing?.told ? 'can be polled again' : undefined;
    }
    if (isDown) return undefined;
    if (failing === undefined) {
      this.#tasks.set(id, { after: succeeded, told: false });
      return undefined;
    }
    if (failing.told || succeeded === failing.after) return undefined;
    failing.told = true;
    return 'fails';
  }

  /** A task is polled no more. */
  forget(id: string): void {
    this.#tasks.delete(id);
  }
}

import { RequestError } from '../runtime/errors.ts';
import type { Outcome } from './poll.ts';

/** What changed: the first refusal of an operation, or its last one taken back. */
export type RefusalChange = 'refused' | 'given again';

/**
 * What an API refuses (403, 404, 422), by operation: refused from its first task that is refused until every one of them
 * has succeeded or is gone. Tasks that were never refused say nothing: others of a resting series' kind succeed all the
 * time. The series of appliances count as one operation, `telemetry`, and of them only a missing right or licence (403):
 * that an appliance lacks a series is nothing new.
 */
export class Refusals {
  readonly #tasks = new Map<string, Set<string>>();

  /** Takes an outcome in. */
  observe(outcome: Outcome): RefusalChange | undefined {
    const { task, state } = outcome;
    const operation = operationOf(outcome);
    if (state === 'succeeded') return this.#release(operation, task.id) ? 'given again' : undefined;
    if (state !== 'absent') return undefined;
    const { error } = outcome;
    if (task.appliance !== undefined && !(error instanceof RequestError && error.status === 403)) return undefined;
    const refused = this.#tasks.get(operation);
    if (refused === undefined) this.#tasks.set(operation, new Set([task.id]));
    else refused.add(task.id);
    return refused === undefined ? 'refused' : undefined;
  }

  /** A task is polled no more: nothing is awaited of it. */
  forget(id: string): void {
    for (const operation of this.#tasks.keys()) this.#release(operation, id);
  }

  /** Whether that was the last one. */
  #release(operation: string, id: string): boolean {
    const refused = this.#tasks.get(operation);
    if (refused === undefined || !refused.delete(id) || refused.size > 0) return false;
    return this.#tasks.delete(operation);
  }
}

/** The operation that a refusal is about. */
export function operationOf({ task }: Pick<Outcome, 'task'>): string {
  return task.appliance === undefined ? task.operation : 'telemetry';
}

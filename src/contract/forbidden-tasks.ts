import { isForbidden } from '../runtime/failures.ts';
import { type Explain, type Explanation, explainTask } from './causes.ts';
import type { Task } from './task.ts';

/** How many series a sentence names. */
const MAX_NAMED = 5;

/** Collects what is forbidden among tasks, and explains it. */
export class ForbiddenTasks {
  readonly #series = new Set<string>();
  /** The setting that excludes each forbidden series. */
  readonly #settings = new Map<string, string>();
  readonly #appliances = new Set<string>();
  readonly #ofAccount = new Map<string, { readonly task: Task; readonly error: Error }>();
  #error: Error | undefined;

  /** `error`: why the latest poll failed. */
  add(task: Task, error: Error | undefined): void {
    const { operation, appliance, without } = task;
    if (appliance !== undefined) this.#series.add(operation);
    if (error === undefined || !isForbidden(error)) return;
    if (appliance === undefined) {
      // A list of the inventory is explained as a gap.
      if (task.discoversTasks !== true) this.#ofAccount.set(operation, { task, error });
      return;
    }
    this.#settings.set(operation, without ?? '');
    this.#appliances.add(appliance.serial);
    this.#error = error;
  }

  /** Explains all series at once, because one right or licence usually covers several; undefined if none is forbidden. */
  series(explain: Explain): Explanation | undefined {
    const { size } = this.#settings;
    if (this.#error === undefined) return undefined;
    const series = size > MAX_NAMED ? `${size} series` : [...this.#settings.keys()].join(', ');
    const appliances = this.#appliances.size === 1 ? '1 appliance' : `${this.#appliances.size} appliances`;
    const settings = [...this.#settings.values()];
    const without =
      settings.length < this.#series.size ? { without: settings.join(',').replaceAll(/,PORTAL_SERIES=/g, ',') } : {};
    return {
      happened: `requests for ${series} of ${appliances} ${rejection(this.#error)}`,
      advice: explain('forbidden', without).advice,
    };
  }

  /** Explains the series, and each operation of the account. */
  all(explain: Explain): readonly Explanation[] {
    const ofAccount = [...this.#ofAccount].map(([operation, { task, error }]) => ({
      happened: `requests for ${operation} ${rejection(error)}`,
      advice: explainTask(explain, task, error).advice,
    }));
    return [this.series(explain) ?? [], ofAccount].flat();
  }
}

/** Without the request, which names one appliance. */
function rejection({ message }: Error): string {
  return message.replace(/^[A-Z]+ \S+ /, '');
}

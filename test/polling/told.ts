import type { PollResult } from '../../src/contract/poll-result.ts';
import type { Task } from '../../src/contract/task.ts';
import { recordOutcome } from '../../src/polling/task-state.ts';
import { Tasks } from '../../src/polling/tasks.ts';
import { failed, minutes, reading, succeeded } from './fleet.ts';

/** Tasks of which polls are told one by one; `allowed`: requests a second. */
export class Told {
  allowed = Number.POSITIVE_INFINITY;
  readonly tasks = new Tasks({
    intervalMs: minutes(5),
    staleAfter: 3,
    hasSeries: true,
    allowedPerSecond: () => this.allowed,
  });

  change(tasks: readonly Task[], now = 0): void {
    this.tasks.reconcile(tasks, now);
  }

  poll(id: string, now: number, brought: PollResult | Error = reading): void {
    const state = this.tasks.get(id);
    if (state === undefined) throw new Error(`there is no ${id}`);
    const outcome = brought instanceof Error ? failed(state.task, brought) : succeeded(state.task, brought);
    recordOutcome(state, outcome, now, now, this.tasks.stretched(now));
    this.tasks.polled(state, now);
  }

  expired(now: number): string[] {
    return [...this.tasks.expire(now)].map(({ task: { id } }) => id);
  }
}

export function told(...tasks: readonly Task[]): Told {
  const all = new Told();
  all.change(tasks);
  return all;
}

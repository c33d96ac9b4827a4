import type { PollResult } from '../../src/contract/poll-result.ts';
import type { Task } from '../../src/contract/task.ts';
import { TaskRegistry } from '../../src/polling/task-registry.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { failed, minutes, reading, responded } from './fleet.ts';

/** Listed tasks, of which polls are reported one by one; `allowed`: requests a second. */
export class Listed {
  allowed = Number.POSITIVE_INFINITY;
  readonly registry = new TaskRegistry({
    intervalMs: minutes(5),
    staleAfter: 3,
    hasSeries: true,
    allowedPerSecond: () => this.allowed,
  });

  change(tasks: readonly Task[], now = 0): void {
    const changes = this.registry.reconcile(tasks, now);
    runToEnd(
      (function* () {
        for (const change of changes) if (change === undefined) yield;
      })(),
    );
  }

  poll(id: string, now: number, brought: PollResult | Error = reading): void {
    const polled = this.registry.get(id);
    if (polled === undefined) throw new Error(`there is no ${id}`);
    this.registry.observe(polled, brought instanceof Error ? failed(brought) : responded(brought), now, now);
  }
}

export function listed(...tasks: readonly Task[]): Listed {
  const all = new Listed();
  all.change(tasks);
  return all;
}

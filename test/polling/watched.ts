import type { Task } from '../../src/contract/task.ts';
import { Appliances } from '../../src/polling/appliances.ts';
import { SeriesHealth } from '../../src/polling/health.ts';
import { Observer } from '../../src/polling/observer.ts';
import type { Outcome } from '../../src/polling/poll.ts';
import { recordOutcome } from '../../src/polling/task-state.ts';
import { Tasks } from '../../src/polling/tasks.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failed, families, Lines, minutes, Shelf, succeeded, task } from './fleet.ts';

/** What is known of made-up tasks, told how their polls ended as the runner tells it. */
export class Watched {
  readonly shelf = new Shelf();
  readonly lines = new Lines();
  readonly clock = new ManualClock();
  readonly tasks: Tasks;
  readonly health = new SeriesHealth(16, () => 0.5);
  readonly observer: Observer;
  readonly asked: string[] = [];
  isHeld = false;

  constructor(tasks: readonly Task[], hasSeries = true) {
    const { clock, health, lines: log } = this;
    const api = tasks[0]?.api ?? 'portal';
    const allowedPerSecond = () => Number.POSITIVE_INFINITY;
    this.tasks = new Tasks({ intervalMs: minutes(5), staleAfter: 3, hasSeries, allowedPerSecond });
    const { tasks: all } = this;
    const appliances = new Appliances({
      api,
      sink: this.shelf,
      log,
      families,
      ask: (state) => this.asked.push(state.task.id),
    });
    this.observer = new Observer({
      api,
      tasks: all,
      appliances,
      health,
      isHeld: () => this.isHeld,
      notes: () => [],
      clock,
      log,
    });
    this.change(tasks);
    log.take();
  }

  change(tasks: readonly Task[]): void {
    this.observer.changed(this.tasks.reconcile(tasks, this.clock.monotonic()));
  }

  end(...outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) {
      const state = this.tasks.get(outcome.task.id);
      if (state === undefined) throw new Error(`there is no ${outcome.task.id}`);
      recordOutcome(state, outcome, this.clock.monotonic(), this.clock.now(), 1);
      this.health.observe(state, outcome, this.tasks.deciding, this.clock.monotonic());
      this.observer.ended(state, outcome);
    }
  }

  succeed(...tasks: readonly Task[]): void {
    this.end(...tasks.map((each) => succeeded(each)));
  }

  fail(...ids: readonly string[]): void {
    this.end(...ids.map((id) => failed(task(id))));
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    for (const _ of this.tasks.expire(this.clock.monotonic()));
    runToEnd(this.observer.timePassed());
  }

  up(serial: string): string | undefined {
    return this.shelf.up(serial);
  }
}

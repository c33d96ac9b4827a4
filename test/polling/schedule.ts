import type { Task } from '../../src/contract/task.ts';
import { Agenda, type AgendaLimits } from '../../src/polling/agenda.ts';
import { Tasks } from '../../src/polling/tasks.ts';
import { minutes } from './fleet.ts';

/** An agenda with the states of its tasks, spoken to by tasks: what the program does around it in a few lines. */
export class Schedule {
  readonly #agenda: Agenda;
  #now = 0;
  readonly #tasks = new Tasks({
    intervalMs: minutes(5),
    staleAfter: 3,
    hasSeries: true,
    allowedPerSecond: () => Number.POSITIVE_INFINITY,
  });

  constructor(limits: AgendaLimits) {
    this.#agenda = new Agenda(limits);
  }

  get size(): number {
    return this.#tasks.size;
  }

  get nextDue(): number | undefined {
    const next = this.#agenda.nextDue(this.#now);
    return Number.isFinite(next) ? next : undefined;
  }

  tasks(): Task[] {
    return [...this.#tasks.all()].map(({ task }) => task);
  }

  reconcile(tasks: readonly Task[], now: number): readonly Task[] {
    this.#now = now;
    const { come, gone, hastened } = this.#tasks.reconcile(tasks, now);
    for (const state of come) this.#agenda.add(state, now);
    for (const state of hastened) this.#agenda.wake(state, now, state.task.intervalMs);
    return gone.map(({ task }) => task);
  }

  take(now: number, isSeriesHeld = false): Task | undefined {
    this.#now = now;
    return this.#agenda.take(now, isSeriesHeld)?.task;
  }

  takeProbe(): Task | undefined {
    return this.#agenda.takeProbe(this.#tasks.all())?.task;
  }

  settle({ id }: Task, now: number, how: { readonly failed: boolean; readonly afterMs?: number | undefined }): void {
    this.#now = now;
    const state = this.#tasks.get(id);
    if (state === undefined) return;
    state.failures = how.failed ? state.failures + 1 : 0;
    if (state.appliance && !state.isGone) state.appliance.failures = how.failed ? state.appliance.failures + 1 : 0;
    this.#agenda.putBack(state, now, how.afterMs);
    this.#tasks.forget(state);
  }

  wake(ids: Iterable<string>, now: number): void {
    for (const id of ids) {
      const state = this.#tasks.get(id);
      if (state !== undefined) this.#agenda.wake(state, now, 1);
    }
  }
}

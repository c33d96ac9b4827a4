import { expect, test } from 'vitest';
import type { Task } from '../../src/contract/task.ts';
import fc from '../support/fast-check.ts';
import { minutes, task } from './fleet.ts';
import { Schedule } from './schedule.ts';

const limits = { perAppliance: 2, failing: 2 };
const everyId = ['a', 'b', 'c'].flatMap((serial) => ['s0', 's1', 's2'].map((series) => `${serial}/${series}`));

type Step =
  | { readonly kind: 'reconcile'; readonly wanted: readonly (readonly [id: string, intervalMs: number])[] }
  | { readonly kind: 'take' }
  | { readonly kind: 'settle'; readonly pick: number; readonly failed: boolean; readonly afterMs: number | undefined }
  | { readonly kind: 'wake'; readonly ids: readonly string[] }
  | { readonly kind: 'pass'; readonly ms: number };

/** What is known of a task without knowing its grid: it is due no sooner than the one and no later than the other. */
interface Known {
  task: Task;
  notBefore: number;
  dueBy: number;
}

/** What has to be true of an agenda, kept the simplest way: a list of what there is and one of what is under way. */
class Model {
  readonly #agenda = new Schedule(limits);
  readonly #there = new Map<string, Known>();
  /** Those under way, and whether they were taken for failing ones. */
  readonly #flying: { readonly task: Task; readonly isFailing: boolean }[] = [];
  readonly #failures = new Map<string, number>();
  /** Failures in a row, by appliance. */
  readonly #inVain = new Map<string, number>();
  #now = 0;

  do(step: Step): void {
    if (step.kind === 'reconcile') this.#reconcile(step.wanted.map(([id, intervalMs]) => task(id, { intervalMs })));
    if (step.kind === 'take') this.#take();
    if (step.kind === 'settle' && this.#flying.length > 0) this.#settle(step);
    if (step.kind === 'wake') this.#wake(step.ids);
    if (step.kind === 'pass') this.#now += step.ms;
  }

  #reconcile(wanted: readonly Task[]): void {
    const gone = [...this.#there.keys()].filter((id) => !wanted.some((other) => other.id === id));
    const told = this.#agenda.reconcile(wanted, this.#now).map(({ id }) => id);
    expect(new Set(told)).toEqual(new Set(gone));
    for (const id of gone) {
      this.#there.delete(id);
      this.#failures.delete(id);
    }
    // An appliance that left is forgotten.
    const left = [...this.#inVain.keys()].filter(
      (serial) => !wanted.some(({ appliance }) => appliance?.serial === serial),
    );
    for (const serial of left) this.#inVain.delete(serial);
    for (const now of wanted) {
      const known = this.#there.get(now.id);
      const before = known?.task.intervalMs ?? 0;
      if (known === undefined) this.#there.set(now.id, { task: now, notBefore: this.#now, dueBy: this.#now + 1 });
      else known.task = now;
      if (known !== undefined && now.intervalMs < before) {
        known.dueBy = Math.min(known.dueBy, this.#now + 1.5 * now.intervalMs);
        known.notBefore = Math.min(known.notBefore, this.#now);
      }
    }
    expect([this.#agenda.size, [...this.#agenda.tasks()].length]).toEqual([wanted.length, wanted.length]);
  }

  #take(): void {
    const taken = this.#agenda.take(this.#now);
    if (taken === undefined) {
      const overdue = [...this.#there.values()].filter(({ dueBy }) => dueBy <= this.#now);
      expect(overdue.filter(({ task: waiting }) => !this.#isFlying(waiting.id) && this.#mayStart(waiting))).toEqual([]);
      return;
    }
    expect(this.#isFlying(taken.id)).toBe(false);
    expect(this.#mayStart(taken)).toBe(true);
    const known = this.#there.get(taken.id);
    expect(known?.task).toBe(taken);
    expect(this.#now).toBeGreaterThanOrEqual(known?.notBefore ?? Number.NaN);
    this.#flying.push({ task: taken, isFailing: this.#isFailing(taken) });
  }

  #settle({ pick, failed, afterMs }: Step & { kind: 'settle' }): void {
    const [landed] = this.#flying.splice(pick % this.#flying.length, 1).map(({ task }) => task) as [Task];
    this.#agenda.settle(landed, this.#now, { failed, afterMs });
    const known = this.#there.get(landed.id);
    if (known === undefined) return;
    const { serial = '' } = landed.appliance ?? {};
    this.#inVain.set(serial, failed ? (this.#inVain.get(serial) ?? 0) + 1 : 0);
    this.#failures.set(landed.id, failed ? (this.#failures.get(landed.id) ?? 0) + 1 : 0);
    known.notBefore = this.#now + (afterMs ?? 0.5 * known.task.intervalMs);
    known.dueBy = this.#now + (afterMs ?? 1.5 * known.task.intervalMs);
  }

  #wake(ids: readonly string[]): void {
    this.#agenda.wake(ids, this.#now);
    for (const [id, known] of this.#there) {
      if (!ids.includes(id) || this.#isFlying(id)) continue;
      known.notBefore = Math.min(known.notBefore, this.#now);
      known.dueBy = Math.min(known.dueBy, this.#now + 1);
    }
  }

  #isFlying(id: string): boolean {
    return this.#flying.some(({ task: { id: other } }) => other === id);
  }

  #isFailing({ id, appliance }: Task): boolean {
    return (this.#failures.get(id) ?? 0) > 0 || (this.#inVain.get(appliance?.serial ?? '') ?? 0) > 1;
  }

  #mayStart(waiting: Task): boolean {
    const serial = waiting.appliance?.serial;
    const ofAppliance = this.#flying.filter(({ task: other }) => other.appliance?.serial === serial);
    if (ofAppliance.length >= limits.perAppliance) return false;
    if (!this.#isFailing(waiting)) return true;
    const failing = this.#flying.filter(({ isFailing }) => isFailing);
    return failing.length < limits.failing && !ofAppliance.some(({ isFailing }) => isFailing);
  }
}

const id = fc.constantFrom(...everyId);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ kind: 'take' } as const) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      pick: fc.nat(),
      failed: fc.boolean(),
      afterMs: fc.option(fc.integer({ min: 0, max: minutes(10) }), { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('reconcile' as const),
      wanted: fc.uniqueArray(fc.tuple(id, fc.constantFrom(minutes(1), minutes(5))), { selector: ([name]) => name }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wake' as const), ids: fc.array(id) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: minutes(10) }) }),
  },
);

test('whatever happens in whatever order: no overlap, nothing forgotten or too soon, no limit exceeded', () => {
  const everything: Step = { kind: 'reconcile', wanted: everyId.map((name) => [name, minutes(5)]) };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const model = new Model();
      for (const each of [everything, ...steps]) model.do(each);
    }),
    { numRuns: 500 },
  );
});

import { describe, expect, test } from 'vitest';
import type { PollResult } from '../../src/contract/poll-result.ts';
import type { Task } from '../../src/contract/task.ts';
import { TaskRegistry } from '../../src/polling/task-registry.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { appliancesByName, taskSummary } from '../../src/status/task-report.ts';
import { answered, failed, fleet, inventory, minutes, nothing, records, responded, task } from '../polling/fleet.ts';

/** Listed tasks, of which polls are reported one by one; `allowed`: requests a second. */
class Listed {
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

  poll(id: string, now: number, brought: PollResult | Error = records): void {
    const polled = this.registry.get(id);
    if (polled === undefined) throw new Error(`there is no ${id}`);
    this.registry.observe(polled, brought instanceof Error ? failed(brought) : responded(brought), now, now);
  }
}

function listed(...tasks: readonly Task[]): Listed {
  const all = new Listed();
  all.change(tasks);
  return all;
}

const summary = ({ registry }: Listed, now: number) => runToEnd(taskSummary(registry, now));

describe('ages', () => {
  test('are told by their median and their worst, and not for what never came or is suspended', () => {
    const seldom = { intervalMs: minutes(5), suspendedIntervalMs: minutes(5) };
    const all = listed(...['a/s', 'b/s', 'c/s', 'never/s'].map((id) => task(id)), task('suspended/s', seldom));
    expect(summary(all, 0)).toMatchObject({ medianAgeSeconds: null, worstAgeSeconds: null });
    all.poll('suspended/s', 0, nothing);
    all.poll('a/s', 1_000);
    all.poll('b/s', 5_000);
    all.poll('c/s', 6_000);
    expect(summary(all, 11_000)).toMatchObject({ medianAgeSeconds: 6, worstAgeSeconds: 10 });
    all.change([task('b/s'), task('c/s')]);
    expect(summary(all, 11_000)).toMatchObject({ medianAgeSeconds: 6, worstAgeSeconds: 6 });
  });
});

describe('what is overdue', () => {
  test('has missed more than one poll by its own interval: the inventory is not yet, when series are', () => {
    const all = listed(inventory, ...fleet(2, 2));
    for (const { id } of [inventory, ...fleet(2, 2)]) all.poll(id, 0);
    expect(summary(all, minutes(12.5)).tasks.overdue).toBe(0);
    expect(summary(all, minutes(12.5) + 1).tasks.overdue).toBe(4);
    all.poll('a0/s0', minutes(12.5));
    all.poll('a0/s1', minutes(12.5), answered(503));
    expect(summary(all, minutes(12.5) + 1).tasks.overdue).toBe(3);
  });

  test('is not what the limits make slow', () => {
    const all = listed(...fleet(2, 2));
    for (const { id } of fleet(2, 2)) all.poll(id, 0);
    all.allowed = 4 / 600;
    expect(summary(all, minutes(20)).tasks.overdue).toBe(0);
  });

  test('is no task of an appliance that is down: that explains it', () => {
    const all = listed(...fleet(2, 2));
    for (const { id } of fleet(2, 2)) all.poll(id, 0);
    const [down] = appliancesByName(all.registry);
    for (const verdict of [down?.records, down?.responses]) verdict?.fall(0);
    expect(summary(all, minutes(13)).tasks.overdue).toBe(2);
  });

  test('is what never succeeded, too, since it is known', () => {
    const all = listed(...fleet(1, 1));
    all.poll('a0/s0', 1, answered(503));
    expect(summary(all, minutes(13)).tasks.overdue).toBe(1);
    all.change([], minutes(13));
    all.change(fleet(1, 1), minutes(13));
    expect(summary(all, minutes(14)).tasks.overdue).toBe(0);
  });
});

test('appliances are listed as people order names', () => {
  const all = listed(...['edge-10', 'edge-9', 'Edge-1'].map((name) => task(`${name}/s`)));
  expect(appliancesByName(all.registry).map(({ name }) => name)).toEqual(['Edge-1', 'edge-9', 'edge-10']);
});

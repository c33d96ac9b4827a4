import type { Task } from '../../src/contract/task.ts';
import { Agenda } from '../../src/polling/agenda.ts';
import { intervalFactor, maxAgeMs } from '../../src/polling/effective-interval.ts';
import { ApplianceTasks, PolledTask } from '../../src/polling/polled-task.ts';
import { dueAfter } from '../../src/polling/schedule.ts';
import { getOrCreate } from '../../src/runtime/maps.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { AdaptiveRate } from '../../src/transport/rate/adaptive-rate.ts';
import { DailyQuota } from '../../src/transport/rate/daily-quota.ts';
import { type RateLimit, RateLimiter, type SentRequest } from '../../src/transport/rate/rate-limiter.ts';
import { slidingWindow } from '../bench/services.ts';
import { failed, responded } from '../polling/fleet.ts';

/** A fleet, the limits that the simulated service enforces and the exporter is told, and how long to watch. */
export interface Fleet {
  readonly appliances: number;
  readonly series: number;
  readonly intervalMs: number;
  readonly limit: RateLimit;
  readonly dailyLimit: number;
  readonly hours: number;
}

/** What came of it. */
export interface FleetResult {
  readonly refused: number;
  readonly sent: number;
  /** Part of the day's quota used in the last whole day. */
  readonly quotaUsed: number;
  /** Most requests in any 24 hours. */
  readonly maxInADay: number;
  /** Ages after the first two sweeps, in seconds. */
  readonly worstAgeSeconds: number;
  readonly computedWorstAgeSeconds: number;
}

const DAY_MS = 86_400_000;
const CONCURRENCY = 8;

/** Polls a fleet in simulated time with the agenda, pace and budget of the program; nothing sleeps. */
export function simulateFleet(fleet: Fleet): FleetResult {
  const random = seededRandom(7);
  const agenda = new Agenda(CONCURRENCY);
  const ceiling = fleet.limit.requests / fleet.limit.windowMs;
  const pace = new RateLimiter(fleet.limit, new AdaptiveRate(ceiling, 0), 0);
  const budget = new DailyQuota(fleet.dailyLimit, 0);
  const burst = slidingWindow(fleet.limit.requests, fleet.limit.windowMs);
  const day = slidingWindow(fleet.dailyLimit, DAY_MS);
  const tasks = tasksOf(fleet);
  for (const polled of tasks) agenda.place(polled, polled.phase);
  const demand = tasks.reduce((sum, { task }) => sum + 1000 / task.intervalMs, 0);
  const factor = intervalFactor(demand, Math.min(budget.perSecond, pace.perSecond(0)));
  const settledAfter = 2 * fleet.intervalMs * factor;

  const open: {
    readonly polled: PolledTask;
    readonly departure: SentRequest;
    readonly endsAt: number;
    readonly taken: boolean;
  }[] = [];
  const lastSuccess = new Map<PolledTask, number>();
  let now = 0;
  let sent = 0;
  let refused = 0;
  let inLastDay = 0;
  let worstAge = 0;
  const end = fleet.hours * 3_600_000;
  while (now < end) {
    const next = open.reduce((first, { endsAt }) => Math.min(first, endsAt), Number.POSITIVE_INFINITY);
    const mayLeave = open.length < CONCURRENCY ? Math.max(now, pace.earliest(now), budget.earliest(now)) : next;
    const polled = mayLeave < next ? agenda.take(mayLeave, true) : undefined;
    const due = mayLeave < next && polled === undefined ? agenda.nextDue(true) : mayLeave;
    now = Math.max(now, Math.min(next, due));
    if (polled === undefined) {
      if (now < next) continue;
      const index = open.findIndex(({ endsAt }) => endsAt === next);
      for (const { polled, departure, taken } of open.splice(index, 1)) {
        pace.recordEnd(departure, now, taken ? { state: 'accepted' } : { state: 'throttled', retryAfterMs: 30_000 });
        const outcome = taken ? responded() : failed();
        agenda.end(polled);
        polled.observe(outcome, { task: polled.task, now, at: now, intervalFactor: factor, applianceReports: true });
        agenda.place(polled, dueAfter(polled, outcome, { now, random, decides: true, isServiceUp: true }));
        if (!taken) continue;
        const before = lastSuccess.get(polled);
        if (before !== undefined && before > settledAfter) worstAge = Math.max(worstAge, now - before);
        lastSuccess.set(polled, now);
      }
      continue;
    }
    budget.spend(now);
    const taken = burst.take(now).taken && day.take(now).taken;
    sent += 1;
    if (!taken) refused += 1;
    if (now >= end - DAY_MS) inLastDay += 1;
    open.push({ polled, departure: pace.recordSent(now), endsAt: now + 100 + 200 * random(), taken });
  }
  return {
    refused,
    sent,
    quotaUsed: inLastDay / fleet.dailyLimit,
    maxInADay: inLastDay,
    worstAgeSeconds: worstAge / 1000,
    computedWorstAgeSeconds: maxAgeMs(fleet.intervalMs, factor) / 1000,
  };
}

function tasksOf({ appliances, series, intervalMs }: Fleet): PolledTask[] {
  const byAppliance = new Map<string, ApplianceTasks>();
  const poll = () => Promise.reject(new Error('simulated tasks are not polled'));
  return Array.from({ length: appliances * series }, (_, index) => {
    const serial = `appliance-${Math.floor(index / series)}`;
    const task: Task = {
      id: `portal/${serial}/series-${index % series}`,
      api: 'portal',
      operation: `series-${index % series}`,
      appliance: { serial, name: serial },
      intervalMs,
      poll,
    };
    const appliance = getOrCreate(byAppliance, serial, () => new ApplianceTasks(serial, serial, 3, 0));
    return new PolledTask(task, 0, appliance);
  });
}

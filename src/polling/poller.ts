import type { PollResult } from '../contract/poll-result.ts';
import type { Task } from '../contract/task.ts';
import { type Clock, nextTurn } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { EarlierPolls } from './earlier-polls.ts';
import { FailureLog } from './failure-log.ts';
import { Fleet } from './fleet.ts';
import { Health, type HealthOptions } from './health.ts';
import type { PolledTask } from './polled-task.ts';
import { dueAfter, nextDueAt, nextTask, pauseAfterFailure, probeOf, taskKind } from './schedule.ts';
import { type Failure, type Outcome, observe, outcomeOf, type Response, type TaskEvent } from './task-state.ts';

export interface PollerOptions extends HealthOptions {
  /** How long counters of a task without success are exposed; default: for ever. */
  readonly forgetAfterMs?: number;
  /** Gets a new authorization, because rights may belong to the sign-in; missing if the service has none. Never rejects. */
  readonly renewAuthorization?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** How often everything is reviewed, in milliseconds. */
const REVIEW_MS = 1_000;

/** A shorter sleep may end at the same moment, because moments are rounded. */
const MIN_SLEEP_MS = 1;

/** If nothing was reviewed for this long, in milliseconds, the process or the machine was paused. */
const PAUSE_MS = 20_000;

/** The shortest time between two probes of a service that is down, in milliseconds. */
const PROBE_MS = 15_000;

/** So many tasks are collected in one turn of the event loop: creating 30,000 at once would take 0.3 s. */
const TASKS_PER_TURN = 1_000;

/**
 * Polls the tasks of one service in one loop: it reviews everything once a second, starts the task that is next if a worker
 * is free, and otherwise sleeps until a task is due, a poll ends or the second is over. Moments are monotonic milliseconds.
 */
export class Poller {
  readonly fleet: Fleet;
  readonly health: Health;
  readonly #options: PollerOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #failureLog: FailureLog;
  readonly #earlierPolls: EarlierPolls;
  #reviewedAt: number;
  #seriesEndedAt = Number.NEGATIVE_INFINITY;
  #authorizedAt = Number.NEGATIVE_INFINITY;
  #authorization: Promise<void> = Promise.resolve();
  #adoption: Promise<void> = Promise.resolve();
  #failingPausedUntil = Number.NEGATIVE_INFINITY;
  #wake = new AbortController();

  constructor(options: PollerOptions, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
    this.#reviewedAt = clock.monotonic();
    this.fleet = new Fleet(options);
    this.#earlierPolls = new EarlierPolls(this.fleet);
    this.health = new Health(options, this.fleet, clock);
    this.#failureLog = new FailureLog(options, this.fleet, this.health, log);
  }

  /** Resolves when the last poll in flight has ended. Rejects if a defect has ended it. */
  run(signal: AbortSignal): Promise<void> {
    return this.#runUntil(signal, () => false);
  }

  /** Polls everything once, also tasks that appear meanwhile; resolves when all are polled or the service is down. */
  runOnce(signal: AbortSignal): Promise<void> {
    const isOver = () => this.health.isUp === false || this.fleet.tasks.every(({ isPolled }) => isPolled);
    return this.#runUntil(signal, isOver);
  }

  /** Exposes the result of a previous process, as if it had been polled `at`. */
  async restore(task: Task, pollResult: PollResult, at: number): Promise<void> {
    await this.#adoptTasks();
    const polled = this.fleet.find(task.id);
    if (polled === undefined) return;
    await this.#options.sink.accept(task, pollResult);
    this.#observe(polled, { result: 'restored', respondedAt: at }, this.#clock.monotonic());
  }

  /** Computes everything that follows from the states of the tasks and from time. */
  review(): void {
    const now = this.#clock.monotonic();
    if (now - this.#reviewedAt > PAUSE_MS) this.health.resume(now);
    this.#reviewedAt = now;
    this.fleet.measure();
    for (const polled of this.fleet.tasks) {
      this.#withdrawStale(polled, now);
      polled.isAwaited = false;
    }
    for (const polled of this.health.review(now)) this.#pollFirst(polled, now);
    this.#failureLog.update();
  }

  async #runUntil(signal: AbortSignal, isOver: () => boolean): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    const defects: Error[] = [];
    const wake = () => this.#wake.abort('woken');
    signal.addEventListener('abort', wake, { once: true });
    await this.#adoptTasks();
    while (!signal.aborted && defects.length === 0 && !isOver()) {
      const now = this.#clock.monotonic();
      // Before the first verdict it is due with each poll: a service that is down is not polled at full rate for a second.
      if (now - this.#reviewedAt >= REVIEW_MS || this.health.isUp === undefined) this.review();
      const isWorkerFree = inFlight.size < this.#options.workers;
      const polled = isWorkerFree ? this.#next(now) : undefined;
      if (polled === undefined) {
        this.#wake = new AbortController();
        await this.#clock.sleep(this.#idleMs(now, isWorkerFree), this.#wake.signal);
        continue;
      }
      const ended = this.#poll(polled, signal)
        .catch((thrown: unknown) => {
          defects.push(asError(thrown));
        })
        .finally(() => {
          inFlight.delete(ended);
          wake();
        });
      inFlight.add(ended);
      // Scrapes come in between: a pick takes up to 1 ms, and polls without a request end at once.
      await nextTurn();
    }
    await Promise.all(inFlight);
    signal.removeEventListener('abort', wake);
    const [defect] = defects;
    if (defect !== undefined) throw defect;
  }

  #next(now: number): PolledTask | undefined {
    const { isUp } = this.health;
    const { tasks } = this.fleet;
    // A probe leaves even if no series is due: an outage may outlast every slot.
    const probe = isUp === false && now >= this.#nextProbeAt ? probeOf(tasks, now) : undefined;
    const conditions = { workers: this.#options.workers, failingPausedUntil: this.#failingPausedUntil };
    return probe ?? nextTask(tasks, now, { ...conditions, withSeries: isUp !== false });
  }

  /** Probes are not more frequent than polls are when the service is healthy. */
  get #nextProbeAt(): number {
    const { demandPerSecond, shortestMs } = this.fleet;
    const healthyMs = demandPerSecond > 0 ? 1000 / demandPerSecond : 0;
    return (
      Math.max(this.health.verdict.since, this.#seriesEndedAt) + Math.max(healthyMs, Math.min(PROBE_MS, shortestMs))
    );
  }

  #idleMs(now: number, isWorkerFree: boolean): number {
    const withSeries = this.health.isUp !== false;
    const dueAt = isWorkerFree ? nextDueAt(this.fleet.tasks, now, withSeries) : Number.POSITIVE_INFINITY;
    return Math.max(MIN_SLEEP_MS, Math.min(dueAt, this.#reviewedAt + REVIEW_MS) - now);
  }

  async #poll(polled: PolledTask, signal: AbortSignal): Promise<void> {
    const { task } = polled;
    const startedAt = this.#clock.monotonic();
    polled.inFlightAs = taskKind(polled);
    polled.isAwaited = false;
    polled.dueAt = Number.POSITIVE_INFINITY;
    if (polled.state.suspended === 'forbidden') await this.#renewAuthorization(task, signal);
    const outcome = await this.#request(task, signal);
    // This also follows a failure, because tasks that waited for the first response need not wait for a success. Tasks
    // come before verdicts, because an inventory that was read says nothing about series.
    if (task.discoversTasks && outcome.result !== 'aborted') await this.#adoptTasks();
    const now = this.#clock.monotonic();
    polled.inFlightAs = undefined;
    if (outcome.result === 'failed')
      this.#failingPausedUntil = now + pauseAfterFailure(this.#options.workers, now - startedAt);
    if (polled.appliance !== undefined) this.#seriesEndedAt = now;
    if (polled.isRemoved) {
      if (this.fleet.find(task.id) === undefined) this.#options.sink.withdraw(task.id);
      return;
    }
    if (outcome.result === 'postponed') polled.postponedUntil = outcome.until;
    else if (outcome.result !== 'aborted') this.#apply(polled, outcome, now, (now - startedAt) / 1000);
    const conditions = { decides: this.fleet.decides(polled), isServiceUp: this.health.isUp !== false };
    polled.hasten(dueAfter(polled, outcome, now, conditions));
    // What it has exposed has the previous names.
    if (polled.task.names !== task.names) polled.hasten(Number.NEGATIVE_INFINITY);
  }

  /** Polls a task once, and passes its result to the sink; never rejects. */
  async #request(task: Task, signal: AbortSignal): Promise<Outcome> {
    const { sink } = this.#options;
    try {
      const pollResult = await task.poll(signal, sink.minutesSince?.(task));
      await sink.accept(task, pollResult);
      return { result: pollResult.empty ? 'empty' : 'records', pollResult };
    } catch (thrown) {
      return outcomeOf(asError(thrown), task);
    }
  }

  #apply(polled: PolledTask, outcome: Response | Failure, now: number, seconds: number): void {
    const { task, appliance, state: before } = polled;
    this.#observe(polled, outcome, now);
    // Only the values leave; counters and histograms stay.
    if (outcome.result === 'rejected') this.#options.sink.withdraw(task.id, true);
    this.health.afterPoll(polled, outcome, now);
    if (appliance !== undefined) {
      appliance.newestRecordMs = Math.max(appliance.newestRecordMs, polled.state.newestRecordMs ?? 0);
      appliance.failuresInARow = outcome.result === 'failed' ? appliance.failuresInARow + 1 : 0;
      const awaited = this.health.reviewAppliance(appliance, now);
      if (awaited !== undefined) this.#pollFirst(awaited, now);
    }
    this.#earlierPolls.afterPoll(polled, before, now);
    this.#logPoll(task, outcome, seconds);
  }

  #observe(polled: PolledTask, event: TaskEvent, now: number): void {
    const { task, appliance } = polled;
    polled.state = observe(polled.state, event, {
      task,
      now,
      intervalFactor: this.fleet.intervalFactor,
      isApplianceUp: appliance?.state === 'reporting',
      othersRespondedAt: appliance?.verdict.lastSuccessAt ?? this.health.verdict.lastSuccessAt,
    });
  }

  /** Withdraws values that are too old, and long after that the counters. */
  #withdrawStale(polled: PolledTask, now: number): void {
    const { staleAfter, forgetAfterMs = Number.POSITIVE_INFINITY, sink } = this.#options;
    const { state, task } = polled;
    if (state.respondedAt === Number.NEGATIVE_INFINITY) return;
    // The interval that applied when the values arrived, or the present one if it is longer.
    const intervalMs = Math.max(state.effectiveIntervalMs, task.intervalMs * this.fleet.intervalFactor);
    const isTooOld = now - state.respondedAt >= (state.isExposed ? staleAfter * intervalMs : forgetAfterMs);
    if (!isTooOld) return;
    this.#observe(polled, { result: state.isExposed ? 'stale' : 'forgotten' }, now);
    sink.withdraw(task.id, state.isExposed);
  }

  /** Polls a task before others, because a verdict waits for it. */
  #pollFirst(polled: PolledTask, now: number): void {
    if (polled.inFlightAs !== undefined) return;
    polled.isAwaited = true;
    polled.hasten(now);
  }

  /** Before a suspended task is polled, at most once in a discovery interval: the right may have been given meanwhile. */
  #renewAuthorization({ suspendedIntervalMs = 0 }: Task, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const { renewAuthorization } = this.#options;
    if (renewAuthorization !== undefined && now - this.#authorizedAt >= suspendedIntervalMs) {
      this.#authorizedAt = now;
      this.#authorization = renewAuthorization(signal);
    }
    return this.#authorization;
  }

  /** Follows the inventory, one change after the other. */
  #adoptTasks(): Promise<void> {
    this.#adoption = this.#adoption.then(async () => {
      const listed: Task[] = [];
      for (const task of this.#options.collector.tasks()) {
        listed.push(task);
        if (listed.length % TASKS_PER_TURN === 0) await nextTurn();
      }
      this.#adopt(listed);
    });
    return this.#adoption;
  }

  #adopt(listed: readonly Task[]): void {
    const { sink, collector } = this.#options;
    const { removedTasks, removedAppliances, addedAppliances } = this.fleet.adopt(listed, this.#clock.monotonic());
    for (const { task } of removedTasks) sink.withdraw(task.id);
    for (const appliance of removedAppliances) this.health.withdraw(appliance);
    if (removedAppliances.length + addedAppliances.length === 0) return;
    const counts = { appliances: this.fleet.appliances.size, tasks: this.fleet.tasks.length };
    this.#log.info({ api: collector.api, ...counts }, 'The inventory changed.');
  }

  #logPoll({ id: task }: Task, outcome: Response | Failure, seconds: number): void {
    if ('error' in outcome) this.#log.debug({ task, seconds, error: outcome.error.message }, 'A poll failed.');
    else this.#log.debug({ task, seconds, drops: Object.fromEntries(outcome.pollResult.drops) }, 'A poll succeeded.');
  }
}

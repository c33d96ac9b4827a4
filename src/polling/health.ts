import type { Explain, Explanation } from '../contract/causes.ts';
import type { ServiceWarning } from '../contract/service-warning.ts';
import type { PollSink } from '../contract/sink.ts';
import type { Collector } from '../contract/task.ts';
import type { Sample } from '../metrics/samples.ts';
import type { Clock } from '../runtime/clock.ts';
import { CredentialError } from '../runtime/errors.ts';
import { failureReason } from '../runtime/failures.ts';
import type { Fleet, FleetOptions } from './fleet.ts';
import type { ApplianceState, PolledAppliance, PolledTask } from './polled-task.ts';
import type { Failure, Response } from './task-state.ts';
import { fallenVerdict, isWorking, newVerdict, nextVerdict, type Verdict } from './verdict.ts';

export interface HealthOptions extends FleetOptions {
  readonly collector: Collector;
  /** How many polls can be in flight. */
  readonly workers: number;
  readonly sink: PollSink;
  /** How many effective intervals an unconfirmed value is exposed. */
  readonly staleAfter: number;
  /** Whether no request may be sent now, after a 429. */
  readonly isWaiting: () => boolean;
  readonly warnings: () => readonly ServiceWarning[];
  readonly explain: Explain;
}

/**
 * An appliance goes down only if the service has responded to some request at least this many intervals after the last record
 * of the appliance. If it has not, it may be the service that fails.
 */
const SERVICE_RESPONDS_AFTER = 1.5;

/** The time of the newest record is exposed again if it differs by this, in milliseconds: it changes with every poll. */
const RECORD_STEP_MS = 60_000;

/**
 * Whether the service and its appliances are up, and why they are not. While the service is down nothing is concluded
 * about appliances, and their states are withdrawn.
 */
export class Health {
  readonly #options: HealthOptions;
  readonly #fleet: Fleet;
  readonly #clock: Clock;
  /** Whether the service is up, by the responses of the tasks that decide. */
  verdict: Verdict;
  /** Whether a task that decides has been polled; it stays true. */
  hasPolled = false;
  /** The time of the last successful poll, in epoch milliseconds. */
  lastSuccessEpochMs: number | undefined;
  #hadAppliances = false;
  #resumedAt: number;
  #mostFrequentReason: string | undefined;

  constructor(options: HealthOptions, fleet: Fleet, clock: Clock) {
    const now = clock.monotonic();
    this.#options = options;
    this.#fleet = fleet;
    this.#clock = clock;
    this.verdict = newVerdict(now);
    this.#resumedAt = now;
  }

  /** Whether the service is up; undefined before the first verdict. */
  get isUp(): boolean | undefined {
    return this.verdict.isUp;
  }

  /** Why the service is down, as in `filer_api_down_info`; undefined while it is up, or unknown. */
  get downReason(): string | undefined {
    if (this.isUp) return undefined;
    if (this.#options.isWaiting()) return 'throttled';
    if (this.isUp === undefined) return undefined;
    const error = this.lastError;
    // Without a token nothing else can be polled, whatever series failed with before.
    if (error instanceof CredentialError) return failureReason(error);
    return this.#mostFrequentReason ?? (error === undefined ? 'overdue' : failureReason(error));
  }

  /** Why the service is down, and what to do; undefined while it is up, or unknown. */
  get explanation(): Explanation | undefined {
    const { downReason, lastError: error } = this;
    if (downReason === undefined) return undefined;
    const { warnings, explain } = this.#options;
    const known = warnings().find(({ explains }) => explains === downReason);
    return known ?? explain(error !== undefined && failureReason(error) === downReason ? error : downReason);
  }

  /**
   * The latest failure of the tasks that decide, or of any task if the credentials are rejected or no task that decides
   * was polled; undefined while the service is up.
   */
  get lastError(): Error | undefined {
    if (this.isUp) return undefined;
    let last: PolledTask | undefined;
    for (const polled of this.#fleet.tasks) {
      const { error, polledAt } = polled.state;
      const counts = error instanceof CredentialError || !this.hasPolled || this.#fleet.decides(polled);
      if (error !== undefined && counts && polledAt >= (last?.state.polledAt ?? 0)) last = polled;
    }
    return last?.state.error;
  }

  /** Called after each poll that has an outcome. */
  afterPoll(polled: PolledTask, outcome: Response | Failure, now: number): void {
    if (this.#fleet.decides(polled)) this.hasPolled = true;
    if ('pollResult' in outcome) this.lastSuccessEpochMs = this.#clock.now();
    // No request can succeed now, so waiting would only show old values as new.
    else if (outcome.error instanceof CredentialError && this.isUp !== false)
      this.verdict = fallenVerdict(this.verdict, now);
  }

  /** Nothing was polled before this moment, so nothing is concluded from that time. */
  resume(now: number): void {
    this.#resumedAt = now;
  }

  /** Judges everything; returns the tasks that have to be polled now because a verdict waits for them. */
  review(now: number): readonly PolledTask[] {
    const awaited = [this.#reviewService(now)];
    for (const appliance of this.#fleet.appliances.values()) awaited.push(this.reviewAppliance(appliance, now));
    return awaited.filter((polled) => polled !== undefined);
  }

  #reviewService(now: number): PolledTask | undefined {
    const { staleAfter } = this.#options;
    const { appliances, deciding, intervalFactor, shortestMs } = this.#fleet;
    const hasAppliances = appliances.size > 0;
    // Other tasks decide now, and the failures of the previous ones say nothing about these.
    if (hasAppliances && !this.#hadAppliances && this.isUp === false) this.verdict = newVerdict(now);
    this.#hadAppliances = hasAppliances;
    const { verdict, awaited } = nextVerdict(this.verdict, deciding, ({ state }) => state.responses, {
      now,
      intervalMs: shortestMs * intervalFactor,
      staleAfter,
      resumedAt: this.#resumedAt,
      isFirstSuccessOverdue: this.#isFirstSuccessOverdue(deciding),
    });
    this.verdict = verdict;
    // If the service rejects all of these tasks, the reason is known, and the service is down at once.
    const areRejected = deciding.length > 0 && deciding.every(({ isRejected }) => isRejected);
    if (verdict.isUp !== false && areRejected) this.verdict = fallenVerdict(verdict, now);
    if (this.isUp === false) this.#updateReason();
    return awaited;
  }

  /** The reason stays the same as long as any task fails for it, so that labels do not change back and forth. */
  #updateReason(): void {
    const failures = this.#fleet.failures();
    if (this.#mostFrequentReason !== undefined && failures.has(this.#mostFrequentReason)) return;
    const [most] = [...failures].sort(([, count], [, other]) => other - count);
    this.#mostFrequentReason = most?.[0];
  }

  /** Whether polls have failed, and either every task was polled or so many failed that the others need not be awaited. */
  #isFirstSuccessOverdue(deciding: readonly PolledTask[]): boolean {
    if (this.isUp !== undefined) return true;
    let failures = 0;
    for (const { state } of deciding) if (state.lastResult === 'failed') failures += state.responses.misses;
    // More than one for each worker: that many polls can hang at once while all others succeed.
    const isEnough = failures >= 2 * this.#options.workers || deciding.every(({ isPolled }) => isPolled);
    return failures > 0 && isEnough;
  }

  /** Judges an appliance and publishes its state; returns the task that has to be polled now. */
  reviewAppliance(appliance: PolledAppliance, now: number): PolledTask | undefined {
    const { verdict, tasks } = appliance;
    const { staleAfter } = this.#options;
    const service = this.verdict;
    if (!service.isUp) {
      this.#publish(appliance, undefined);
      return undefined;
    }
    const intervalMs = appliance.intervalMs * this.#fleet.intervalFactor;
    const next = nextVerdict(verdict, tasks, ({ state }) => state.records, {
      now,
      intervalMs,
      staleAfter,
      resumedAt: Math.max(this.#resumedAt, service.since),
      isFirstSuccessOverdue: verdict.isUp !== undefined || tasks.every(({ isPolled }) => isPolled),
    });
    const falls = verdict.isUp === true && next.verdict.isUp === false;
    const isServiceSilent = service.lastSuccessAt < verdict.lastSuccessAt + SERVICE_RESPONDS_AFTER * intervalMs;
    if (!falls || !isServiceSilent) appliance.verdict = next.verdict;
    appliance.state = this.#stateOf(appliance, now);
    this.#publish(appliance, appliance.state);
    return next.awaited;
  }

  #stateOf({ verdict, tasks, intervalMs }: PolledAppliance, now: number): ApplianceState | undefined {
    const { staleAfter } = this.#options;
    const { intervalFactor } = this.#fleet;
    const maxIntervals = staleAfter + 1;
    if (verdict.isUp !== false) {
      // If it has not fallen because the service was silent or down, its state is unknown until the next record.
      const quietMs = now - Math.max(verdict.lastSuccessAt, this.#resumedAt);
      const isKnown = quietMs <= maxIntervals * Math.max(verdict.intervalMs, intervalMs * intervalFactor);
      return verdict.isUp && isKnown ? 'reporting' : undefined;
    }
    const responds = tasks.some(({ task, state: { responses } }) => {
      const quietMs = now - responses.lastAt;
      return isWorking(responses) && quietMs <= maxIntervals * task.intervalMs * intervalFactor;
    });
    return responds ? 'no_records' : 'unavailable';
  }

  /** Exposes what has changed. Without a state, because it is unknown, the metrics about it are withdrawn. */
  #publish(appliance: PolledAppliance, state: ApplianceState | undefined): void {
    const { sink, appliances: families } = this.#options;
    const { name, serial, newestRecordMs, published } = appliance;
    const isPublished =
      published?.name === name &&
      published.state === state &&
      Math.abs(newestRecordMs - published.newestRecordMs) < RECORD_STEP_MS;
    if (families === undefined || isPublished) return;
    appliance.published = { name, state, newestRecordMs };
    const labels = { serial, filer: name };
    const samples: Sample[] = [];
    if (state !== undefined) {
      samples.push({ name: families.up.name, labels, value: state === 'reporting' ? 1 : 0 });
      samples.push({ name: families.state.name, labels: { ...labels, state }, value: 1 });
    }
    if (newestRecordMs > 0) samples.push({ name: families.lastRecord.name, labels, value: newestRecordMs / 1000 });
    sink.publishState({ id: this.#idOf(appliance), api: this.#options.collector.api }, samples);
  }

  /** The appliance left the inventory. */
  withdraw(appliance: PolledAppliance): void {
    this.#options.sink.withdraw(this.#idOf(appliance));
  }

  #idOf({ serial }: PolledAppliance): string {
    return `${this.#options.collector.api}/${serial}/state`;
  }
}

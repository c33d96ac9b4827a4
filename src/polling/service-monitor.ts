import { type Explain, type Explanation, explainTask, ForbiddenTasks, sentences } from '../contract/causes.ts';
import type { ServiceName } from '../contract/poll-result.ts';
import type { ServiceWarning } from '../contract/service-warning.ts';
import type { Clock } from '../runtime/clock.ts';
import { CredentialError } from '../runtime/errors.ts';
import { failureReason } from '../runtime/failures.ts';
import { LargeMap } from '../runtime/large-map.ts';
import type { Log } from '../runtime/log.ts';
import { increment } from '../runtime/maps.ts';
import { runInSlices } from '../runtime/slices.ts';
import type { Outcome } from './poll.ts';
import { type ApplianceState, type ApplianceTasks, type PolledTask, phaseOf } from './polled-task.ts';
import type { ServiceState } from './service-state.ts';
import type { TaskFacts } from './task-facts.ts';
import type { TaskRegistry } from './task-registry.ts';

export interface MonitorDependencies {
  readonly api: ServiceName;
  readonly registry: TaskRegistry;
  readonly service: ServiceState;
  /** Whether no request may be sent now, after a 429. */
  readonly isWaiting: () => boolean;
  readonly warnings: () => readonly ServiceWarning[];
  readonly explain: Explain;
  readonly clock: Clock;
  readonly log: Log;
}

/** After an outage of the service an appliance has this many intervals before its own state is logged. */
const RECOVERY_INTERVALS = 2.5;

/** How many appliances are logged after one poll: a turn of the event loop must be short. */
const MAX_LOGGED_PER_POLL = 20;

/**
 * Logs each change of state once: of the service, of an appliance, of an operation, of a warning. What explains another
 * line comes first, so that an outage of the service is not logged again for each appliance.
 */
export class ServiceMonitor {
  readonly #dependencies: MonitorDependencies;
  #loggedUp: boolean | undefined;
  #warnings: ReadonlyMap<string, ServiceWarning> = new Map();
  #hasPolled = false;
  #lastSuccessAt: number | undefined;
  #reason: string | undefined;
  #lastError: Error | undefined;
  /** The state of each appliance that is logged as not reporting. */
  readonly #loggedAppliances = new Map<ApplianceTasks, ApplianceState>();
  /** Appliances that do not report and are not logged yet, and since when: it may be the service that fails. */
  readonly #pending = new Map<ApplianceTasks, number>();
  /** The problem that is known of a task, and how many tasks have it. */
  readonly #failing = new LargeMap<PolledTask, string>(phaseOf);
  readonly #rejected = new LargeMap<PolledTask, string>(phaseOf);
  readonly #counts = new Map<string, number>();

  constructor(dependencies: MonitorDependencies) {
    this.#dependencies = dependencies;
  }

  get isUp(): boolean | undefined {
    return this.#dependencies.service.isUp;
  }

  /** Why the service is down, as in `filer_api_down_info`; undefined while it is up, or unknown. */
  get downReason(): string | undefined {
    const { registry, isWaiting } = this.#dependencies;
    if (this.isUp) return undefined;
    if (isWaiting()) return 'throttled';
    if (this.isUp === undefined) return undefined;
    // Without a token nothing else can be polled, whatever series failed with before.
    if (this.#lastError instanceof CredentialError) return failureReason(this.#lastError);
    this.#reason = registry.failureReason(this.#reason);
    return this.#reason ?? (this.#lastError === undefined ? 'overdue' : failureReason(this.#lastError));
  }

  /** Why the service is down, and what to do; undefined while it is up, or unknown. */
  get explanation(): Explanation | undefined {
    const { downReason } = this;
    const error = this.#lastError;
    if (downReason === undefined) return undefined;
    const { warnings, explain } = this.#dependencies;
    const known = warnings().find(({ explains }) => explains === downReason);
    return known ?? explain(error !== undefined && failureReason(error) === downReason ? error : downReason);
  }

  get lastError(): string | undefined {
    return this.isUp ? undefined : this.#lastError?.message;
  }

  /** Whether a task that decides has been polled. */
  get hasPolled(): boolean {
    return this.#hasPolled;
  }

  /** The time of the last successful poll, in epoch milliseconds. */
  get lastSuccessAt(): number | undefined {
    return this.#lastSuccessAt;
  }

  /** Called after a poll when the verdicts are known. `before` is what was known of the task. */
  end(polled: PolledTask, before: TaskFacts, outcome: Outcome): void {
    const { clock, log, registry } = this.#dependencies;
    const { id: task } = polled.task;
    const { seconds } = outcome;
    if ('pollResult' in outcome) {
      this.#lastSuccessAt = clock.now();
      log.debug({ task, seconds, drops: Object.fromEntries(outcome.pollResult.drops) }, 'polled');
    } else log.debug({ task, seconds, reason: outcome.error.message }, 'poll failed');
    const decides = registry.decides(polled);
    if (decides) this.#hasPolled = true;
    if ('error' in outcome && (decides || !this.#hasPolled)) this.#lastError = outcome.error;
    this.#logOperation(polled, before);
    this.update();
  }

  /** Logs what polls and time have changed. */
  update(): void {
    this.#logService();
    this.#logWarnings();
    this.#logPending();
  }

  /** The state of an appliance has changed. */
  applianceChanged(appliance: ApplianceTasks): void {
    const logged = this.#loggedAppliances.get(appliance);
    if (appliance.state !== 'reporting') {
      if (appliance.state !== logged) this.#pending.set(appliance, this.#dependencies.clock.monotonic());
      return;
    }
    this.#pending.delete(appliance);
    if (logged === undefined) return;
    this.#loggedAppliances.delete(appliance);
    const { serial, name: filer } = appliance;
    const text = logged === 'unavailable' ? 'the appliance responds' : 'the appliance has records again';
    this.#dependencies.log.info({ serial, filer }, text);
  }

  applianceRemoved(appliance: ApplianceTasks): void {
    this.#pending.delete(appliance);
    this.#loggedAppliances.delete(appliance);
  }

  taskRemoved(polled: PolledTask): void {
    for (const problems of [this.#failing, this.#rejected]) this.#setProblem(problems, polled, undefined);
  }

  fleetChanged(): void {
    const { api, log, registry } = this.#dependencies;
    log.info({ api, appliances: registry.appliances.size, tasks: registry.size }, 'the inventory has changed');
  }

  #logService(): void {
    const { api, log } = this.#dependencies;
    const { isUp } = this;
    if (isUp === undefined || isUp === this.#loggedUp) return;
    const isFirst = this.#loggedUp === undefined;
    this.#loggedUp = isUp;
    if (isUp) log.info({ api }, isFirst ? 'the API responds' : 'the API responds again');
    else {
      const { downReason: reason, explanation } = this;
      log.warn({ api, reason, err: this.#lastError }, line('the API cannot be polled', explanation));
    }
  }

  #logWarnings(): void {
    const { warnings, log, api } = this.#dependencies;
    const before = this.#warnings;
    this.#warnings = new Map(warnings().map((warning) => [warning.code, warning]));
    for (const [code, warning] of this.#warnings)
      if (!before.has(code)) log.warn({ api, warning: code }, sentences(warning));
    for (const [code, warning] of before)
      if (!this.#warnings.has(code)) log.info({ api, warning: code }, `resolved: ${sentences(warning)}`);
  }

  /** Logs appliances that do not report although the service has responded about others since. */
  #logPending(): void {
    const { log, service, registry } = this.#dependencies;
    if (!service.isUp || this.#pending.size === 0) return;
    let logged = 0;
    for (const [appliance, since] of this.#pending) {
      const hasNoRecords = appliance.state === 'no_records';
      // The portal may turn out not to respond about this appliance at all.
      if (hasNoRecords && appliance.responses.lastSuccessAt <= since) continue;
      const intervalMs = appliance.intervalMs * registry.intervalFactor;
      const lastSuccessAt = Math.max(appliance.records.lastSuccessAt, appliance.responses.lastSuccessAt);
      const hasRecovered = service.lastSuccessAt >= service.roseAt + RECOVERY_INTERVALS * intervalMs;
      // A response without records is the appliance's own; a missing one may be the service's.
      const isOwn = hasNoRecords || service.lastSuccessAt >= lastSuccessAt + intervalMs;
      const isFirst = lastSuccessAt === Number.NEGATIVE_INFINITY;
      if (logged >= MAX_LOGGED_PER_POLL || !isOwn || !(hasRecovered || isFirst)) return;
      logged += 1;
      this.#pending.delete(appliance);
      const { serial, name: filer, state, tasks } = appliance;
      if (state === undefined || state === this.#loggedAppliances.get(appliance)) continue;
      this.#loggedAppliances.set(appliance, state);
      const { explain } = this.#dependencies;
      if (hasNoRecords) log.warn({ serial, filer }, line('the appliance has no records', explain('no_records')));
      else {
        const failures = failuresOf(tasks);
        log.warn(
          { serial, filer, ...failures },
          line('the appliance does not respond', explainTask(explain, {}, failures.err)),
        );
      }
    }
  }

  #logOperation(polled: PolledTask, before: TaskFacts): void {
    const { api, log, explain } = this.#dependencies;
    const { task, appliance, facts } = polled;
    const { operation } = task;
    const filer = appliance && { serial: appliance.serial, filer: appliance.name };
    const explanation = () => explainTask(explain, task, facts.error);
    const rejection = this.#setProblem(this.#rejected, polled, this.#rejectionOf(polled));
    if (rejection === 'begins' && appliance !== undefined) this.#logForbidden();
    else if (rejection === 'begins')
      log.warn({ api, operation, task: task.id, err: facts.error }, line('the operation is rejected', explanation()));
    else if (rejection === 'ends' && appliance !== undefined) log.info({ api }, 'no series is forbidden any more');
    else if (rejection === 'ends') log.info({ api, operation }, 'the operation is available again');
    const failing = this.#isFailing(polled, before) ? `failing ${task.operation}` : undefined;
    const failure = this.#setProblem(this.#failing, polled, failing);
    if (failure === 'begins')
      log.warn(
        { api, operation, ...filer, task: task.id, err: facts.error },
        line('the operation cannot be polled', explanation()),
      );
    else if (failure === 'ends') log.info({ api, operation }, 'the operation can be polled again');
  }

  /** One line is about all series: a licence or a right that is missing is the same for most, and they were polled too. */
  #logForbidden(): void {
    const { api, log, registry, explain, clock } = this.#dependencies;
    const tasks = new ForbiddenTasks();
    const read = function* () {
      for (const { task, facts } of registry.all()) {
        tasks.add(task, facts.error);
        yield;
      }
    };
    const warn = () => log.warn({ api }, line('series are forbidden', tasks.series(explain)));
    void runInSlices(read(), clock).then(warn);
  }

  /** From the second failure in a row until the second success: polls that fail now and then are not logged. */
  #isFailing(polled: PolledTask, before: TaskFacts): boolean {
    const { service } = this.#dependencies;
    const { facts, appliance } = polled;
    if (facts.failures === 0) return this.#failing.has(polled) && before.failures > 0;
    if (this.#failing.has(polled)) return true;
    if (facts.lastResult !== 'failed' || facts.failures < 2 || facts.suspended !== undefined) return false;
    // If nothing else of the appliance, or of the service, has responded since, then the appliance or the service fails
    // and not this task.
    const isOwn = (appliance?.records ?? service).lastSuccessAt > facts.failingSince;
    return isOwn && (appliance === undefined || appliance.state === 'reporting') && service.isUp === true;
  }

  /** A missing series is normal; a missing right is not, but a warning may explain it, such as that of a missing licence. */
  #rejectionOf({ task, appliance, facts: { suspended } }: PolledTask): string | undefined {
    if (suspended === undefined || suspended === 'empty') return undefined;
    if (appliance === undefined) return `rejected ${task.operation}`;
    const isExplained = [...this.#warnings.values()].some(({ explains }) => explains === suspended);
    return suspended === 'forbidden' && !isExplained ? 'rejected series' : undefined;
  }

  /** Returns what happened: a problem begins with its first task, and ends with its last. */
  #setProblem(
    problems: LargeMap<PolledTask, string>,
    polled: PolledTask,
    problem: string | undefined,
  ): 'begins' | 'ends' | undefined {
    const before = problems.get(polled);
    if (before === problem) return undefined;
    if (before !== undefined) increment(this.#counts, before, -1);
    if (problem === undefined) problems.delete(polled);
    else {
      problems.set(polled, problem);
      increment(this.#counts, problem);
      return this.#counts.get(problem) === 1 ? 'begins' : undefined;
    }
    return before !== undefined && this.#counts.get(before) === 0 ? 'ends' : undefined;
  }
}

function line(what: string, explanation: Explanation | undefined): string {
  return explanation === undefined ? what : `${what}: ${explanation.happened}; ${explanation.advice}`;
}

function failuresOf(tasks: ReadonlySet<PolledTask>) {
  const failing = [...tasks].filter(({ facts }) => facts.error !== undefined);
  const last = failing.sort((polled, other) => (other.facts.polledAt ?? 0) - (polled.facts.polledAt ?? 0))[0];
  return { failing: failing.length, series: tasks.size, err: last?.facts.error };
}

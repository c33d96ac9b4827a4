import { type Explain, type Explanation, explainTask, ForbiddenTasks } from '../contract/causes.ts';
import type { ServiceName } from '../contract/poll-result.ts';
import type { ServiceWarning } from '../contract/service-warning.ts';
import type { Log } from '../runtime/log.ts';
import { getOrCreate } from '../runtime/maps.ts';
import type { Fleet } from './fleet.ts';
import type { Health } from './health.ts';
import type { PolledAppliance, PolledTask } from './polled-task.ts';

export interface FailureLogOptions {
  readonly api: ServiceName;
  readonly warnings: () => readonly ServiceWarning[];
  readonly explain: Explain;
}

/** A failure of the service, of an appliance or of an operation, with the lines that its begin and its end log. */
interface Failure {
  readonly begin: string;
  readonly end: string;
  /** What both lines are about. */
  readonly subject: Readonly<Record<string, unknown>>;
  /** What the first line adds; computed only if it is logged. */
  readonly details: () => Readonly<Record<string, unknown>>;
  /** The tasks that have it; if all of them have left the inventory, its end is not logged. */
  readonly tasks: readonly PolledTask[];
}

/** By a key that stays the same while the failure lasts. */
type Failures = ReadonlyMap<string, Failure>;

/**
 * Logs the begin and the end of each failure. The failures of the moment are computed from the state of all tasks; what is
 * new among them is logged, and what is gone. What was logged lasts until it is over, so an outage of the service, which
 * explains everything else, ends no other failure and begins none.
 */
export class FailureLog {
  readonly #options: FailureLogOptions;
  readonly #fleet: Fleet;
  readonly #health: Health;
  readonly #log: Log;
  #logged: Failures = new Map();
  #wasUp = false;

  constructor(options: FailureLogOptions, fleet: Fleet, health: Health, log: Log) {
    this.#options = options;
    this.#fleet = fleet;
    this.#health = health;
    this.#log = log;
  }

  /** Logs what has changed since the last call. */
  update(): void {
    const present = new Map([...this.#ofService(), ...this.#ofWarnings(), ...this.#ofTasks()]);
    for (const [key, { begin, subject, details }] of present) {
      if (!this.#logged.has(key)) this.#log.warn({ ...subject, ...details() }, begin);
    }
    for (const [key, { end, subject, tasks }] of this.#logged) {
      const isGone = tasks.length > 0 && tasks.every(({ isRemoved }) => isRemoved);
      if (!present.has(key) && !isGone) this.#log.info(subject, end);
    }
    this.#logged = present;
  }

  *#ofService(): Generator<[string, Failure]> {
    const { api } = this.#options;
    const { isUp, downReason: reason, explanation, lastError: err } = this.#health;
    if (isUp === false) {
      const details = () => ({ reason, ...detailsOf(explanation), err });
      const lines = { begin: 'The service went down.', end: 'The service came up again.' };
      yield ['service', { ...lines, subject: { api }, details, tasks: [] }];
    }
    if (isUp && !this.#wasUp && !this.#logged.has('service')) this.#log.info({ api }, 'The service came up.');
    this.#wasUp ||= isUp === true;
  }

  *#ofWarnings(): Generator<[string, Failure]> {
    const { api, warnings } = this.#options;
    for (const warning of warnings()) {
      const lines = { begin: 'A warning began.', end: 'The warning ended.' };
      const subject = { api, warning: warning.code };
      yield [`warning ${warning.code}`, { ...lines, subject, details: () => detailsOf(warning), tasks: [] }];
    }
  }

  #ofTasks(): Iterable<[string, Failure]> {
    // While the service is down, nothing is known of what depends on it.
    if (!this.#health.isUp)
      return [...this.#logged].filter(([, { tasks }]) => tasks.some(({ isRemoved }) => !isRemoved));
    return [
      ...this.#ofAppliances(),
      ...this.#ofRejectedSeries(),
      ...this.#ofRejectedOperations(),
      ...this.#ofFailingOperations(),
    ];
  }

  *#ofAppliances(): Generator<[string, Failure]> {
    for (const appliance of this.#fleet.appliances.values()) {
      const { serial, name: filer, state, tasks } = appliance;
      if (state === undefined || state === 'reporting') continue;
      const lines = { begin: 'The appliance went down.', end: 'The appliance came up again.' };
      const details = () => ({ reason: state, ...this.#detailsOfAppliance(appliance) });
      yield [`appliance ${serial}`, { ...lines, subject: { serial, filer }, details, tasks }];
    }
  }

  #detailsOfAppliance({ state, tasks }: PolledAppliance): Readonly<Record<string, unknown>> {
    const { explain } = this.#options;
    if (state === 'no_records') return detailsOf(explain('no_records'));
    const failing = tasks.filter(({ state: { error } }) => error !== undefined);
    const err = latest(failing)?.state.error;
    return {
      failing: failing.length,
      series: tasks.length,
      ...detailsOf(err === undefined ? explain('overdue') : explainTask(explain, {}, err)),
      err,
    };
  }

  /** One line is about all series: a licence or a right that is missing is the same for most. */
  *#ofRejectedSeries(): Generator<[string, Failure]> {
    const { api, warnings, explain } = this.#options;
    const key = 'forbidden series';
    const isForbidden = ({ appliance, state }: PolledTask) =>
      appliance !== undefined && state.suspended === 'forbidden';
    const tasks = this.#fleet.tasks.filter(isForbidden);
    const isExplained = warnings().some(({ explains }) => explains === 'forbidden');
    if (tasks.length === 0 || (isExplained && !this.#logged.has(key))) return;
    const details = () => {
      const forbidden = new ForbiddenTasks();
      for (const { task, state } of this.#fleet.tasks) forbidden.add(task, state.error);
      return { reason: 'forbidden', ...detailsOf(forbidden.series(explain)) };
    };
    const lines = {
      begin: 'The service rejected requests for series.',
      end: 'The service accepted requests for all series again.',
    };
    yield [key, { ...lines, subject: { api }, details, tasks }];
  }

  #ofRejectedOperations(): Iterable<[string, Failure]> {
    return this.#byOperation(
      'rejected',
      ({ appliance, state: { suspended } }) => {
        return appliance === undefined && suspended !== undefined && suspended !== 'empty';
      },
      { begin: 'The service rejected the operation.', end: 'The service accepted the operation again.' },
    );
  }

  /** From the second failure in a row until the second response in a row: polls that fail now and then are not logged. */
  #ofFailingOperations(): Iterable<[string, Failure]> {
    const logged = new Set(
      [...this.#logged].filter(([key]) => key.startsWith('failing ')).flatMap(([, { tasks }]) => tasks),
    );
    const isFailing = (polled: PolledTask) =>
      logged.has(polled) ? Number.isFinite(polled.state.failingSince) : startsFailing(polled);
    const lines = { begin: 'The operation failed repeatedly.', end: 'The operation succeeded again.' };
    return this.#byOperation('failing', isFailing, lines);
  }

  *#byOperation(
    kind: string,
    has: (polled: PolledTask) => boolean,
    lines: Pick<Failure, 'begin' | 'end'>,
  ): Generator<[string, Failure]> {
    const { api, explain } = this.#options;
    const tasksOf = new Map<string, PolledTask[]>();
    for (const polled of this.#fleet.tasks) {
      if (has(polled)) getOrCreate(tasksOf, polled.task.operation, () => []).push(polled);
    }
    for (const [operation, tasks] of tasksOf) {
      const details = () => {
        const { task, appliance, state } = latest(tasks) ?? {};
        const filer = appliance && { serial: appliance.serial, filer: appliance.name };
        return {
          ...filer,
          task: task?.id,
          reason: state?.reason,
          ...detailsOf(explainTask(explain, task ?? {}, state?.error)),
          err: state?.error,
        };
      };
      yield [`${kind} ${operation}`, { ...lines, subject: { api, operation }, details, tasks }];
    }
  }
}

function detailsOf(explanation: Explanation | undefined): Readonly<Record<string, unknown>> {
  return explanation === undefined ? {} : { happened: explanation.happened, advice: explanation.advice };
}

/** If nothing else has responded either, its appliance or the service fails, and not the task. */
function startsFailing({ state, appliance }: PolledTask): boolean {
  const isApplianceDown = appliance !== undefined && appliance.state !== 'reporting';
  return state.failsAlone && state.lastResult === 'failed' && state.responses.misses > 1 && !isApplianceDown;
}

/** The task that was polled last. */
function latest(tasks: readonly PolledTask[]): PolledTask | undefined {
  return tasks.toSorted((one, other) => other.state.polledAt - one.state.polledAt)[0];
}

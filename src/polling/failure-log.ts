import { type Explain, type Explanation, explainTask } from '../contract/causes.ts';
import { ForbiddenTasks } from '../contract/forbidden-tasks.ts';
import type { ServiceName } from '../contract/poll-result.ts';
import type { ServiceWarning } from '../contract/service-warning.ts';
import type { Log } from '../runtime/log.ts';
import { getOrCreate } from '../runtime/maps.ts';
import type { Fleet } from './fleet.ts';
import type { Health } from './health.ts';
import type { PolledAppliance, PolledTask } from './polled-task.ts';

interface FailureLogOptions {
  readonly api: ServiceName;
  readonly warnings: () => readonly ServiceWarning[];
  readonly explain: Explain;
}

/** The lines at the beginning and at the end of each kind of failure. */
const LINES = {
  service: { beginning: 'The service went down.', end: 'The service came up again.' },
  warning: { beginning: 'A warning began.', end: 'The warning ended.' },
  appliance: { beginning: 'The appliance went down.', end: 'The appliance came up again.' },
  forbidden: {
    beginning: 'The service rejected requests for series.',
    end: 'The service accepted requests for all series again.',
  },
  rejected: { beginning: 'The service rejected the operation.', end: 'The service accepted the operation again.' },
  failing: { beginning: 'The operation failed repeatedly.', end: 'The operation succeeded again.' },
} as const;

type Fields = Readonly<Record<string, unknown>>;

interface Failure {
  readonly kind: keyof typeof LINES;
  /** The fields of both lines, which name what fails. */
  readonly subject: Fields;
  /** The fields that only the first line has; they are computed only if it is logged. */
  readonly details: () => Fields;
  /** The tasks that fail; if all of them have left the inventory, the end is not logged. Empty if it is about no task. */
  readonly tasks: ReadonlySet<PolledTask>;
}

/**
 * Logs the beginning and the end of each failure. The failures of the moment are computed from the state of all tasks, and
 * compared with those that are logged already: what is new begins, and what is gone has ended.
 */
export class FailureLog {
  readonly #options: FailureLogOptions;
  readonly #fleet: Fleet;
  readonly #health: Health;
  readonly #log: Log;
  /** By a key that stays the same while the failure lasts. */
  #logged: ReadonlyMap<string, Failure> = new Map();
  #wasUp = false;

  constructor(options: FailureLogOptions, fleet: Fleet, health: Health, log: Log) {
    this.#options = options;
    this.#fleet = fleet;
    this.#health = health;
    this.#log = log;
  }

  /** Logs what has changed since the last call. */
  update(): void {
    const { isUp } = this.#health;
    if (isUp && !this.#wasUp && !this.#logged.has('service'))
      this.#log.info({ api: this.#options.api }, 'The service came up.');
    this.#wasUp ||= isUp === true;
    const present = this.#present();
    for (const [key, { kind, subject, details }] of present) {
      if (!this.#logged.has(key)) this.#log.warn({ ...subject, ...details() }, LINES[kind].beginning);
    }
    for (const [key, failure] of this.#logged) {
      if (!present.has(key) && !isGone(failure)) this.#log.info(failure.subject, LINES[failure.kind].end);
    }
    this.#logged = present;
  }

  #present(): ReadonlyMap<string, Failure> {
    const ofService = [...this.#ofService(), ...this.#ofWarnings()];
    if (this.#health.isUp) return new Map([...ofService, ...this.#ofAppliances(), ...this.#ofOperations()]);
    // The outage explains all failures of tasks, so none begins; and nothing shows that one has ended.
    const ofTasks = [...this.#logged].filter(([, failure]) => failure.tasks.size > 0 && !isGone(failure));
    return new Map([...ofService, ...ofTasks]);
  }

  *#ofService(): Generator<[string, Failure]> {
    const { api } = this.#options;
    const { isUp, downReason: reason, explanation, lastError: err } = this.#health;
    const details = () => ({ reason, ...fieldsOf(explanation), err });
    if (isUp === false) yield ['service', { kind: 'service', subject: { api }, details, tasks: new Set() }];
  }

  *#ofWarnings(): Generator<[string, Failure]> {
    const { api, warnings } = this.#options;
    for (const warning of warnings()) {
      const subject = { api, warning: warning.code };
      const details = () => fieldsOf(warning);
      yield [`warning ${warning.code}`, { kind: 'warning', subject, details, tasks: new Set() }];
    }
  }

  *#ofAppliances(): Generator<[string, Failure]> {
    for (const appliance of this.#fleet.appliances.values()) {
      const { serial, name: filer, state: reason, tasks } = appliance;
      if (reason === undefined || reason === 'reporting') continue;
      const details = () => ({ reason, ...this.#detailsOfAppliance(appliance) });
      yield [`appliance ${serial}`, { kind: 'appliance', subject: { serial, filer }, details, tasks: new Set(tasks) }];
    }
  }

  *#ofOperations(): Generator<[string, Failure]> {
    const { api, warnings } = this.#options;
    const isExplained = warnings().some(({ explains }) => explains === 'forbidden');
    // After an outage, its last rejections are no news.
    const isNew = ({ state }: PolledTask) => !isExplained && state.polledAt > this.#health.since;
    const failures = new Map<string, Failure & { readonly tasks: Set<PolledTask> }>();
    const add = (polled: PolledTask, kind: Failure['kind'], key: string, subject: Fields) => {
      const tasks = new Set<PolledTask>();
      const details = () => this.#detailsOfTasks(kind, tasks);
      getOrCreate(failures, key, () => ({ kind, subject, details, tasks })).tasks.add(polled);
    };
    for (const polled of this.#fleet.tasks) {
      const { task, appliance, state } = polled;
      if (state.suspended === undefined && state.failingSince === Number.POSITIVE_INFINITY) continue;
      const subject = { api, operation: task.operation };
      const failing = `failing ${task.operation}`;
      const rejected = `rejected ${task.operation}`;
      const lasts = this.#logged.get(failing)?.tasks.has(polled) && Number.isFinite(state.failingSince);
      if (lasts || startsFailing(polled)) add(polled, 'failing', failing, subject);
      if (state.suspended === undefined || state.suspended === 'empty') continue;
      if (appliance === undefined) add(polled, 'rejected', rejected, subject);
      // A missing right or licence is the same for most series, so one line is about all. That one lacks a series is normal.
      else if (state.suspended === 'forbidden' && (isNew(polled) || this.#logged.has('forbidden')))
        add(polled, 'forbidden', 'forbidden', { api });
    }
    yield* failures;
  }

  #detailsOfAppliance({ state, tasks }: PolledAppliance): Fields {
    const { explain } = this.#options;
    if (state === 'no_records') return fieldsOf(explain('no_records'));
    const failing = tasks.filter((polled) => polled.state.error !== undefined);
    const err = latest(failing)?.state.error;
    const explanation = err === undefined ? explain('overdue') : explainTask(explain, {}, err);
    return { failing: failing.length, series: tasks.length, ...fieldsOf(explanation), err };
  }

  #detailsOfTasks(kind: Failure['kind'], tasks: Iterable<PolledTask>): Fields {
    const { explain } = this.#options;
    if (kind === 'forbidden') {
      const forbidden = new ForbiddenTasks();
      for (const { task, state } of this.#fleet.tasks) forbidden.add(task, state.error);
      return { reason: 'forbidden', ...fieldsOf(forbidden.series(explain)) };
    }
    const polled = latest([...tasks]);
    if (polled === undefined) return {};
    const { task, appliance, state } = polled;
    const filer = appliance && { serial: appliance.serial, filer: appliance.name };
    const explanation = explainTask(explain, task, state.error);
    return { ...filer, task: task.id, reason: state.reason, ...fieldsOf(explanation), err: state.error };
  }
}

function fieldsOf(explanation: Explanation | undefined): Fields {
  return explanation === undefined ? {} : { happened: explanation.happened, advice: explanation.advice };
}

function isGone({ tasks }: Failure): boolean {
  return tasks.size > 0 && [...tasks].every(({ isRemoved }) => isRemoved);
}

/**
 * From the second failure in a row, because polls that fail now and then are not logged. If nothing else has responded
 * either, its appliance or the service fails, and not the task.
 */
function startsFailing({ state, appliance }: PolledTask): boolean {
  const isApplianceDown = appliance !== undefined && appliance.state !== 'reporting';
  return state.failsAlone && state.lastResult === 'failed' && state.responses.misses > 1 && !isApplianceDown;
}

/** The task that was polled last. */
function latest(tasks: readonly PolledTask[]): PolledTask | undefined {
  return tasks.toSorted((one, other) => other.state.polledAt - one.state.polledAt)[0];
}

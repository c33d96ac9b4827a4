import { type Explanation, explainTask } from '../contract/causes.ts';
import { explainForbiddenSeries } from '../contract/forbidden-tasks.ts';
import type { Log } from '../runtime/log.ts';
import { getOrCreate } from '../runtime/maps.ts';
import type { Fleet } from './fleet.ts';
import type { Health, HealthOptions } from './health.ts';
import type { PolledAppliance, PolledTask } from './polled-task.ts';

/** The lines at the beginning and at the end of each kind of failure. */
const LINES = {
  service: { beginning: 'The service went down.', end: 'The service came up again.' },
  warning: { beginning: 'A warning began.', end: 'The warning ended.' },
  appliance: { beginning: 'The appliance went down.', end: 'The appliance came up again.' },
  forbidden: {
    beginning: 'The service rejected requests for series.',
    end: 'The service accepted requests for all series again.',
  },
  operation: { beginning: 'The operation failed repeatedly.', end: 'The operation succeeded again.' },
} as const;

type Fields = Readonly<Record<string, unknown>>;

interface OngoingFailure {
  readonly kind: keyof typeof LINES;
  /** The fields of both lines, which name what fails. */
  readonly subject: Fields;
  /** The fields that only the first line has; they are computed only if it is logged. */
  readonly details: () => Fields;
  /** The tasks that fail; if all of them have left the inventory, the end is not logged. Empty if it is about no task. */
  readonly tasks: readonly PolledTask[];
}

/**
 * Logs the beginning and the end of each failure. The failures of the moment are computed from the state of all tasks, and
 * compared with those that are logged already: what is new begins, and what is gone has ended.
 */
export class FailureLog {
  readonly #options: HealthOptions;
  readonly #api: string;
  readonly #fleet: Fleet;
  readonly #health: Health;
  readonly #log: Log;
  /** By a key that stays the same while the failure lasts. */
  #logged: ReadonlyMap<string, OngoingFailure> = new Map();
  #wasUp = false;

  constructor(options: HealthOptions, fleet: Fleet, health: Health, log: Log) {
    this.#options = options;
    this.#api = options.collector.api;
    this.#fleet = fleet;
    this.#health = health;
    this.#log = log;
  }

  /** Logs what has changed since the last call. */
  update(): void {
    const { isUp } = this.#health;
    if (isUp && !this.#wasUp && !this.#logged.has('service'))
      this.#log.info({ api: this.#api }, 'The service came up.');
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

  #present(): ReadonlyMap<string, OngoingFailure> {
    const ofService = [...this.#ofService(), ...this.#ofWarnings()];
    if (this.#health.isUp)
      return new Map([...ofService, ...this.#ofAppliances(), ...this.#ofOperations(), ...this.#ofSeries()]);
    // The outage explains all failures of tasks, so none begins; and nothing shows that one has ended.
    const ofTasks = [...this.#logged].filter(([, failure]) => failure.tasks.length > 0 && !isGone(failure));
    return new Map([...ofService, ...ofTasks]);
  }

  *#ofService(): Generator<[string, OngoingFailure]> {
    const api = this.#api;
    const { isUp, downReason: reason, explanation, lastError: err } = this.#health;
    const details = () => ({ reason, ...fieldsOf(explanation), err });
    if (isUp === false) yield ['service', { kind: 'service', subject: { api }, details, tasks: [] }];
  }

  *#ofWarnings(): Generator<[string, OngoingFailure]> {
    for (const warning of this.#options.warnings()) {
      const subject = { api: this.#api, warning: warning.code };
      yield [`warning ${warning.code}`, { kind: 'warning', subject, details: () => fieldsOf(warning), tasks: [] }];
    }
  }

  *#ofAppliances(): Generator<[string, OngoingFailure]> {
    for (const appliance of this.#fleet.appliances.values()) {
      const { serial, name: filer, state: reason, tasks } = appliance;
      if (reason === undefined || reason === 'reporting') continue;
      const details = () => ({ reason, ...this.#detailsOfAppliance(appliance) });
      yield [`appliance ${serial}`, { kind: 'appliance', subject: { serial, filer }, details, tasks }];
    }
  }

  /** Operations that fail for a task alone, or that the service rejects for the account. */
  *#ofOperations(): Generator<[string, OngoingFailure]> {
    const failing = new Map<string, PolledTask[]>();
    for (const polled of this.#fleet.tasks) {
      const { task, appliance, state } = polled;
      const isRejected = appliance === undefined && state.suspended !== undefined;
      if (state.failsAlone || isRejected) getOrCreate(failing, task.operation, () => []).push(polled);
    }
    for (const [operation, tasks] of failing) {
      const subject = { api: this.#api, operation };
      const details = () => this.#detailsOfOperation(tasks);
      yield [`operation ${operation}`, { kind: 'operation', subject, details, tasks }];
    }
  }

  /** A missing right or licence is the same for most series, so one line is about all. That one lacks a series is normal. */
  *#ofSeries(): Generator<[string, OngoingFailure]> {
    const { warnings, explain } = this.#options;
    const { tasks } = this.#fleet;
    const forbidden = tasks.filter(
      ({ appliance, state }) => appliance !== undefined && state.suspended === 'forbidden',
    );
    const isExplained = warnings().some(({ explains }) => explains === 'forbidden');
    // After an outage, its last rejections are no news.
    const isNew = !isExplained && forbidden.some(({ state }) => state.polledAt > this.#health.verdict.since);
    if (forbidden.length === 0 || !(isNew || this.#logged.has('forbidden'))) return;
    const details = () => {
      const polls = tasks.map(({ task, state }) => ({ task, error: state.error }));
      return { reason: 'forbidden', ...fieldsOf(explainForbiddenSeries(polls, explain)) };
    };
    yield ['forbidden', { kind: 'forbidden', subject: { api: this.#api }, details, tasks: forbidden }];
  }

  #detailsOfAppliance({ state, tasks }: PolledAppliance): Fields {
    const { explain } = this.#options;
    if (state === 'no_records') return fieldsOf(explain('no_records'));
    const failing = tasks.filter((polled) => polled.state.error !== undefined);
    const err = latest(failing)?.state.error;
    const explanation = err === undefined ? explain('overdue') : explainTask(explain, {}, err);
    return { failing: failing.length, series: tasks.length, ...fieldsOf(explanation), err };
  }

  #detailsOfOperation(tasks: readonly PolledTask[]): Fields {
    const polled = latest(tasks);
    if (polled === undefined) return {};
    const { task, appliance, state } = polled;
    const filer = appliance && { serial: appliance.serial, filer: appliance.name };
    const explanation = explainTask(this.#options.explain, task, state.error);
    return { ...filer, task: task.id, reason: state.reason, ...fieldsOf(explanation), err: state.error };
  }
}

function fieldsOf(explanation: Explanation | undefined): Fields {
  return explanation === undefined ? {} : { happened: explanation.happened, advice: explanation.advice };
}

function isGone({ tasks }: OngoingFailure): boolean {
  return tasks.length > 0 && tasks.every(({ isRemoved }) => isRemoved);
}

/** The task that was polled last. */
function latest(tasks: readonly PolledTask[]): PolledTask | undefined {
  return tasks.toSorted((one, other) => other.state.polledAt - one.state.polledAt)[0];
}

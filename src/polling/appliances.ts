import { newestTime, type Sample } from '../metrics/samples.ts';
import type { PollSink } from '../metrics/sink.ts';
import type { Api } from '../metrics/snapshot.ts';
import type { ApplianceNames, Task } from '../metrics/task.ts';
import type { Outcome } from './poll.ts';
import type { TaskState } from './task-state.ts';

/**
 * The state of an appliance: a series has records, the portal answers without records, or none of its series can be
 * polled. Series that are backed off do not count, unless all are.
 */
export const APPLIANCE_STATES = ['reporting', 'no_records', 'unavailable'] as const;

export type ApplianceState = (typeof APPLIANCE_STATES)[number];

/** One appliance, from its polls. Epoch milliseconds; undefined before the first. */
export interface ApplianceStatus {
  readonly serial: string;
  readonly name: string;
  readonly state: ApplianceState | undefined;
  readonly lastPollAt: number | undefined;
  readonly lastSuccessAt: number | undefined;
  /** The time of the newest record of any of its series. */
  readonly lastRecordAt: number | undefined;
  readonly states: ReadonlySet<TaskState>;
}

/** An appliance whose state has changed. */
export interface ApplianceChange {
  readonly name: string;
  readonly state: ApplianceState;
  readonly was: ApplianceState;
}

interface Known {
  name: string;
  readonly states: Set<TaskState>;
  published: ApplianceState | undefined;
  /** The state that was logged last. */
  told: ApplianceState | undefined;
  lastPollAt: number | undefined;
  lastSuccessAt: number | undefined;
  lastRecordAt: number | undefined;
  publishedRecordAt: number | undefined;
}

/**
 * The time of the newest record is published again if it is newer by this, in milliseconds: it changes with every poll.
 */
const RECORD_STEP_MS = 60_000;

/** The appliances of one API, derived from the states of their tasks. */
export class Appliances {
  readonly #api: Api;
  readonly #sink: PollSink;
  readonly #names: ApplianceNames | undefined;
  readonly #known = new Map<string, Known>();

  constructor(api: Api, sink: PollSink, names: ApplianceNames | undefined) {
    this.#api = api;
    this.#sink = sink;
    this.#names = names;
  }

  get size(): number {
    return this.#known.size;
  }

  statuses(): readonly ApplianceStatus[] {
    return [...this.#known]
      .map(([serial, known]) => ({ serial, ...known, state: known.published }))
      .sort((a, b) => byName.compare(a.name, b.name) || byName.compare(a.serial, b.serial));
  }

  tasksOf(serial: string): ReadonlySet<TaskState> {
    return this.#known.get(serial)?.states ?? new Set();
  }

  /** Whether any series of an appliance has records. */
  isReporting(serial: string): boolean {
    return [...this.tasksOf(serial)].some(({ isShown, standing }) => isShown && standing === 'records');
  }

  /** Updates the tasks. Returns the serials that have gone, and whether any are new. */
  reconcile(
    come: readonly TaskState[],
    gone: readonly TaskState[],
    all: readonly Task[],
  ): { readonly gone: readonly string[]; readonly hasNew: boolean } {
    for (const state of gone) this.#known.get(state.task.appliance?.serial ?? '')?.states.delete(state);
    let hasNew = false;
    for (const state of come) {
      const { appliance } = state.task;
      if (appliance === undefined) continue;
      hasNew ||= !this.#known.has(appliance.serial);
      const known = this.#known.get(appliance.serial) ?? newlyKnown(appliance.name);
      this.#known.set(appliance.serial, known);
      known.states.add(state);
    }
    const left = [...this.#known].filter(([, { states }]) => states.size === 0).map(([serial]) => serial);
    for (const serial of left) {
      this.#known.delete(serial);
      this.#sink.withdraw(idOf(this.#api, serial));
    }
    for (const task of all) this.#rename(task);
    return { gone: left, hasNew };
  }

  /** Processes the end of a poll of one of its tasks; `at` in epoch milliseconds. */
  polled({ task }: TaskState, outcome: Outcome, at: number): void {
    const known = this.#known.get(task.appliance?.serial ?? '');
    if (known === undefined) return;
    known.lastPollAt = at;
    if (outcome.state !== 'succeeded') return;
    known.lastSuccessAt = at;
    const newest = newestTime(outcome.reading.samples);
    if (newest !== undefined) known.lastRecordAt = Math.max(newest * 1000, known.lastRecordAt ?? 0);
  }

  /**
   * Publishes the state of an appliance if it has changed. Returns it if it is to be logged: not while its API is down,
   * which explains it.
   */
  publish(serial: string, isApiDown: boolean): ApplianceChange | undefined {
    const known = this.#known.get(serial);
    const state = known && this.#publish(serial, known, isApiDown);
    if (known === undefined || state === undefined || isApiDown) return undefined;
    const was = known.told;
    known.told = state;
    return was === undefined || was === state ? undefined : { name: known.name, state, was };
  }

  /** Publishes the state of all appliances, after the API has changed state. */
  publishAll(isApiDown: boolean): void {
    for (const [serial, known] of this.#known) this.#publish(serial, known, isApiDown);
  }

  #publish(serial: string, known: Known, isApiDown: boolean): ApplianceState | undefined {
    const state = stateOf(known.states, isApiDown);
    if (state === undefined) return undefined;
    const isNewer = (known.lastRecordAt ?? 0) - (known.publishedRecordAt ?? 0) >= RECORD_STEP_MS;
    if (state !== known.published || isNewer) {
      known.published = state;
      known.publishedRecordAt = known.lastRecordAt;
      this.#expose(serial, known, state);
    }
    return state;
  }

  #rename({ appliance }: Task): void {
    const known = appliance === undefined ? undefined : this.#known.get(appliance.serial);
    if (known === undefined || appliance === undefined || known.name === appliance.name) return;
    known.name = appliance.name;
    if (known.published !== undefined) this.#expose(appliance.serial, known, known.published);
  }

  #expose(serial: string, { name, lastRecordAt }: Known, state: ApplianceState): void {
    if (this.#names === undefined) return;
    const labels = { serial, filer: name };
    const { up, state: stateName, lastRecord } = this.#names;
    const samples: Sample[] = [
      { name: up, labels, value: state === 'reporting' ? 1 : 0 },
      { name: stateName, labels: { ...labels, state }, value: 1 },
      ...(lastRecordAt === undefined ? [] : [{ name: lastRecord, labels, value: lastRecordAt / 1000 }]),
    ];
    this.#sink.conclude({ id: idOf(this.#api, serial), api: this.#api }, samples);
  }
}

function stateOf(states: ReadonlySet<TaskState>, isApiDown: boolean): ApplianceState | undefined {
  const polled = [...states].filter(({ standing }) => standing !== undefined);
  if (polled.length === 0) return undefined;
  if (isApiDown) return 'unavailable';
  const awake = polled.filter(({ resting }) => resting === undefined);
  const counted = awake.length > 0 ? awake : polled;
  if (counted.some(({ standing, isShown }) => isShown && standing === 'records')) return 'reporting';
  if (!counted.some(({ standing, isShown }) => isShown && standing === 'empty')) return 'unavailable';
  // A series that the appliance lacks is empty too: one that was not polled yet may have records.
  return polled.length < states.size ? undefined : 'no_records';
}

/** The conclusion about an appliance is an origin of its own. */
function idOf(api: Api, serial: string): string {
  return `${api}/${serial}/state`;
}

function newlyKnown(name: string): Known {
  return {
    ...{ name, states: new Set<TaskState>(), published: undefined, told: undefined },
    ...{ lastPollAt: undefined, lastSuccessAt: undefined, lastRecordAt: undefined, publishedRecordAt: undefined },
  };
}

/** In the order that people expect: `edge-2` before `edge-10`. */
const byName = new Intl.Collator('en', { numeric: true });

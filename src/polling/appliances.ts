import type { Sample } from '../metrics/samples.ts';
import type { PollSink } from '../metrics/sink.ts';
import type { Api } from '../metrics/snapshot.ts';
import type { ApplianceNames } from '../metrics/task.ts';
import type { Log } from '../runtime/log.ts';
import { type ApplianceState, areAnswered, isReporting, type PolledAppliance, type TaskState } from './task-state.ts';

export interface AppliancesSettings {
  readonly api: Api;
  readonly sink: PollSink;
  readonly log: Log;
  /** Nothing is exposed without. */
  readonly names: ApplianceNames | undefined;
}

/** The time of the newest record is exposed again if it is newer by this, in milliseconds: it changes with every poll. */
const RECORD_STEP_MS = 60_000;

/** Exposes and logs the state of each appliance, which follows from the states of its tasks. */
export class Appliances {
  readonly #settings: AppliancesSettings;

  constructor(settings: AppliancesSettings) {
    this.#settings = settings;
  }

  /** Exposes the state of an appliance if it has changed. */
  show(appliance: PolledAppliance, isApiDown: boolean): void {
    const { api, sink, names } = this.#settings;
    const { serial, name, shown, tasks } = appliance;
    const state = stateOf(tasks, isApiDown);
    if (state === undefined) return;
    const recordAt = newestRecordAt(tasks);
    const isNewer = (recordAt ?? 0) - (shown?.recordAt ?? 0) >= RECORD_STEP_MS;
    if (state === shown?.state && name === shown.name && !isNewer) return;
    appliance.shown = { name, state, recordAt };
    if (names === undefined) return;
    const labels = { serial, filer: name };
    const samples: Sample[] = [
      { name: names.up, labels, value: state === 'reporting' ? 1 : 0 },
      { name: names.state, labels: { ...labels, state }, value: 1 },
    ];
    if (recordAt !== undefined) samples.push({ name: names.lastRecord, labels, value: recordAt / 1000 });
    sink.conclude({ id: this.#idOf(serial), api }, samples);
  }

  /** Logs the state of an appliance if it has changed. */
  log(appliance: PolledAppliance): void {
    const { serial, name: filer, logged, shown } = appliance;
    const { log } = this.#settings;
    appliance.logged = shown?.state;
    if (logged === undefined || logged === shown?.state) return;
    if (shown?.state === 'reporting') {
      log.info(
        { serial, filer },
        logged === 'unavailable' ? 'the appliance answers' : 'the appliance has records again',
      );
    } else if (shown?.state === 'no_records') log.warn({ serial, filer }, 'the appliance has no records');
    else log.warn({ serial, filer }, 'the appliance does not answer');
  }

  withdraw({ serial }: PolledAppliance): void {
    this.#settings.sink.withdraw(this.#idOf(serial));
  }

  #idOf(serial: string): string {
    return `${this.#settings.api}/${serial}/state`;
  }
}

function newestRecordAt(tasks: ReadonlySet<TaskState>): number | undefined {
  const newest = Math.max(0, ...[...tasks].map(({ recordAt = 0 }) => recordAt));
  return newest === 0 ? undefined : newest;
}

function stateOf(tasks: ReadonlySet<TaskState>, isApiDown: boolean): ApplianceState | undefined {
  const polled = [...tasks].filter(({ standing }) => standing !== undefined);
  if (polled.length === 0) return undefined;
  if (isApiDown) return 'unavailable';
  if (polled.some((state) => state.resting === undefined && isReporting(state))) return 'reporting';
  if (!areAnswered(polled)) return 'unavailable';
  // A series that the appliance lacks is empty too: one that was not polled yet may have records.
  return polled.length < tasks.size ? undefined : 'no_records';
}

import type { ServiceName } from '../contract/poll-result.ts';
import type { PollSink } from '../contract/sink.ts';
import type { ApplianceFamilies } from '../contract/task.ts';
import type { Sample } from '../metrics/samples.ts';
import type { Log } from '../runtime/log.ts';
import type { ApplianceState, PolledAppliance, TaskState } from './task-state.ts';
import { type Moment, verdictOn } from './verdict.ts';

export interface AppliancesOptions {
  readonly api: ServiceName;
  readonly sink: PollSink;
  readonly log: Log;
  readonly families: ApplianceFamilies | undefined;
  /** Polls a series as soon as the limits allow: a verdict depends on it. */
  readonly ask: (state: TaskState) => void;
}

/** The time of the newest record is exposed again if it is newer by this, in milliseconds: it changes with every poll. */
const RECORD_STEP_MS = 60_000;

export class Appliances {
  readonly #settings: AppliancesOptions;

  constructor(settings: AppliancesOptions) {
    this.#settings = settings;
  }

  judge(appliance: PolledAppliance, moment: Moment): void {
    const { state, ask } = verdictOn(appliance.tasks, moment);
    if (ask !== undefined) this.#settings.ask(ask);
    const shown = state ?? appliance.shown?.state;
    if (shown === undefined) return;
    this.#show(appliance, shown);
    if (state !== undefined && !moment.isApiDown) this.#log(appliance);
  }

  #show(appliance: PolledAppliance, state: ApplianceState): void {
    const { api, sink, families } = this.#settings;
    const { serial, name, shown, tasks } = appliance;
    const recordAt = newestRecordAt(tasks);
    const isNewer = (recordAt ?? 0) - (shown?.recordAt ?? 0) >= RECORD_STEP_MS;
    if (state === shown?.state && name === shown.name && !isNewer) return;
    appliance.shown = { name, state, recordAt };
    if (families === undefined) return;
    const labels = { serial, filer: name };
    const samples: Sample[] = [
      { name: families.up.name, labels, value: state === 'reporting' ? 1 : 0 },
      { name: families.state.name, labels: { ...labels, state }, value: 1 },
    ];
    if (recordAt !== undefined) samples.push({ name: families.lastRecord.name, labels, value: recordAt / 1000 });
    sink.publishState({ id: this.#idOf(serial), api }, samples);
  }

  #log(appliance: PolledAppliance): void {
    const { serial, name: filer, logged, shown } = appliance;
    const { log } = this.#settings;
    appliance.logged = shown?.state;
    if (logged === shown?.state) return;
    if (shown?.state === 'no_records') log.warn({ serial, filer }, 'the appliance has no records');
    else if (shown?.state === 'unavailable') {
      log.warn({ serial, filer, ...failureOf(appliance) }, 'the appliance does not answer');
    } else if (logged !== undefined) {
      log.info(
        { serial, filer },
        logged === 'unavailable' ? 'the appliance answers' : 'the appliance has records again',
      );
    }
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

function failureOf({ tasks }: PolledAppliance) {
  const failing = [...tasks].filter(({ standing }) => standing === 'failed' || standing === 'denied');
  const silences = failing.flatMap(({ silence }) => silence ?? []).filter(({ cause }) => cause !== undefined);
  const [first] = silences.toSorted((one, other) => one.since - other.since);
  return { failing: failing.length, series: tasks.size, err: first?.cause };
}

import type { ServiceName } from '../contract/poll-result.ts';
import type { PollSink } from '../contract/sink.ts';
import type { ApplianceFamilies } from '../contract/task.ts';
import type { Sample } from '../metrics/samples.ts';
import type { ApplianceTasks } from './polled-task.ts';

/** The time of the newest record is exposed again if it differs by this, in milliseconds: it changes with every poll. */
const RECORD_STEP_MS = 60_000;

/** Exposes the state of each appliance. */
export class AppliancePublisher {
  readonly #api: ServiceName;
  readonly #sink: PollSink;
  readonly #families: ApplianceFamilies | undefined;

  constructor(api: ServiceName, sink: PollSink, families: ApplianceFamilies | undefined) {
    this.#api = api;
    this.#sink = sink;
    this.#families = families;
  }

  /** Exposes what has changed; nothing before the first verdict. */
  update(appliance: ApplianceTasks): void {
    const { state, name, shown, serial, tasks } = appliance;
    if (state === undefined) return;
    let newestRecordMs = 0;
    for (const { facts } of tasks) newestRecordMs = Math.max(newestRecordMs, facts.newestRecordMs ?? 0);
    newestRecordMs ||= shown?.newestRecordMs ?? 0;
    const hasMoved = Math.abs(newestRecordMs - (shown?.newestRecordMs ?? 0)) >= RECORD_STEP_MS;
    if (state === shown?.state && name === shown.name && !hasMoved) return;
    appliance.shown = { state, name, newestRecordMs };
    if (this.#families === undefined) return;
    const { up, state: stateFamily, lastRecord } = this.#families;
    const labels = { serial, filer: name };
    const samples: Sample[] = [
      { name: up.name, labels, value: state === 'reporting' ? 1 : 0 },
      { name: stateFamily.name, labels: { ...labels, state }, value: 1 },
    ];
    if (newestRecordMs > 0) samples.push({ name: lastRecord.name, labels, value: newestRecordMs / 1000 });
    this.#sink.publishState({ id: this.#idOf(serial), api: this.#api }, samples);
  }

  withdraw({ serial }: ApplianceTasks): void {
    this.#sink.withdraw(this.#idOf(serial));
  }

  #idOf(serial: string): string {
    return `${this.#api}/${serial}/state`;
  }
}

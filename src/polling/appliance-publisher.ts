import type { ServiceName } from '../contract/poll-result.ts';
import type { PollSink } from '../contract/sink.ts';
import type { ApplianceFamilies } from '../contract/task.ts';
import type { Sample } from '../metrics/samples.ts';
import type { ApplianceState, PolledAppliance } from './polled-task.ts';

/** The time of the newest record is exposed again if it differs by this, in milliseconds: it changes with every poll. */
const RECORD_STEP_MS = 60_000;

interface Published {
  readonly name: string;
  readonly state: ApplianceState | undefined;
  readonly newestRecordMs: number;
}

/** Exposes the state of each appliance, and the time of its newest record. */
export class AppliancePublisher {
  readonly #api: ServiceName;
  readonly #sink: PollSink;
  readonly #families: ApplianceFamilies | undefined;
  readonly #published = new Map<PolledAppliance, Published>();

  /** `families`: undefined if no appliance is polled. */
  constructor(api: ServiceName, sink: PollSink, families: ApplianceFamilies | undefined) {
    this.#api = api;
    this.#sink = sink;
    this.#families = families;
  }

  /** Exposes what has changed. Without a state, because it is unknown, the metrics about it are withdrawn. */
  publish(appliance: PolledAppliance, state: ApplianceState | undefined): void {
    const families = this.#families;
    const { name, serial, newestRecordMs } = appliance;
    const before = this.#published.get(appliance);
    const isNewer = Math.abs(newestRecordMs - (before?.newestRecordMs ?? 0)) >= RECORD_STEP_MS;
    if (families === undefined || (state === before?.state && name === before?.name && !isNewer)) return;
    this.#published.set(appliance, { name, state, newestRecordMs });
    const labels = { serial, filer: name };
    const samples: Sample[] = [];
    if (state !== undefined) {
      samples.push({ name: families.up.name, labels, value: state === 'reporting' ? 1 : 0 });
      samples.push({ name: families.state.name, labels: { ...labels, state }, value: 1 });
    }
    if (newestRecordMs > 0) samples.push({ name: families.lastRecord.name, labels, value: newestRecordMs / 1000 });
    this.#sink.publishState({ id: this.#idOf(appliance), api: this.#api }, samples);
  }

  /** The appliance left the inventory. */
  withdraw(appliance: PolledAppliance): void {
    this.#published.delete(appliance);
    this.#sink.withdraw(this.#idOf(appliance));
  }

  #idOf({ serial }: PolledAppliance): string {
    return `${this.#api}/${serial}/state`;
  }
}

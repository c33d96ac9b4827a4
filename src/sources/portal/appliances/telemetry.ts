import type { Family, Fields, Labels } from '../../../metrics/family.ts';
import { holdsValue, type Sample, toSamples } from '../../../metrics/samples.ts';
import { DropCount, type Reading } from '../../../metrics/snapshot.ts';
import type { Collector, Task } from '../../../metrics/task.ts';
import { decimal } from '../../../metrics/units.ts';
import { RequestError } from '../../../runtime/errors.ts';
import type { PortalParts } from '../collector-row.ts';
import { fitsBuild } from './builds.ts';
import type { Appliance } from './inventory.ts';
import { Lookback } from './lookback.ts';
import { type Operation, operationsFor } from './operations.ts';
import { seriesTimestamp } from './series.ts';

/** Which series are asked for, and how. */
export interface TelemetrySettings {
  /** The series to ask for, each with its own interval in milliseconds. */
  readonly series: readonly { readonly name: string; readonly intervalMs: number }[];
  /** Whether `current_appliance_performance` gives what two series could; see {@link operationsFor}. */
  readonly mode?: 'full' | 'economy';
  readonly lookbackMs: number;
  readonly binSeconds: number;
}

/** What polls the telemetry of appliances: each chosen series of each appliance of this instance. */
export class TelemetryCollector implements Collector {
  readonly api = 'portal';
  readonly #parts: PortalParts;
  readonly #settings: TelemetrySettings;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #lookback: Lookback;

  constructor(parts: PortalParts, settings: TelemetrySettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#operations = operationsFor(
      settings.series.map(({ name }) => name),
      settings.mode === 'economy',
    );
    this.#lookback = new Lookback(settings.lookbackMs);
  }

  tasks(): readonly Task[] {
    const tasks: Task[] = [];
    for (const appliance of this.#parts.appliances.own()) {
      for (const { name, intervalMs } of this.#settings.series) {
        const operation = this.#operations.get(name);
        if (operation !== undefined) tasks.push(this.#seriesTask(appliance, name, operation, intervalMs));
      }
    }
    return tasks;
  }

  #seriesTask(appliance: Appliance, name: string, operation: Operation, intervalMs: number): Task {
    const { discoveryIntervalMs } = this.#parts;
    const { serial } = appliance;
    const id = `portal/${serial}/${name}`;
    return {
      id,
      api: 'portal',
      operation: name,
      appliance: { serial, name: appliance.name },
      intervalMs: fitsBuild(name, appliance.build) ? intervalMs : Math.max(intervalMs, discoveryIntervalMs),
      restMs: discoveryIntervalMs,
      poll: (signal) => this.#pollSeries(id, serial, name, operation, signal),
    };
  }

  async #pollSeries(
    id: string,
    serial: string,
    name: string,
    operation: Operation,
    signal: AbortSignal,
  ): Promise<Reading> {
    const body = await this.#ask(id, `/telemetry/appliances/${encodeURIComponent(serial)}/${name}`, operation, signal);
    const drops = new DropCount();
    const sent = operation.records(body, drops.note);
    const note = this.#parts.dialect.watched(name, drops.note);
    const { families, records } = this.#parts.dialect.read(name, operation.families, sent, note);
    const subject = { serial, filer: this.#parts.appliances.find(serial)?.name ?? serial };
    const samples = toSamples(families, records, subject, note, timeOf);
    const used = records.find((record) => holdsValue(families, record));
    if (used !== undefined) samples.push(...toSamples([seriesTimestamp], [used], { ...subject, series: name }));
    const points = pointsOf(families, records, subject);
    return { samples, points, drops: drops.counts, empty: records.length === 0 };
  }

  async #ask(id: string, path: string, operation: Operation, signal: AbortSignal): Promise<unknown> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    for (;;) {
      const json = operation.body(this.#lookback.of(id), this.#settings.binSeconds);
      try {
        const { check } = operation;
        const body = await this.#parts.client.send({ method: 'POST', path, operation: name, json, check }, signal);
        this.#lookback.recover(id);
        return body;
      } catch (error) {
        const tooMuch = error instanceof RequestError && (error.status === 408 || error.status === 413);
        if (!tooMuch || !this.#lookback.shorten(id)) throw await this.#parts.licence.explained(error, signal);
      }
    }
  }
}

function timeOf({ time }: Fields): number | undefined {
  const ms = decimal(time);
  return ms === undefined ? undefined : ms / 1000;
}

/** Every record's values, oldest first; made only where a sink goes through them. */
function pointsOf(families: readonly Family[], newestFirst: readonly Fields[], subject: Labels): Iterable<Sample> {
  return {
    *[Symbol.iterator]() {
      for (const record of newestFirst.toReversed()) yield* toSamples(families, [record], subject, () => {}, timeOf);
    },
  };
}

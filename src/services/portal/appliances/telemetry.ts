import { type Bin, DropCounter, type PollResult } from '../../../contract/poll-result.ts';
import type { Task } from '../../../contract/task.ts';
import type { JsonObject, Labels } from '../../../metrics/family.ts';
import { hasValue, type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { getOrCreate } from '../../../runtime/maps.ts';
import type { PortalContext } from '../context.ts';
import { recordTime } from '../records.ts';
import { buildSupports } from './builds.ts';
import type { Appliance } from './inventory.ts';
import { MinutesReader } from './minutes-reader.ts';
import { isoPeriod } from './periods.ts';
import { seriesTimestamp } from './series-families.ts';
import { familiesOf, type Operation, seriesOperations } from './series-operations.ts';
import { applyUnits } from './units.ts';

interface Series {
  readonly id: string;
  readonly serial: string;
  readonly name: string;
  readonly operation: Operation;
}

/** Polls each telemetry series of each appliance. */
export class TelemetryCollector {
  readonly #context: PortalContext;
  readonly #operations: ReadonlyMap<string, Operation>;
  /** By task. */
  readonly #readers = new Map<string, MinutesReader>();

  constructor(context: PortalContext) {
    const { series, units, binSeconds } = context.options;
    this.#context = context;
    const names = series.map(({ name }) => name);
    this.#operations = new Map(
      Object.entries(seriesOperations).map(([name, operation]) => {
        return [name, { ...operation, families: applyUnits(familiesOf(name, names), units, binSeconds) }];
      }),
    );
  }

  *tasks(): Generator<Task> {
    const { appliances } = this.#context;
    // A task's id contains the serial.
    for (const id of this.#readers.keys())
      if (appliances.find(id.split('/')[1] ?? '') === undefined) this.#readers.delete(id);
    for (const appliance of appliances.polled) yield* this.#tasksOf(appliance);
  }

  #tasksOf({ serial, name: filer, build }: Appliance): readonly Task[] {
    const { client, options } = this.#context;
    return options.series.flatMap(({ name, intervalMs }) => {
      const operation = this.#operations.get(name);
      // The appliance's build does not have this series.
      if (operation === undefined || (!options.readsEarlierBuilds && !buildSupports(name, build))) return [];
      const id = `portal/${serial}/${name}`;
      const series = { id, serial, name, operation };
      return {
        id,
        api: 'portal',
        operation: name,
        appliance: { serial, name: filer },
        names: filer,
        without: `add -${name} to PORTAL_SERIES`,
        intervalMs,
        suspendedIntervalMs: options.discoveryIntervalMs,
        pollAlso: 'portal/account_license',
        poll: (signal, since) => this.#poll(series, signal, since),
        ...(operation.hasHistory && { now: () => client.serviceClock.now() }),
      } satisfies Task;
    });
  }

  async #poll(series: Series, signal: AbortSignal, since: number | undefined): Promise<PollResult> {
    const { client, options } = this.#context;
    const { id, serial, name, operation } = series;
    const { lookbackMs, binSeconds } = options;
    const { counts: drops, reportDrop } = new DropCounter();
    const request = (period: string) => {
      const path = `/telemetry/appliances/${encodeURIComponent(serial)}/${name}`;
      const json = operation.body(period, binSeconds);
      const read = (body: unknown) => operation.records(body, reportDrop);
      const parts = { method: 'POST', path, operation: name, purpose: 'series', throttleKey: serial } as const;
      return client.send({ ...parts, json, read }, signal);
    };
    if (!operation.hasHistory) {
      const samples = this.#samples(series, await request(isoPeriod(lookbackMs)), reportDrop);
      return { samples, drops, empty: samples.length === 0 };
    }
    const now = client.serviceClock.now();
    const reader = getOrCreate(this.#readers, id, () => {
      return new MinutesReader({ lookbackMs, binMs: binSeconds * 1000, now: () => client.serviceClock.now() });
    });
    const { newest, past } = await reader.read(since, request);
    const samples = this.#samples(series, newest, reportDrop);
    // A record without a time, such as the number of cores, does not come from the list of the series.
    const empty = newest.every(({ time }) => time === undefined);
    if (past === undefined) return { samples, drops, empty };
    const { records, ...times } = past;
    return { samples, drops, empty, minutes: { ...times, now, bins: this.#bins(series, records) } };
  }

  #samples(series: Series, records: readonly JsonObject[], reportDrop: ReportDrop): Sample[] {
    const { families } = series.operation;
    const labels = this.#labelsOf(series);
    const samples = toSamples(families, records, labels, reportDrop, recordTime);
    const used = records.find((record) => hasValue(families, record));
    if (used !== undefined) samples.push(...toSamples([seriesTimestamp], [used], { ...labels, series: series.name }));
    return samples;
  }

  /** The records with a time, oldest first. Their values are read only when history uses them. */
  *#bins(series: Series, newestFirst: readonly JsonObject[]): Generator<Bin> {
    const labels = this.#labelsOf(series);
    for (const record of newestFirst.toReversed()) {
      const seconds = recordTime(record);
      if (seconds === undefined) continue;
      yield { at: Math.round(seconds * 1000), samples: () => toSamples(series.operation.families, [record], labels) };
    }
  }

  #labelsOf({ serial }: Series): Labels {
    return { serial, filer: this.#context.appliances.find(serial)?.name ?? serial };
  }
}

import type { Fields, Labels } from '../../../metrics/family.ts';
import { holdsValue, type NoteDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { DropCount, type Past, type Reading } from '../../../metrics/snapshot.ts';
import type { Task } from '../../../metrics/task.ts';
import type { PortalParts } from '../collector-row.ts';
import { secondsOf } from '../records.ts';
import { inUnits } from './account-units.ts';
import { fitsBuild } from './builds.ts';
import { isoInterval, isoPeriod, isRejected, Lookback, type Stretch } from './lookback.ts';
import { type Operation, operationsFor } from './operations.ts';
import { seriesTimestamp } from './series.ts';

interface Series {
  readonly id: string;
  readonly serial: string;
  readonly name: string;
  readonly operation: Operation;
}

export class TelemetryCollector {
  readonly #parts: PortalParts;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #lookback = new Lookback();

  constructor(parts: PortalParts) {
    const { series, mode, units, binSeconds } = parts.settings;
    this.#parts = parts;
    const names = series.map(({ name }) => name);
    this.#operations = new Map(
      [...operationsFor(names, mode === 'economy')].map(([name, operation]) => [
        name,
        { ...operation, families: inUnits(operation.families, units ?? [], binSeconds) },
      ]),
    );
  }

  tasks(): readonly Task[] {
    const { appliances, settings } = this.#parts;
    const { discoveryIntervalMs } = settings;
    return appliances.own.flatMap(({ serial, name: filer, build }) =>
      settings.series.flatMap(({ name, intervalMs }): readonly Task[] => {
        const operation = this.#operations.get(name);
        if (operation === undefined) return [];
        const id = `portal/${serial}/${name}`;
        const series = { id, serial, name, operation };
        return [
          {
            id,
            api: 'portal',
            operation: name,
            appliance: { serial, name: filer },
            intervalMs: fitsBuild(name, build) ? intervalMs : Math.max(intervalMs, discoveryIntervalMs),
            backOffMs: discoveryIntervalMs,
            explainedBy: 'portal/account_license',
            poll: (signal) => this.#poll(series, signal),
            ...(operation.hasHistory && { past: (from, to, signal) => this.#past(series, from, to, signal) }),
          },
        ];
      }),
    );
  }

  async #poll(series: Series, signal: AbortSignal): Promise<Reading> {
    const { id, operation } = series;
    const { client, settings } = this.#parts;
    const { counts: drops, note } = new DropCount();
    const { binSeconds, lookbackMs, wantedSince } = settings;
    if (!operation.hasHistory) {
      const samples = this.#samples(series, await this.#ask(series, isoPeriod(lookbackMs), note, signal), note);
      return { samples, drops, empty: samples.length === 0 };
    }
    const now = client.now();
    const usual = now - lookbackMs;
    const since = Math.min(wantedSince?.(id, now) ?? usual, usual);
    const { records, points } = await this.#cover(series, { from: since, to: now }, note, signal);
    // The exposition shows the present, however far back the request went; a record without a time counts as current.
    const isRecent = (one: Fields) => timeOf(one, Number.POSITIVE_INFINITY) + binSeconds * 1000 >= usual;
    const samples = this.#samples(series, since < usual ? records.filter(isRecent) : records, note);
    // A field beside the list of a series, such as the number of cores, is not a record of it.
    return { samples, drops, empty: records.every(({ time }) => time === undefined), points };
  }

  async #past(series: Series, from: number, to: number, signal: AbortSignal): Promise<Past> {
    const { counts: drops, note } = new DropCount();
    const { points, failure } = await this.#cover(series, { from, to }, note, signal);
    if (failure !== undefined && !points.isOldest) throw failure;
    return { points, drops };
  }

  /** The records of a period, newest first, and its points: of as much as could be had. */
  async #cover(series: Series, period: Stretch, note: NoteDrop, signal: AbortSignal) {
    const { client, settings } = this.#parts;
    const { binSeconds, lookbackMs, wantedSince } = settings;
    const isUsual = period.to - period.from === lookbackMs;
    const isNewestEnough = isUsual && wantedSince === undefined;
    const how = { binMs: isNewestEnough ? 1 : binSeconds * 1000, usualMs: lookbackMs, isNewestEnough };
    const all: Fields[] = [];
    let begin: number | undefined;
    const { from, failure } = await this.#lookback.cover(series.id, period, how, async (part, isAll) => {
      const isDuration = isNewestEnough || (isUsual && isAll);
      const asked = isDuration ? isoPeriod(isAll ? lookbackMs : part.to - part.from) : isoInterval(part);
      const records = await this.#ask(series, asked, note, signal);
      // A duration ends when the service reads the request, and its clock is known to the second.
      if (isDuration) begin = client.now() - lookbackMs + 1000;
      // The newer part has the whole of the bin with which this one ends.
      for (const one of records) if (part.to === period.to || timeOf(one, part.to) < part.to) all.push(one);
    });
    const points = {
      ...{ askedAt: period.to, wanted: period.from, from: begin ?? from, isOldest: isRejected(failure) },
      [Symbol.iterator]: () => this.#pointsOf(series, all),
    };
    return { records: all, points, failure };
  }

  async #ask(series: Series, period: string, note: NoteDrop, signal: AbortSignal) {
    const { serial, name, operation } = series;
    const { client, unitWatch, licence, settings } = this.#parts;
    const path = `/telemetry/appliances/${encodeURIComponent(serial)}/${name}`;
    const json = operation.body(period, settings.binSeconds);
    const request = { method: 'POST', path, operation: name, subject: serial, json, check: operation.check } as const;
    const records = operation.records(await client.send(request, signal), note);
    // The licence covers it, even if an earlier answer says otherwise.
    licence.hasTelemetry ||= undefined;
    unitWatch.look(name, records);
    return records;
  }

  #samples(series: Series, records: readonly Fields[], note: NoteDrop): Sample[] {
    const { families } = series.operation;
    const subject = this.#subjectOf(series);
    const samples = toSamples(families, records, subject, note, secondsOf);
    const used = records.find((record) => holdsValue(families, record));
    if (used !== undefined) samples.push(...toSamples([seriesTimestamp], [used], { ...subject, series: series.name }));
    return samples;
  }

  /** Every record's values, oldest first; computed only if a sink reads them. */
  *#pointsOf(series: Series, newestFirst: readonly Fields[]): Generator<Sample> {
    const subject = this.#subjectOf(series);
    for (const record of newestFirst.toReversed())
      if (record.time !== undefined)
        yield* toSamples(series.operation.families, [record], subject, () => {}, secondsOf);
  }

  #subjectOf({ serial }: Series): Labels {
    return { serial, filer: this.#parts.appliances.find(serial)?.name ?? serial };
  }
}

function timeOf(record: Fields, otherwise: number): number {
  const seconds = secondsOf(record);
  return seconds === undefined ? otherwise : seconds * 1000;
}

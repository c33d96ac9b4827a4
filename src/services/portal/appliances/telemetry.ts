import { DropCounter, type HistoryResult, type PollResult } from '../../../contract/poll-result.ts';
import type { Task } from '../../../contract/task.ts';
import type { JsonObject, Labels } from '../../../metrics/family.ts';
import { hasValue, type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import type { PortalContext } from '../collector-definition.ts';
import { recordTime } from '../records.ts';
import { buildSupports } from './builds.ts';
import { isoInterval, isoPeriod, isRejected, type Period, PeriodRequester } from './period-requester.ts';
import { seriesTimestamp } from './series-families.ts';
import { type Operation, operationsFor } from './series-operations.ts';
import { applyUnits } from './units.ts';

interface Series {
  readonly id: string;
  readonly serial: string;
  readonly name: string;
  readonly operation: Operation;
}

export class TelemetryCollector {
  readonly #parts: PortalContext;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #lookback = new PeriodRequester();

  constructor(parts: PortalContext) {
    const { series, mode, units, binSeconds } = parts.settings;
    this.#parts = parts;
    const names = series.map(({ name }) => name);
    this.#operations = new Map(
      [...operationsFor(names, mode === 'economy')].map(([name, operation]) => [
        name,
        { ...operation, families: applyUnits(operation.families, units ?? [], binSeconds) },
      ]),
    );
  }

  tasks(): readonly Task[] {
    const { appliances, settings } = this.#parts;
    const { discoveryIntervalMs } = settings;
    return appliances.assigned.flatMap(({ serial, name: filer, build }) =>
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
            intervalMs: buildSupports(name, build) ? intervalMs : Math.max(intervalMs, discoveryIntervalMs),
            suspendedIntervalMs: discoveryIntervalMs,
            pollAlso: 'portal/account_license',
            poll: (signal) => this.#poll(series, signal),
            ...(operation.hasHistory && { readHistory: (from, to, signal) => this.#past(series, from, to, signal) }),
          },
        ];
      }),
    );
  }

  async #poll(series: Series, signal: AbortSignal): Promise<PollResult> {
    const { id, operation } = series;
    const { client, settings } = this.#parts;
    const { counts: drops, reportDrop } = new DropCounter();
    const { binSeconds, lookbackMs, wantedSince } = settings;
    if (!operation.hasHistory) {
      const samples = this.#samples(
        series,
        await this.#ask(series, isoPeriod(lookbackMs), reportDrop, signal),
        reportDrop,
      );
      return { samples, drops, empty: samples.length === 0 };
    }
    const now = client.now();
    const usual = now - lookbackMs;
    const since = Math.min(wantedSince?.(id, now) ?? usual, usual);
    const { records, points } = await this.#cover(series, { from: since, to: now }, reportDrop, signal);
    // The exposition shows the present, however far back the request went; a record without a time counts as current.
    const isRecent = (one: JsonObject) => timeOf(one, Number.POSITIVE_INFINITY) + binSeconds * 1000 >= usual;
    const samples = this.#samples(series, since < usual ? records.filter(isRecent) : records, reportDrop);
    // A field beside the list of a series, such as the number of cores, is not a record of it.
    return { samples, drops, empty: records.every(({ time }) => time === undefined), points };
  }

  async #past(series: Series, from: number, to: number, signal: AbortSignal): Promise<HistoryResult> {
    const { counts: drops, reportDrop } = new DropCounter();
    const { points, failure } = await this.#cover(series, { from, to }, reportDrop, signal);
    if (failure !== undefined && !points.earlierRejected) throw failure;
    return { points, drops };
  }

  /** The records of a period, newest first, and its points: of as much as could be had. */
  async #cover(series: Series, period: Period, note: ReportDrop, signal: AbortSignal) {
    const { client, settings } = this.#parts;
    const { binSeconds, lookbackMs, wantedSince } = settings;
    const isUsual = period.to - period.from === lookbackMs;
    const isNewestEnough = isUsual && wantedSince === undefined;
    const how = { binMs: isNewestEnough ? 1 : binSeconds * 1000, usualMs: lookbackMs, isNewestEnough };
    const all: JsonObject[] = [];
    let begin: number | undefined;
    const { from, failure } = await this.#lookback.requestPeriod(series.id, period, how, async (part, isAll) => {
      const isDuration = isNewestEnough || (isUsual && isAll);
      const asked = isDuration ? isoPeriod(isAll ? lookbackMs : part.to - part.from) : isoInterval(part);
      const records = await this.#ask(series, asked, note, signal);
      // A duration ends when the service reads the request, and its clock is known to the second.
      if (isDuration) begin = client.now() - lookbackMs + 1000;
      // The newer part has the whole of the bin with which this one ends.
      for (const one of records) if (part.to === period.to || timeOf(one, part.to) < part.to) all.push(one);
    });
    const points = {
      requestedAt: period.to,
      requestedFrom: period.from,
      coveredFrom: begin ?? from,
      earlierRejected: isRejected(failure),
      [Symbol.iterator]: () => this.#pointsOf(series, all),
    };
    return { records: all, points, failure };
  }

  async #ask(series: Series, period: string, note: ReportDrop, signal: AbortSignal) {
    const { serial, name, operation } = series;
    const { client, unitWatch, licence, settings } = this.#parts;
    const path = `/telemetry/appliances/${encodeURIComponent(serial)}/${name}`;
    const json = operation.body(period, settings.binSeconds);
    const request = {
      method: 'POST',
      path,
      operation: name,
      throttleKey: serial,
      json,
      validate: operation.check,
    } as const;
    const records = operation.records(await client.send(request, signal), note);
    // The licence covers it, even if an earlier answer says otherwise.
    licence.hasTelemetry ||= undefined;
    unitWatch.observe(name, records);
    return records;
  }

  #samples(series: Series, records: readonly JsonObject[], note: ReportDrop): Sample[] {
    const { families } = series.operation;
    const subject = this.#subjectOf(series);
    const samples = toSamples(families, records, subject, note, recordTime);
    const used = records.find((record) => hasValue(families, record));
    if (used !== undefined) samples.push(...toSamples([seriesTimestamp], [used], { ...subject, series: series.name }));
    return samples;
  }

  /** Every record's values, oldest first; computed only if a sink reads them. */
  *#pointsOf(series: Series, newestFirst: readonly JsonObject[]): Generator<Sample> {
    const subject = this.#subjectOf(series);
    for (const record of newestFirst.toReversed())
      if (record.time !== undefined)
        yield* toSamples(series.operation.families, [record], subject, () => {}, recordTime);
  }

  #subjectOf({ serial }: Series): Labels {
    return { serial, filer: this.#parts.appliances.find(serial)?.name ?? serial };
  }
}

function timeOf(record: JsonObject, otherwise: number): number {
  const seconds = recordTime(record);
  return seconds === undefined ? otherwise : seconds * 1000;
}

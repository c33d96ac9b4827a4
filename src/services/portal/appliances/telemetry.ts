import type { Bin, Window, WindowBins } from '../../../contract/minutes.ts';
import { DropCounter, type HistoryResult, type PollResult } from '../../../contract/poll-result.ts';
import type { Task } from '../../../contract/task.ts';
import type { JsonObject, Labels } from '../../../metrics/family.ts';
import { hasValue, type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import type { PortalContext } from '../collector-definition.ts';
import { recordTime } from '../records.ts';
import { buildSupports } from './builds.ts';
import {
  isAborted,
  isoInterval,
  isoPeriod,
  isPeriodTooLong,
  isRejected,
  MIN_PERIOD_MS,
  PeriodLimits,
  PeriodRequester,
} from './period-requester.ts';
import { seriesTimestamp } from './series-families.ts';
import { type Operation, operationsFor } from './series-operations.ts';
import { applyUnits } from './units.ts';

interface Series {
  readonly id: string;
  readonly serial: string;
  readonly name: string;
  readonly operation: Operation;
}

/** One poll. `requestedAt`: by the service's clock. */
interface Call {
  readonly requestedAt: number;
  readonly note: ReportDrop;
  readonly signal: AbortSignal;
}

interface WindowRecords extends Pick<WindowBins, 'to' | 'failure'> {
  readonly records: readonly JsonObject[];
}

/** The longest period of one request that covers a window together with the usual minutes. */
const MAX_COMBINED_MS = 6 * 3_600_000;

/** The most requests that search where the service begins to accept periods. */
const MAX_SEARCH = 7;

export class TelemetryCollector {
  readonly #parts: PortalContext;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #lookback = new PeriodRequester();
  /** How long the periods of windows may be. */
  readonly #windowLimits = new PeriodLimits(1.25);
  /** Tasks of which a request failed that covered a window too: the usual minutes come first. */
  readonly #apart = new Set<string>();

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

  *tasks(): Generator<Task> {
    const { appliances, settings } = this.#parts;
    const { discoveryIntervalMs } = settings;
    // A task's id contains the serial.
    const isPolled = (id: string) => appliances.find(id.split('/')[1] ?? '') !== undefined;
    for (const limits of [this.#lookback.limits, this.#windowLimits]) limits.keepOnly(isPolled);
    for (const id of this.#apart) if (!isPolled(id)) this.#apart.delete(id);
    for (const { serial, name: filer, build } of appliances.assigned) {
      for (const { name, intervalMs } of settings.series) {
        const operation = this.#operations.get(name);
        // What the build cannot have is not polled; an earlier build may have had it.
        if (operation === undefined || (!settings.readsEarlierBuilds && !buildSupports(name, build))) continue;
        const id = `portal/${serial}/${name}`;
        const series = { id, serial, name, operation };
        yield {
          id,
          api: 'portal',
          operation: name,
          appliance: { serial, name: filer },
          intervalMs,
          suspendedIntervalMs: discoveryIntervalMs,
          pollAlso: 'portal/account_license',
          poll: (signal, window) => this.#poll(series, signal, window),
          ...(operation.hasHistory && {
            now: () => this.#parts.client.now(),
            readHistory: (from, to, signal) => this.#past(series, from, to, signal),
          }),
        };
      }
    }
  }

  async #poll(series: Series, signal: AbortSignal, window: Window | undefined): Promise<PollResult> {
    const { operation } = series;
    const { client, settings } = this.#parts;
    const { counts: drops, reportDrop } = new DropCounter();
    const { lookbackMs } = settings;
    if (!operation.hasHistory) {
      const samples = this.#samples(
        series,
        await this.#ask(series, isoPeriod(lookbackMs), reportDrop, signal),
        reportDrop,
      );
      return { samples, drops, empty: samples.length === 0 };
    }
    const requestedAt = client.now();
    const { usual, all, part } = await this.#recordsOf(series, window, { requestedAt, note: reportDrop, signal });
    const samples = this.#samples(series, usual, reportDrop);
    // A field beside the list of a series, such as the number of cores, is not a record of it.
    const empty = usual.every(({ time }) => time === undefined);
    if (part === undefined) return { samples, drops, empty };
    return {
      samples,
      drops,
      empty,
      minutes: { ...part, requestedAt, [Symbol.iterator]: () => this.#bins(series, all) },
    };
  }

  /** The usual records, and those of the window: one request for both if the window is not too old, else two. */
  async #recordsOf(series: Series, window: Window | undefined, call: Call) {
    const { id } = series;
    const { requestedAt, note, signal } = call;
    const { binSeconds, lookbackMs } = this.#parts.settings;
    const agoMs = window === undefined ? 0 : requestedAt - window.start;
    const isOlder = agoMs > lookbackMs;
    if (
      window !== undefined &&
      isOlder &&
      agoMs <= this.#windowLimits.of(id, MAX_COMBINED_MS) &&
      !this.#apart.has(id)
    ) {
      try {
        const period = isoInterval({ from: window.start, to: requestedAt });
        const all = await this.#ask(series, period, note, signal);
        this.#windowLimits.lengthen(id, agoMs);
        // The exposition shows the present, however far back this request went; a record without a time counts as current.
        const earliest = requestedAt - lookbackMs - binSeconds * 1000;
        const usual = all.filter((one) => timeOf(one, requestedAt) >= earliest);
        return { usual, all, part: { to: window.to } };
      } catch (error) {
        if (!isPeriodTooLong(error) && !isRejected(error)) {
          // The next poll requests the usual minutes first: this may be about the period.
          this.#apart.add(id);
          throw error;
        }
        this.#windowLimits.halve(id, agoMs);
      }
      return { usual: (await this.#usual(series, call)).records, all: [], part: undefined };
    }
    const { records: usual, from } = await this.#usual(series, call);
    if (window === undefined) return { usual, all: [], part: undefined };
    // The request may have waited, so that its period begins later than the window.
    if (!isOlder) return { usual, all: usual, part: from > window.start ? undefined : { to: window.to } };
    const { records, ...part } = await this.#window(series, window, call);
    this.#apart.delete(id);
    if (part.to < from || part.failure !== undefined) return { usual, all: records, part };
    const newer = usual.filter((one) => timeOf(one, 0) >= part.to);
    return { usual, all: [...newer, ...records], part: { to: window.to } };
  }

  /** The newest records, of a shorter period if the usual one is too much or rejected, and where they begin. */
  async #usual(series: Series, { requestedAt: to, note, signal }: Call) {
    const { client, settings } = this.#parts;
    const { lookbackMs } = settings;
    const records: JsonObject[] = [];
    let from = to;
    const how = { usualMs: lookbackMs, isNewestEnough: true };
    await this.#lookback.requestPeriod(series.id, { from: to - lookbackMs, to }, how, async (part, isAll) => {
      const lengthMs = isAll ? lookbackMs : part.to - part.from;
      records.push(...(await this.#ask(series, isoPeriod(lengthMs), note, signal)));
      // A duration ends when the service reads the request, and its clock is known to the second.
      from = client.now() - lengthMs + 1000;
    });
    return { records, from };
  }

  /** The records of a window by themselves, from its start on: as much as one request may cover. A failure fails no poll. */
  async #window(series: Series, { start, to: end }: Window, { note, signal }: Call): Promise<WindowRecords> {
    const { id } = series;
    const binMs = this.#parts.settings.binSeconds * 1000;
    const minMs = Math.ceil(MIN_PERIOD_MS / binMs) * binMs;
    const lengthMs = Math.min(end - start, this.#windowLimits.of(id));
    const to = start + Math.max(minMs, Math.floor(lengthMs / binMs) * binMs);
    const request = (from: number) =>
      this.#ask(series, isoInterval({ from, to: Math.max(to, from + minMs) }), note, signal);
    try {
      const records = await request(start);
      this.#windowLimits.lengthen(id, end - start);
      return { to: Math.min(to, end), records: records.filter((one) => timeOf(one, to) < to) };
    } catch (error) {
      if (isAborted(error)) throw error;
      if (to - start > minMs) {
        this.#windowLimits.halve(id, to - start);
        return { to: start, records: [] };
      }
      if (!isRejected(error)) return { to: start, records: [], failure: { reason: 'unread', until: to } };
      const until = await this.#firstAccepted(start, Math.max(end, to), request);
      return { to: start, records: [], failure: { reason: 'rejected', until } };
    }
  }

  /** Where the periods begin that the service accepts, which it rejects before, as before an appliance joined. */
  async #firstAccepted(start: number, end: number, request: (from: number) => Promise<unknown>): Promise<number> {
    const stepMs = this.#parts.settings.binSeconds * 1000;
    let [rejected, accepted] = [start, end];
    for (let requests = 0; requests < MAX_SEARCH && accepted - rejected > stepMs; requests += 1) {
      const middle = rejected + Math.max(1, Math.floor((accepted - rejected) / 2 / stepMs)) * stepMs;
      try {
        await request(middle);
        accepted = middle;
      } catch (error) {
        if (!isRejected(error)) break;
        rejected = middle;
      }
    }
    return accepted;
  }

  async #past(series: Series, from: number, to: number, signal: AbortSignal): Promise<HistoryResult> {
    const { counts: drops, reportDrop } = new DropCounter();
    const all: JsonObject[] = [];
    const how = { binMs: this.#parts.settings.binSeconds * 1000, usualMs: this.#parts.settings.lookbackMs };
    const covered = await this.#lookback.requestPeriod(series.id, { from, to }, how, async (part) => {
      const records = await this.#ask(series, isoInterval(part), reportDrop, signal);
      // The newer part has the whole of the bin with which this one ends.
      for (const one of records) if (part.to === to || timeOf(one, part.to) < part.to) all.push(one);
    });
    if (covered.failure !== undefined && !isRejected(covered.failure)) throw covered.failure;
    return { bins: this.#bins(series, all), from: covered.from, drops };
  }

  async #ask(series: Series, period: string, note: ReportDrop, signal: AbortSignal): Promise<readonly JsonObject[]> {
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

  /** The records with a time, oldest first; their values are read where history needs them. */
  *#bins({ operation, ...series }: Series, newestFirst: readonly JsonObject[]): Generator<Bin> {
    const subject = this.#subjectOf({ operation, ...series });
    for (const record of newestFirst.toReversed()) {
      const seconds = recordTime(record);
      if (seconds === undefined) continue;
      const samples = (note: ReportDrop) => toSamples(operation.families, [record], subject, note, recordTime);
      yield { at: Math.round(seconds * 1000), samples };
    }
  }

  #subjectOf({ serial }: Series): Labels {
    return { serial, filer: this.#parts.appliances.find(serial)?.name ?? serial };
  }
}

function timeOf(record: JsonObject, otherwise: number): number {
  const seconds = recordTime(record);
  return seconds === undefined ? otherwise : seconds * 1000;
}

import { type Bin, MAX_COMBINED_MS, type Window, type WindowBins } from '../../../contract/minutes.ts';
import { DropCounter, type PollResult } from '../../../contract/poll-result.ts';
import type { Task } from '../../../contract/task.ts';
import type { JsonObject, Labels } from '../../../metrics/family.ts';
import { hasValue, type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { runInTurn } from '../../../runtime/slices.ts';
import type { PortalContext } from '../context.ts';
import { recordTime } from '../records.ts';
import { tasksOfAppliances } from './appliance-index.ts';
import { buildSupports } from './builds.ts';
import type { Appliance } from './inventory.ts';
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

/** What the requests of one poll share. `requestedAt` is by the service's clock, in epoch milliseconds. */
interface Call {
  readonly requestedAt: number;
  readonly reportDrop: ReportDrop;
  readonly signal: AbortSignal;
}

interface WindowRecords extends Pick<WindowBins, 'to' | 'failure'> {
  readonly records: readonly JsonObject[];
}

/** The most requests of one search for the earliest period that the service accepts. */
const MAX_SEARCH = 7;

/**
 * Polls each telemetry series of each appliance. A poll requests the newest minutes for the exposition, and for history
 * the minutes of a window as well: with the same request if the window is recent, else with a second one. A failure of
 * the window never fails the poll.
 */
export class TelemetryCollector {
  readonly #context: PortalContext;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #periodRequester = new PeriodRequester();
  readonly #tasks: () => Iterable<Task>;
  /** The longest accepted period of each task's window. */
  readonly #windowLimits = new PeriodLimits(1.25);
  /** Tasks whose combined request failed: their next poll requests the newest minutes and the window separately. */
  readonly #separateTasks = new Set<string>();

  constructor(context: PortalContext) {
    const { series, units, binSeconds } = context.options;
    this.#context = context;
    this.#tasks = tasksOfAppliances(context.appliances, (appliance) => this.#tasksOf(appliance));
    const names = series.map(({ name }) => name);
    this.#operations = new Map(
      [...operationsFor(names)].map(([name, operation]) => [
        name,
        { ...operation, families: applyUnits(operation.families, units ?? [], binSeconds) },
      ]),
    );
  }

  *tasks(): Generator<Task> {
    const { appliances } = this.#context;
    // A task's id contains the serial.
    const isPolled = (id: string) => appliances.find(id.split('/')[1] ?? '') !== undefined;
    for (const limits of [this.#periodRequester.limits, this.#windowLimits]) limits.keepOnly(isPolled);
    for (const id of this.#separateTasks) if (!isPolled(id)) this.#separateTasks.delete(id);
    yield* this.#tasks();
  }

  #tasksOf({ serial, name: filer, build }: Appliance): readonly Task[] {
    const { client, options, withoutFuture } = this.#context;
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
        without: `PORTAL_SERIES=-${name}`,
        intervalMs,
        suspendedIntervalMs: options.discoveryIntervalMs,
        pollAlso: 'portal/account_license',
        poll: async (signal, window) => withoutFuture(await this.#poll(series, signal, window)),
        ...(operation.hasHistory && { now: () => client.now() }),
      } satisfies Task;
    });
  }

  async #poll(series: Series, signal: AbortSignal, window: Window | undefined): Promise<PollResult> {
    const { operation } = series;
    const { client, clock, options } = this.#context;
    const { counts: drops, reportDrop } = new DropCounter();
    const { lookbackMs } = options;
    if (!operation.hasHistory) {
      const records = await this.#requestRecords(series, isoPeriod(lookbackMs), reportDrop, signal);
      const samples = await runInTurn(() => this.#samples(series, records, reportDrop), clock);
      return { samples, drops, empty: samples.length === 0 };
    }
    const requestedAt = client.now();
    const { newest, all, coverage } = await this.#recordsOf(series, window, { requestedAt, reportDrop, signal });
    const samples = await runInTurn(() => this.#samples(series, newest, reportDrop), clock);
    // A record without a time, such as the number of cores, does not come from the list of the series.
    const empty = newest.every(({ time }) => time === undefined);
    if (coverage === undefined) return { samples, drops, empty };
    return {
      samples,
      drops,
      empty,
      minutes: { ...coverage, requestedAt, [Symbol.iterator]: () => this.#bins(series, all) },
    };
  }

  /** The newest records for the exposition, and all records with what they cover of the window. */
  async #recordsOf(series: Series, window: Window | undefined, call: Call) {
    const { id } = series;
    const { requestedAt, reportDrop, signal } = call;
    const { binSeconds, lookbackMs } = this.#context.options;
    const agoMs = window === undefined ? 0 : requestedAt - window.start;
    const isOlder = agoMs > lookbackMs;
    if (
      window !== undefined &&
      isOlder &&
      agoMs <= this.#windowLimits.of(id, MAX_COMBINED_MS) &&
      !this.#separateTasks.has(id)
    ) {
      try {
        const period = isoInterval({ from: window.start, to: requestedAt });
        const all = await this.#requestRecords(series, period, reportDrop, signal);
        this.#windowLimits.lengthen(id, agoMs);
        // The exposition gets only the newest minutes. A record without a time counts as current.
        const earliest = requestedAt - lookbackMs - binSeconds * 1000;
        const newest = all.filter((record) => timeOf(record, requestedAt) >= earliest);
        if (newest.length > 0) return { newest, all, coverage: { to: window.to } };
        // The measured clock may be wrong. The newest minutes of a duration are those of the service's own clock.
        return { newest: (await this.#newestRecords(series, call)).records, all, coverage: { to: window.to } };
      } catch (error) {
        if (!isPeriodTooLong(error) && !isRejected(error)) {
          // The long period may be the cause, so the next poll requests the newest minutes by themselves.
          this.#separateTasks.add(id);
          throw error;
        }
        this.#windowLimits.halve(id, agoMs);
      }
      return { newest: (await this.#newestRecords(series, call)).records, all: [], coverage: undefined };
    }
    const { records: newest, from } = await this.#newestRecords(series, call);
    if (window === undefined) return { newest, all: [], coverage: undefined };
    // If the request waited, its period may begin later than the window.
    if (!isOlder) return { newest, all: newest, coverage: from > window.start ? undefined : { to: window.to } };
    const { records, ...coverage } = await this.#windowRecords(series, window, call);
    this.#separateTasks.delete(id);
    if (coverage.to < from || coverage.failure !== undefined) return { newest, all: records, coverage };
    const newer = newest.filter((record) => timeOf(record, 0) >= coverage.to);
    return { newest, all: [...newer, ...records], coverage: { to: window.to } };
  }

  /** The newest records and where they begin. The period is PORTAL_LOOKBACK, or shorter if that is too long for the service. */
  async #newestRecords(series: Series, { requestedAt: to, reportDrop, signal }: Call) {
    const { client, options } = this.#context;
    const { lookbackMs } = options;
    const records: JsonObject[] = [];
    let from = to;
    const period = { from: to - lookbackMs, to };
    const requestOptions = { newestMinMs: lookbackMs, isNewestEnough: true };
    await this.#periodRequester.requestPeriod(series.id, period, requestOptions, async (part, isWholePeriod) => {
      const lengthMs = isWholePeriod ? lookbackMs : part.to - part.from;
      records.push(...(await this.#requestRecords(series, isoPeriod(lengthMs), reportDrop, signal)));
      // A duration ends when the service reads the request. A second is added because its clock is known to the second.
      from = client.now() - lengthMs + 1000;
    });
    return { records, from };
  }

  /** The records of the window's beginning: as much as one request may cover. A failure is returned, because it must not fail the poll. */
  async #windowRecords(
    series: Series,
    { start, to: end }: Window,
    { reportDrop, signal }: Call,
  ): Promise<WindowRecords> {
    const { id } = series;
    const binMs = this.#context.options.binSeconds * 1000;
    const minMs = Math.ceil(MIN_PERIOD_MS / binMs) * binMs;
    const lengthMs = Math.min(end - start, this.#windowLimits.of(id));
    const to = start + Math.max(minMs, Math.floor(lengthMs / binMs) * binMs);
    const request = (from: number) =>
      this.#requestRecords(series, isoInterval({ from, to: Math.max(to, from + minMs) }), reportDrop, signal);
    try {
      const records = await request(start);
      this.#windowLimits.lengthen(id, end - start);
      return { to: Math.min(to, end), records: records.filter((record) => timeOf(record, to) < to) };
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

  /** The earliest start of a period that the service accepts. It rejects periods from before the appliance joined, for example. */
  async #firstAccepted(start: number, end: number, request: (from: number) => Promise<unknown>): Promise<number> {
    const stepMs = this.#context.options.binSeconds * 1000;
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

  async #requestRecords(
    series: Series,
    period: string,
    reportDrop: ReportDrop,
    signal: AbortSignal,
  ): Promise<readonly JsonObject[]> {
    const { serial, name, operation } = series;
    const { client, options } = this.#context;
    const path = `/telemetry/appliances/${encodeURIComponent(serial)}/${name}`;
    const json = operation.body(period, options.binSeconds);
    const request = {
      method: 'POST',
      path,
      operation: name,
      purpose: 'series',
      throttleKey: serial,
      json,
      validate: operation.check,
    } as const;
    const records = operation.records(await client.send(request, signal), reportDrop);
    return records;
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
  *#bins({ operation, ...series }: Series, newestFirst: readonly JsonObject[]): Generator<Bin> {
    const labels = this.#labelsOf({ operation, ...series });
    for (const record of newestFirst.toReversed()) {
      const seconds = recordTime(record);
      if (seconds === undefined) continue;
      const samples = (reportDrop: ReportDrop) =>
        toSamples(operation.families, [record], labels, reportDrop, recordTime);
      yield { at: Math.round(seconds * 1000), samples };
    }
  }

  #labelsOf({ serial }: Series): Labels {
    return { serial, filer: this.#context.appliances.find(serial)?.name ?? serial };
  }
}

function timeOf(record: JsonObject, otherwise: number): number {
  const seconds = recordTime(record);
  return seconds === undefined ? otherwise : seconds * 1000;
}

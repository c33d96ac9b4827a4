import type { Family, Fields, Labels } from '../../../metrics/family.ts';
import { holdsValue, type Sample, toSamples } from '../../../metrics/samples.ts';
import { DropCount, type Past, type Reading } from '../../../metrics/snapshot.ts';
import type { Collector, Task } from '../../../metrics/task.ts';
import { decimal } from '../../../metrics/units.ts';
import { RequestError } from '../../../runtime/errors.ts';
import type { PortalParts } from '../collector-row.ts';
import { fitsBuild } from './builds.ts';
import type { Appliance } from './inventory.ts';
import { isoPeriod, Lookback, SHORTEST_PERIOD_MS } from './lookback.ts';
import { type Operation, operationsFor } from './operations.ts';
import { seriesTimestamp } from './series.ts';

export interface TelemetrySettings {
  /** The series to poll, each with its own interval in milliseconds. */
  readonly series: readonly { readonly name: string; readonly intervalMs: number }[];
  /** Whether `current_appliance_performance` replaces two series; see {@link operationsFor}. */
  readonly mode?: 'full' | 'economy';
  readonly lookbackMs: number;
  readonly binSeconds: number;
  /**
   * The start of the points that an output needs of a task, in milliseconds since the Unix epoch; undefined if the
   * usual period is enough. One request covers the longer period.
   */
  readonly wantedSince?: (task: string) => number | undefined;
}

/** The longest period of one request: it returns more records than are read. */
const LONGEST_REQUEST_MS = 5 * 86_400_000;

/** Polls the telemetry of appliances: each chosen series of each appliance of this instance. */
export class TelemetryCollector implements Collector {
  readonly api = 'portal';
  readonly #parts: PortalParts;
  readonly #settings: TelemetrySettings;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #lookback: Lookback;
  /** The longest period that each series is asked for at once: shorter where an answer was too large. */
  readonly #longest = new Map<string, number>();

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
      explainedBy: 'portal/account_license',
      poll: (signal) => this.#pollSeries(id, serial, name, operation, signal),
      ...(operation.hasHistory && {
        past: (from, to, signal) => this.#readPast(serial, name, operation, { from, to }, signal),
      }),
    };
  }

  async #pollSeries(
    id: string,
    serial: string,
    name: string,
    operation: Operation,
    signal: AbortSignal,
  ): Promise<Reading> {
    const path = pathOf(serial, name);
    const drops = new DropCount();
    const now = this.#parts.clock.now();
    const since = operation.hasHistory ? this.#settings.wantedSince?.(id) : undefined;
    const isLong = since !== undefined && now - since > this.#settings.lookbackMs;
    const read = (body: unknown) => operation.records(body, drops.note);
    const sent = isLong
      ? await this.#askLong(
          { path, operation, read, isWhole: false },
          { from: since - this.#settings.binSeconds * 1000, to: now, now },
          signal,
        )
      : read(await this.#ask(id, path, operation, signal));
    const note = this.#parts.dialect.watched(name, drops.note);
    const { families, records: all } = this.#parts.dialect.read(name, operation.families, sent, note);
    // The exposition shows the present, however far back the request went.
    const records = isLong ? all.filter(isSince(now - this.#settings.lookbackMs)) : all;
    const subject = { serial, filer: this.#parts.appliances.find(serial)?.name ?? serial };
    const samples = toSamples(families, records, subject, note, timeOf);
    const used = records.find((record) => holdsValue(families, record));
    if (used !== undefined) samples.push(...toSamples([seriesTimestamp], [used], { ...subject, series: name }));
    // A field beside the list of a series, such as the number of cores, is not a record of it.
    const isEmpty = operation.hasHistory ? records.every(({ time }) => time === undefined) : records.length === 0;
    const reading = { samples, drops: drops.counts, empty: isEmpty };
    return operation.hasHistory ? { ...reading, points: pointsOf(families, all, subject) } : reading;
  }

  async #readPast(
    serial: string,
    name: string,
    operation: Operation,
    { from, to }: Pick<Stretch, 'from' | 'to'>,
    signal: AbortSignal,
  ): Promise<Past> {
    const drops = new DropCount();
    const read = (body: unknown) => operation.records(body, drops.note);
    const question = { path: pathOf(serial, name), operation, read, isWhole: true };
    try {
      // By its own times, and not up to now: the clock of the service may differ.
      const sent = await this.#askLong(question, { from, to, now: Number.NaN }, signal);
      const note = this.#parts.dialect.watched(name, drops.note);
      const { families, records } = this.#parts.dialect.read(name, operation.families, sent, note);
      const subject = { serial, filer: this.#parts.appliances.find(serial)?.name ?? serial };
      return { points: pointsOf(families, records, subject), drops: drops.counts };
    } catch (error) {
      throw await this.#parts.licence.explained(error, signal);
    }
  }

  /**
   * The records of a period, newest first. An answer that is too large or too slow is asked for again in two halves, the
   * older one first; where it was too large, no period of this series is as long from then on. Where the older half cannot
   * be had at all, the newer one alone is better than nothing, unless the question wants the whole.
   */
  async #askLong(question: Question, { from, to, now }: Stretch, signal: AbortSignal): Promise<readonly Fields[]> {
    const { path, read, isWhole } = question;
    const name = nameIn(path);
    if (to - from <= (this.#longest.get(name) ?? LONGEST_REQUEST_MS)) {
      try {
        return read(await this.#send(question, periodOf(from, to, now), signal));
      } catch (error) {
        if (!(isTooSlow(error) || isTooLarge(error)) || to - from < 2 * SHORTEST_PERIOD_MS) throw error;
        if (isTooLarge(error)) this.#longest.set(name, Math.ceil((to - from) / 2));
      }
    }
    const binMs = this.#settings.binSeconds * 1000;
    const middle = Math.floor((from + to) / 2 / binMs) * binMs;
    const older = await this.#askLong(question, { from, to: middle, now }, signal).catch((error: unknown) => {
      if (isWhole || signal.aborted) throw error;
      return [];
    });
    const newer = await this.#askLong(question, { from: middle, to, now }, signal);
    // The older half may end in a part of the bin with which the newer one begins.
    const edge = newer.reduce((least, { time }) => Math.min(least, decimal(time) ?? least), Number.POSITIVE_INFINITY);
    return [...newer, ...older.filter(({ time }) => (decimal(time) ?? 0) < edge)];
  }

  #send(
    { path, operation }: Pick<Question, 'path' | 'operation'>,
    period: string,
    signal: AbortSignal,
  ): Promise<unknown> {
    const name = nameIn(path);
    const json = { period, bin_size: this.#settings.binSeconds };
    return this.#parts.client.send({ method: 'POST', path, operation: name, json, check: operation.check }, signal);
  }

  async #ask(id: string, path: string, operation: Operation, signal: AbortSignal): Promise<unknown> {
    const name = nameIn(path);
    for (;;) {
      const json = operation.body(this.#lookback.of(id), this.#settings.binSeconds);
      try {
        const { check } = operation;
        const body = await this.#parts.client.send({ method: 'POST', path, operation: name, json, check }, signal);
        this.#lookback.recover(id);
        this.#parts.licence.given();
        return body;
      } catch (error) {
        if (!isTooMuch(error) || !this.#lookback.shorten(id)) throw await this.#parts.licence.explained(error, signal);
      }
    }
  }
}

interface Question {
  readonly path: string;
  readonly operation: Operation;
  readonly read: (body: unknown) => readonly Fields[];
  /** Whether a part of the period is of no use. */
  readonly isWhole: boolean;
}

function pathOf(serial: string, name: string): string {
  return `/telemetry/appliances/${encodeURIComponent(serial)}/${name}`;
}

/** The series in a path of {@link pathOf}. */
function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The service says that too much was asked for. */
function isTooMuch(error: unknown): boolean {
  return isTooSlow(error) || (error instanceof RequestError && error.status === 413);
}

function isTooSlow(error: unknown): boolean {
  return error instanceof RequestError && error.status === 408;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RequestError && (error.status === 413 || error.fault === 'oversize');
}

/** A period that ends now or earlier, in milliseconds since the Unix epoch. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly now: number;
}

/** In ISO 8601: a duration if it ends now, by the service's own clock; else an interval. */
function periodOf(from: number, to: number, now: number): string {
  return to === now ? isoPeriod(to - from) : `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;
}

/** Whether a record is not older; a record without a time counts as current. */
function isSince(from: number): (record: Fields) => boolean {
  return (record) => (timeOf(record) ?? Number.POSITIVE_INFINITY) * 1000 >= from;
}

function timeOf({ time }: Fields): number | undefined {
  const ms = decimal(time);
  return ms === undefined ? undefined : ms / 1000;
}

/** Every record's values, oldest first; computed only if a sink reads them. */
function pointsOf(families: readonly Family[], newestFirst: readonly Fields[], subject: Labels): Iterable<Sample> {
  return {
    *[Symbol.iterator]() {
      for (const record of newestFirst.toReversed())
        if (record.time !== undefined) yield* toSamples(families, [record], subject, () => {}, timeOf);
    },
  };
}

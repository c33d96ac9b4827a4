import type { Family, Fields, Labels } from '../../../metrics/family.ts';
import { holdsValue, type NoteDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { DropCount, type Past, type Reading } from '../../../metrics/snapshot.ts';
import type { Task } from '../../../metrics/task.ts';
import { decimal } from '../../../metrics/units.ts';
import type { PortalParts } from '../collector-row.ts';
import { fitsBuild } from './builds.ts';
import { isoInterval, isoPeriod, isTooLarge, isTooMuch, Lookback, SHORTEST_PERIOD_MS } from './lookback.ts';
import { type Operation, operationsFor } from './operations.ts';
import { seriesTimestamp } from './series.ts';

/** The longest period of one request: it returns more records than are read. */
const LONGEST_REQUEST_MS = 5 * 86_400_000;

interface Series {
  readonly id: string;
  readonly serial: string;
  readonly name: string;
  readonly operation: Operation;
}

/** A period that ends now or earlier, in milliseconds since the Unix epoch. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly now: number;
  /** Whether a part of the period is of no use. */
  readonly isWhole: boolean;
}

export class TelemetryCollector {
  readonly #parts: PortalParts;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #lookback = new Lookback();
  /** The longest period that each series is asked for at once: shorter where an answer was too large. */
  readonly #longest = new Map<string, number>();

  constructor(parts: PortalParts) {
    const { series, mode } = parts.settings;
    this.#parts = parts;
    this.#operations = operationsFor(
      series.map(({ name }) => name),
      mode === 'economy',
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
            restMs: discoveryIntervalMs,
            explainedBy: 'portal/account_license',
            poll: (signal) => this.#poll(series, signal),
            ...(operation.hasHistory && { past: (from, to, signal) => this.#past(series, from, to, signal) }),
          },
        ];
      }),
    );
  }

  async #poll(series: Series, signal: AbortSignal): Promise<Reading> {
    const { id, name, operation } = series;
    const { clock, dialect, settings } = this.#parts;
    const { counts: drops, note: count } = new DropCount();
    const note = dialect.watched(name, count);
    const { binSeconds, lookbackMs, wantedSince } = settings;
    const now = clock.now();
    const since = operation.hasHistory ? wantedSince?.(id) : undefined;
    const isLong = since !== undefined && now - since > lookbackMs;
    const sent = isLong
      ? await this.#askLong(series, { from: since - binSeconds * 1000, to: now, now, isWhole: false }, note, signal)
      : operation.records(await this.#ask(series, signal), note);
    const { families, records: all, subject } = this.#read(series, sent, note);
    // The exposition shows the present, however far back the request went; a record without a time counts as current.
    const records = isLong
      ? all.filter((one) => (timeOf(one) ?? Number.POSITIVE_INFINITY) * 1000 >= now - lookbackMs)
      : all;
    const samples = toSamples(families, records, subject, note, timeOf);
    const used = records.find((record) => holdsValue(families, record));
    if (used !== undefined) samples.push(...toSamples([seriesTimestamp], [used], { ...subject, series: name }));
    if (!operation.hasHistory) return { samples, drops, empty: records.length === 0 };
    // A field beside the list of a series, such as the number of cores, is not a record of it.
    const empty = records.every(({ time }) => time === undefined);
    return { samples, drops, empty, points: pointsOf(families, all, subject) };
  }

  async #past(series: Series, from: number, to: number, signal: AbortSignal): Promise<Past> {
    const { counts: drops, note: count } = new DropCount();
    const note = this.#parts.dialect.watched(series.name, count);
    // By its own times, and not up to now: the clock of the service may differ.
    const sent = await this.#askLong(series, { from, to, now: Number.NaN, isWhole: true }, note, signal);
    const { families, records, subject } = this.#read(series, sent, note);
    return { points: pointsOf(families, records, subject), drops };
  }

  #read({ serial, name, operation }: Series, sent: readonly Fields[], note: NoteDrop) {
    const { dialect, appliances } = this.#parts;
    const subject = { serial, filer: appliances.find(serial)?.name ?? serial };
    return { ...dialect.read(name, operation.families, sent, note), subject };
  }

  /**
   * The records of a period, newest first. An answer that is too large or too slow is asked for again in two halves, the
   * older one first; where it was too large, no period of this series is as long from then on. Where the older half cannot
   * be had at all, the newer one alone is better than nothing, unless the whole is wanted.
   */
  async #askLong(series: Series, stretch: Stretch, note: NoteDrop, signal: AbortSignal): Promise<readonly Fields[]> {
    const { from, to, isWhole } = stretch;
    const { name, operation } = series;
    const { binSeconds } = this.#parts.settings;
    if (to - from <= (this.#longest.get(name) ?? LONGEST_REQUEST_MS)) {
      try {
        const json = { period: periodOf(stretch), bin_size: binSeconds };
        return operation.records(await this.#send(series, json, signal), note);
      } catch (error) {
        if (!isTooMuch(error) || to - from < 2 * SHORTEST_PERIOD_MS) throw error;
        if (isTooLarge(error)) this.#longest.set(name, Math.ceil((to - from) / 2));
      }
    }
    const binMs = binSeconds * 1000;
    const middle = Math.floor((from + to) / 2 / binMs) * binMs;
    const half = (part: Partial<Stretch>) => this.#askLong(series, { ...stretch, ...part }, note, signal);
    const older = await half({ to: middle }).catch((error: unknown) => {
      if (isWhole || signal.aborted) throw error;
      return [];
    });
    const newer = await half({ from: middle });
    // The older half may end in a part of the bin with which the newer one begins.
    const edge = newer.reduce((least, { time }) => Math.min(least, decimal(time) ?? least), Number.POSITIVE_INFINITY);
    return [...newer, ...older.filter(({ time }) => (decimal(time) ?? 0) < edge)];
  }

  #ask(series: Series, signal: AbortSignal): Promise<unknown> {
    const { lookbackMs, binSeconds } = this.#parts.settings;
    const send = (periodMs: number) => this.#send(series, series.operation.body(periodMs, binSeconds), signal);
    return this.#lookback.ask(series.id, lookbackMs, send);
  }

  #send({ serial, name, operation: { check } }: Series, json: Fields, signal: AbortSignal): Promise<unknown> {
    const path = `/telemetry/appliances/${encodeURIComponent(serial)}/${name}`;
    return this.#parts.licence.send({ method: 'POST', path, operation: name, subject: serial, json, check }, signal);
  }
}

/** In ISO 8601: a duration if it ends now, by the service's own clock; else an interval. */
function periodOf({ from, to, now }: Stretch): string {
  return to === now ? isoPeriod(to - from) : isoInterval(from, to);
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

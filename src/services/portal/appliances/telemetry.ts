import type { Bin } from '../../../contract/minutes.ts';
import { DropCounter, type PollResult } from '../../../contract/poll-result.ts';
import type { Task } from '../../../contract/task.ts';
import type { JsonObject, Labels } from '../../../metrics/family.ts';
import { hasValue, type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import type { PortalContext } from '../context.ts';
import { recordTime } from '../records.ts';
import { buildSupports } from './builds.ts';
import type { Appliance } from './inventory.ts';
import { callsForShorterPeriod, isAborted, isoInterval, isoPeriod, mayBeOfPeriod, PeriodLimits } from './periods.ts';
import { seriesTimestamp } from './series-families.ts';
import { type Operation, operationsFor } from './series-operations.ts';
import { applyUnits } from './units.ts';

interface Series {
  readonly id: string;
  readonly serial: string;
  readonly name: string;
  readonly operation: Operation;
}

/** What the requests of one poll share. `now` is by the service's clock, in epoch milliseconds. */
interface Call {
  readonly now: number;
  readonly reportDrop: ReportDrop;
  readonly signal: AbortSignal;
}

/** Records, newest first, and until when the service has returned everything that history needs. */
interface Past {
  readonly records: readonly JsonObject[];
  readonly until: number;
  readonly unreadUntil?: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The longest period of a request that returns the newest minutes as well. */
const MAX_COMBINED_MS = 6 * HOUR_MS;

/**
 * Polls each telemetry series of each appliance. A poll requests the newest minutes for the exposition. If history needs
 * older ones, the period is lengthened up to six hours; still older ones take a second request, whose failure never fails
 * the poll.
 */
export class TelemetryCollector {
  readonly #context: PortalContext;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #newestLimits = new PeriodLimits();
  /** Tasks with a limit request the newest minutes and the older ones separately. */
  readonly #olderLimits = new PeriodLimits();
  /** How much of the past a task gives up next if even the shortest period cannot be read. */
  readonly #skips = new Map<string, number>();

  constructor(context: PortalContext) {
    const { series, units, binSeconds } = context.options;
    this.#context = context;
    const names = series.map(({ name }) => name);
    this.#operations = new Map(
      [...operationsFor(names)].map(([name, operation]) => [
        name,
        { ...operation, families: applyUnits(operation.families, units, binSeconds) },
      ]),
    );
  }

  *tasks(): Generator<Task> {
    const { appliances } = this.#context;
    // A task's id contains the serial.
    const isPolled = (id: string) => appliances.find(id.split('/')[1] ?? '') !== undefined;
    for (const limits of [this.#newestLimits, this.#olderLimits]) limits.keepOnly(isPolled);
    for (const id of this.#skips.keys()) if (!isPolled(id)) this.#skips.delete(id);
    for (const appliance of appliances.polled) yield* this.#tasksOf(appliance);
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
        names: filer,
        without: `PORTAL_SERIES=-${name}`,
        intervalMs,
        suspendedIntervalMs: options.discoveryIntervalMs,
        pollAlso: 'portal/account_license',
        poll: async (signal, since) => withoutFuture(await this.#poll(series, signal, since)),
        ...(operation.hasHistory && { now: () => client.now() }),
      } satisfies Task;
    });
  }

  async #poll(series: Series, signal: AbortSignal, since: number | undefined): Promise<PollResult> {
    const { operation } = series;
    const { client, options } = this.#context;
    const { counts: drops, reportDrop } = new DropCounter();
    const call = { now: client.now(), reportDrop, signal };
    if (!operation.hasHistory) {
      const samples = this.#samples(
        series,
        await this.#request(series, isoPeriod(options.lookbackMs), call),
        reportDrop,
      );
      return { samples, drops, empty: samples.length === 0 };
    }
    const { newest, past } = await this.#read(series, since, call);
    const samples = this.#samples(series, newest, reportDrop);
    // A record without a time, such as the number of cores, does not come from the list of the series.
    const empty = newest.every(({ time }) => time === undefined);
    if (past === undefined) return { samples, drops, empty };
    const { records, ...times } = past;
    return { samples, drops, empty, minutes: { ...times, now: call.now, bins: this.#bins(series, records) } };
  }

  /** The newest records for the exposition, and the records after `since` for history. */
  async #read(
    series: Series,
    since: number | undefined,
    call: Call,
  ): Promise<{ readonly newest: readonly JsonObject[]; readonly past?: Past }> {
    const { now } = call;
    const wantedMs = since === undefined ? 0 : now - since;
    const isOlder = wantedMs > this.#context.options.lookbackMs;
    const isCombined = isOlder && wantedMs <= MAX_COMBINED_MS && this.#olderLimits.of(series.id) > MAX_COMBINED_MS;
    if (since !== undefined && isCombined) {
      const records = await this.#readCombined(series, since, call);
      if (records !== undefined) return { newest: this.#current(records, now), past: { records, until: now } };
    }
    const { records: newest, from } = await this.#readNewest(series, call);
    if (since !== undefined && from <= since) return { newest, past: { records: newest, until: now } };
    // A usual request that had to wait begins later than usual, and the next poll requests what it lacks.
    if (since === undefined || !isOlder || isCombined) return { newest };
    const older = await this.#readOlder(series, since, call);
    if (older.until < from) return { newest, past: older };
    const newer = newest.filter((record) => timeOf(record, 0) > older.until);
    return { newest, past: { ...older, records: [...newer, ...older.records], until: now } };
  }

  /** Returns undefined if a shorter period has to be requested. */
  async #readCombined(series: Series, since: number, call: Call): Promise<readonly JsonObject[] | undefined> {
    try {
      return await this.#request(series, isoInterval({ from: since, to: call.now }), call);
    } catch (error) {
      // The next poll requests the newest minutes alone, or history would take the appliance down.
      if (mayBeOfPeriod(error)) this.#olderLimits.halve(series.id, call.now - since);
      if (!callsForShorterPeriod(error)) throw error;
      return undefined;
    }
  }

  /** The newest records and where they begin: PORTAL_LOOKBACK ago, or later if that is too long a period for the service. */
  async #readNewest(series: Series, call: Call) {
    const { client, options } = this.#context;
    const send = (lengthMs: number) => this.#request(series, isoPeriod(lengthMs), call);
    const { lengthMs, result: records } = await this.#newestLimits.request(series.id, options.lookbackMs, send);
    // A duration ends when the service reads the request. A second is added because its clock is known to the second.
    return { records, from: client.now() - lengthMs + 1000 };
  }

  /** The records of at most a day after `since`. */
  async #readOlder(series: Series, since: number, call: Call): Promise<Past> {
    const { binSeconds, lookbackMs } = this.#context.options;
    const { id } = series;
    const binMs = binSeconds * 1000;
    const shortestMs = Math.max(HOUR_MS, 2 * binMs);
    // Whole hours end with a bin, also if the account ignores PORTAL_BIN_SIZE.
    const hours = Math.floor(Math.min(DAY_MS, this.#olderLimits.of(id)) / HOUR_MS);
    const lengthMs = Math.max(shortestMs, hours * HOUR_MS);
    const to = Math.min(since + lengthMs, call.now);
    try {
      const records = await this.#request(series, isoInterval({ from: since, to }), call);
      this.#olderLimits.double(id, DAY_MS);
      this.#skips.delete(id);
      // A bin that does not end within the period is not whole.
      const until = to - binMs;
      return { records: records.filter((record) => timeOf(record, to) <= until), until };
    } catch (error) {
      if (isAborted(error)) throw error;
      if (!mayBeOfPeriod(error)) return { records: [], until: since };
      this.#olderLimits.halve(id, lengthMs);
      if (lengthMs > shortestMs) return { records: [], until: since };
      const skipMs = Math.min(DAY_MS, this.#skips.get(id) ?? shortestMs);
      this.#skips.set(id, 2 * skipMs);
      const unreadUntil = Math.min(since + skipMs, call.now - lookbackMs);
      return { records: [], until: unreadUntil, unreadUntil };
    }
  }

  /**
   * The records of a long period that a usual request would return. The time of the newest record decides: if it is too old,
   * the appliance has nothing current.
   */
  #current(newestFirst: readonly JsonObject[], now: number): readonly JsonObject[] {
    const { binSeconds, lookbackMs } = this.#context.options;
    const newest = timeOf(newestFirst[0] ?? {}, now);
    const isCurrent = newest >= now - lookbackMs - binSeconds * 1000;
    const earliest = isCurrent ? newest - lookbackMs : now;
    return newestFirst.filter((record) => timeOf(record, now) >= earliest);
  }

  async #request(series: Series, period: string, { reportDrop, signal }: Call): Promise<readonly JsonObject[]> {
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
      yield { at: Math.round(seconds * 1000), samples: () => toSamples(operation.families, [record], labels) };
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

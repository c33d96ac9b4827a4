import type { JsonObject } from '../../../metrics/family.ts';
import { recordTime } from '../records.ts';
import { isAborted, isoInterval, isoPeriod, mayBeOfPeriod, PeriodLimit } from './periods.ts';

interface ReaderOptions {
  /** The period of a usual request. */
  readonly lookbackMs: number;
  readonly binMs: number;
  /** The time of the service, in epoch milliseconds. */
  readonly now: () => number;
}

/** Resolves with the records of a period, which is in ISO 8601; newest first. */
type RequestPeriod = (period: string) => Promise<readonly JsonObject[]>;

interface Reading {
  /** The records for the exposition. */
  readonly newest: readonly JsonObject[];
  /** The records for history; undefined if it needs none, or if this poll could not read them. */
  readonly past?: Past | undefined;
}

/** The records before the time `until`, newest first. What is older than `unreadUntil` cannot be read. */
interface Past {
  readonly records: readonly JsonObject[];
  readonly until: number;
  readonly unreadUntil?: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The longest period of a request that returns the newest minutes as well. */
const MAX_COMBINED_MS = 6 * HOUR_MS;

/** The shortest period of a request for older minutes: wherever it begins, a bin of an hour is whole in it. */
const MIN_OLDER_MS = 2 * HOUR_MS;

/**
 * Requests the newest minutes of one series of an appliance for the exposition. If history needs older ones, the period is lengthened up to
 * six hours; still older ones take a second request, whose failure never fails the poll.
 */
export class MinutesReader {
  readonly #options: ReaderOptions;
  readonly #newestLimit = new PeriodLimit();
  /** With a limit below {@link MAX_COMBINED_MS}, the newest minutes and the older ones are requested separately. */
  readonly #olderLimit = new PeriodLimit();
  /** How many milliseconds of history are given up next if even the shortest period cannot be read. */
  #skipMs = HOUR_MS;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** `since`: the time after which history needs all minutes. */
  async read(since: number | undefined, request: RequestPeriod): Promise<Reading> {
    const now = this.#options.now();
    const wantedMs = since === undefined ? 0 : now - since;
    const isOlder = wantedMs > this.#options.lookbackMs;
    const isCombined = isOlder && wantedMs <= MAX_COMBINED_MS && this.#olderLimit.ms > MAX_COMBINED_MS;
    if (since !== undefined && isCombined) {
      const records = await this.#readCombined(since, now, request);
      if (records !== undefined) return { newest: this.#current(records, now), past: { records, until: now } };
    }
    const { records: newest, from } = await this.#readNewest(request);
    if (since !== undefined && from <= since) return { newest, past: { records: newest, until: now } };
    // A usual request that had to wait begins later than usual, and the next poll requests what it lacks.
    if (since === undefined || !isOlder || isCombined) return { newest };
    return { newest, past: await this.#readOlder(since, now, request) };
  }

  /** Resolves with undefined if that fails: the newest minutes are then requested alone, or history would take the appliance down. */
  async #readCombined(since: number, now: number, request: RequestPeriod) {
    try {
      return await request(isoInterval(since, now));
    } catch (error) {
      if (!mayBeOfPeriod(error)) throw error;
      this.#olderLimit.halve(now - since);
      return undefined;
    }
  }

  /** The newest records and where they begin: PORTAL_LOOKBACK ago, or later if that is too long a period for the service. */
  async #readNewest(request: RequestPeriod) {
    const { lookbackMs, now } = this.#options;
    const send = (lengthMs: number) => request(isoPeriod(lengthMs));
    const { lengthMs, result: records } = await this.#newestLimit.request(lookbackMs, send);
    // A duration ends when the service reads the request. A second is added because its clock is known to the second.
    return { records, from: now() - lengthMs + 1000 };
  }

  /** The records of at most a day after `since`; undefined if the next poll has to try again. */
  async #readOlder(since: number, now: number, request: RequestPeriod): Promise<Past | undefined> {
    const { binMs, lookbackMs } = this.#options;
    // Whole hours end with a bin, also if the account ignores PORTAL_BIN_SIZE.
    const hours = Math.floor(Math.min(DAY_MS, this.#olderLimit.ms) / HOUR_MS);
    const lengthMs = Math.max(MIN_OLDER_MS, hours * HOUR_MS);
    const to = Math.min(since + lengthMs, now);
    try {
      const records = await request(isoInterval(since, to));
      this.#olderLimit.double(DAY_MS);
      this.#skipMs = HOUR_MS;
      // A bin that does not end within the period is not whole.
      const until = to - binMs;
      return { records: records.filter((record) => timeOf(record, to) <= until), until };
    } catch (error) {
      if (isAborted(error)) throw error;
      if (!mayBeOfPeriod(error)) return undefined;
      this.#olderLimit.halve(lengthMs);
      if (lengthMs > MIN_OLDER_MS) return undefined;
      const unreadUntil = Math.min(since + this.#skipMs, now - lookbackMs);
      this.#skipMs = Math.min(DAY_MS, 2 * this.#skipMs);
      return { records: [], until: unreadUntil, unreadUntil };
    }
  }

  /**
   * The records of a long period that a usual request would return. The time of the newest record decides: if it is too old,
   * the appliance has nothing current.
   */
  #current(newestFirst: readonly JsonObject[], now: number): readonly JsonObject[] {
    const { binMs, lookbackMs } = this.#options;
    const newest = timeOf(newestFirst[0] ?? {}, now);
    const isCurrent = newest >= now - lookbackMs - binMs;
    const earliest = isCurrent ? newest - lookbackMs : now;
    return newestFirst.filter((record) => timeOf(record, now) >= earliest);
  }
}

function timeOf(record: JsonObject, otherwise: number): number {
  const seconds = recordTime(record);
  return seconds === undefined ? otherwise : seconds * 1000;
}

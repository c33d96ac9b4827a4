import type { Family, JsonObject } from '../../metrics/family.ts';
import { LabelledCounter } from '../../metrics/labelled-counter.ts';
import { labelValue, type ReportDrop, type Sample } from '../../metrics/samples.ts';
import { believedTime, parseDateSeconds } from '../../metrics/units.ts';
import { type CountingClock, CountingStart } from '../../runtime/counting-start.ts';
import { SeenIds } from '../../runtime/seen-ids.ts';

/** How the records of a list are events, each with its own `id`, that count once, however often they are listed. */
export interface EventDefinition {
  /** The field with the time of an event. */
  readonly at: string;
  /** Whether the event has happened; default: every record is one. */
  readonly hasHappened?: (record: JsonObject) => boolean;
  readonly counts: readonly Family[];
  /** The time of the newest event, by their labels. */
  readonly latest?: readonly Family[];
}

/** The most events that are remembered. Beyond it those listed longest ago are evicted, and count again if they are listed again. */
const MAX_REMEMBERED = 100_000;

/** How long an event is remembered after it was last listed: longer than any request reaches back. */
const KEEP_MS = 31 * 86_400_000;

/** A query begins this long before the newest event of the queries before, because an event may be listed late. */
const OVERLAP_SECONDS = 900;

/** A query may cover 30 days. It is a minute shorter, in case the clocks differ. */
const MAX_RANGE_SECONDS = 30 * 86_400 - 60;

/**
 * Counts events that happened since the exporter started. Progress is measured by the times of the events, never by this
 * machine's clock, which may be wrong.
 */
export class EventCounter {
  readonly #definition: EventDefinition;
  readonly #clock: CountingClock;
  readonly #start: CountingStart;
  readonly #counts: readonly LabelledCounter[];
  readonly #latest: readonly LabelledCounter[];
  readonly #seen = new SeenIds(MAX_REMEMBERED, KEEP_MS);
  /** Whether a list has been read completely: what is older than the start and is listed later is reported. */
  #hasListed = false;
  /** The newest event, in Unix seconds. */
  #newest: number | undefined;
  /** The newest event of a query that has not ended: the next query continues there. */
  #continueAt: number | undefined;

  constructor(definition: EventDefinition, clock: CountingClock) {
    this.#definition = definition;
    this.#clock = clock;
    this.#start = new CountingStart(clock);
    this.#counts = definition.counts.map((family) => new LabelledCounter(family));
    this.#latest = (definition.latest ?? []).map((family) => new LabelledCounter(family, Math.max));
  }

  /** When a query for events begins, in Unix seconds by the service's clock. */
  get startOfQuery(): number {
    const now = this.#clock.now() / 1000;
    const reached = believedTime(this.#newest ?? this.#start.seconds ?? now, now) - OVERLAP_SECONDS;
    return Math.max(this.#continueAt ?? reached, now - MAX_RANGE_SECONDS);
  }

  /** Called before the records of a list are added. */
  begin(): void {
    this.#seen.begin(this.#clock.monotonic());
  }

  add(record: JsonObject, reportDrop: ReportDrop): void {
    const { at: field, hasHappened = () => true } = this.#definition;
    const eventId = labelValue(record.id);
    const reportedAt = parseDateSeconds(record[field]);
    if (eventId === '' || reportedAt === undefined) {
      reportDrop('record', eventId === '' ? 'id' : field);
      return;
    }
    if (!hasHappened(record)) {
      for (const counter of this.#counts) counter.addZeros(record);
      return;
    }
    const delivery = this.#seen.deliver(eventId);
    if (delivery === 'full') reportDrop('full', 'id');
    const at = believedTime(reportedAt, this.#clock.now() / 1000);
    this.#newest = Math.max(at, this.#newest ?? at);
    if (delivery !== 'unknown') return;
    for (const counter of this.#latest) counter.add(record, at, reportDrop);
    const isCounted = this.#start.includes(reportedAt);
    if (!isCounted && this.#hasListed) reportDrop('late', field);
    // An event from before the start creates its series with the value 0, so that increase() sees the next one.
    for (const counter of this.#counts) counter.add(record, isCounted ? 1 : 0, reportDrop);
  }

  /** Called after each page of a list that is sorted by time: if the next one fails, the next query continues here. */
  continueAtNewest(): void {
    this.#continueAt = this.#newest;
  }

  /** Called after a list has been read completely. */
  end(): void {
    this.#continueAt = undefined;
    this.#hasListed = true;
    this.#seen.forget();
  }

  samples(): readonly Sample[] {
    return [...this.#counts, ...this.#latest].flatMap((counter) => counter.samples());
  }
}

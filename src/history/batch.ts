import type { Cursor, NewPoints } from './new-points.ts';
import type { SeriesPoints } from './write-request.ts';

/** The points of one task that the receiver does not have yet. */
export interface Parcel {
  readonly task: string;
  readonly series: readonly SeriesPoints[];
  readonly count: number;
  /** Its oldest bin, in milliseconds since the Unix epoch. */
  readonly oldest: number;
  /** The task's cursor after it has arrived. */
  readonly cursor: Cursor;
  /** Whether another part of the same bins follows, so that the cursor does not move yet. */
  readonly isPart?: true;
  /** Whether it fills a gap: it was requested over a longer period than usual. */
  readonly closesHole: boolean;
}

/** The parcel of an answer; undefined if it has no new points. */
export function parcelOf(task: string, { series, count, cursor }: NewPoints, closesHole: boolean): Parcel | undefined {
  return cursor === undefined ? undefined : { task, series, count, oldest: oldestOf(series), cursor, closesHole };
}

/** A parcel without the points that have arrived meanwhile; undefined if none are left. */
export function after(parcel: Parcel, arrived: Cursor | undefined): Parcel | undefined {
  if (arrived === undefined) return parcel;
  if (parcel.cursor.at <= arrived.at) return undefined;
  return withSeries(
    parcel,
    within(parcel.series, (time) => time > arrived.at),
  );
}

/** The oldest bin of a parcel, and the rest; the rest is undefined if there is only one bin. */
export function oldestBin(parcel: Parcel): readonly [first: Parcel, rest: Parcel | undefined] {
  return until(parcel, parcel.oldest);
}

/** A parcel up to a moment after its beginning, and the rest; the rest is undefined if there is none. */
export function until(parcel: Parcel, moment: number): readonly [first: Parcel, rest: Parcel | undefined] {
  if (moment >= parcel.cursor.at) return [parcel, undefined];
  const first = withSeries(
    parcel,
    within(parcel.series, (time) => time <= moment),
  );
  const rest = withSeries(
    parcel,
    within(parcel.series, (time) => time > moment),
  );
  const at = Math.max(...first.series.map(({ times }) => times.at(-1) ?? 0));
  return [{ ...first, cursor: { at, sum: undefined }, closesHole: false }, rest];
}

function oldestOf(series: readonly SeriesPoints[]): number {
  return series.reduce((oldest, { times }) => Math.min(oldest, times[0] ?? oldest), Number.POSITIVE_INFINITY);
}

/** A parcel in two, by its series; the second is undefined if there is only one. */
export function halves(parcel: Parcel): readonly [Parcel, Parcel | undefined] {
  const middle = Math.ceil(parcel.series.length / 2);
  const second = parcel.series.slice(middle);
  const first = withSeries(parcel, parcel.series.slice(0, middle));
  return second.length === 0 ? [first, undefined] : [{ ...first, isPart: true }, withSeries(parcel, second)];
}

function withSeries(parcel: Parcel, series: readonly SeriesPoints[]): Parcel {
  const count = series.reduce((sum, { times }) => sum + times.length, 0);
  return { ...parcel, series, count, oldest: oldestOf(series) };
}

function within(series: readonly SeriesPoints[], isWanted: (time: number) => boolean): readonly SeriesPoints[] {
  return series.flatMap(({ labels, times, values }) => {
    const wanted = times.flatMap((time, index) => (isWanted(time) ? [index] : []));
    if (wanted.length === 0) return [];
    const pick = (numbers: readonly number[]) => wanted.map((index) => numbers[index] ?? Number.NaN);
    return [{ labels, times: pick(times), values: pick(values) }];
  });
}

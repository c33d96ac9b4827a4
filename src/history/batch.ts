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
}

export function parcelOf(task: string, { series, cursor }: NewPoints): Parcel | undefined {
  return cursor && withSeries({ task, cursor }, series);
}

export function until(parcel: Parcel, moment: number): Parcel {
  if (moment >= parcel.cursor.at) return parcel;
  const first = within(parcel, (time) => time <= moment);
  const at = Math.max(...first.series.map(({ times }) => times.at(-1) ?? 0));
  return { ...first, cursor: { at, sum: undefined } };
}

export function after(parcel: Parcel, moment: number): Parcel | undefined {
  const rest = within(parcel, (time) => time > moment);
  return rest.count === 0 ? undefined : rest;
}

/** A parcel in two, by its series; the second is undefined if there is only one. */
export function halves(parcel: Parcel): readonly [Parcel, Parcel | undefined] {
  const middle = Math.ceil(parcel.series.length / 2);
  const second = parcel.series.slice(middle);
  const first = withSeries(parcel, parcel.series.slice(0, middle));
  return second.length === 0 ? [first, undefined] : [{ ...first, isPart: true }, withSeries(parcel, second)];
}

function withSeries(parcel: Omit<Parcel, 'series' | 'count' | 'oldest'>, series: readonly SeriesPoints[]): Parcel {
  const count = series.reduce((sum, { times }) => sum + times.length, 0);
  const oldest = series.reduce((least, { times }) => Math.min(least, times[0] ?? least), Number.POSITIVE_INFINITY);
  return { ...parcel, series, count, oldest };
}

function within(parcel: Parcel, isWanted: (time: number) => boolean): Parcel {
  const series = parcel.series.flatMap(({ labels, times, values }) => {
    const wanted = times.flatMap((time, index) => (isWanted(time) ? [index] : []));
    if (wanted.length === 0) return [];
    const pick = (numbers: readonly number[]) => wanted.map((index) => numbers[index] ?? Number.NaN);
    return [{ labels, times: pick(times), values: pick(values) }];
  });
  return withSeries(parcel, series);
}

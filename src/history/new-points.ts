import type { PeriodPoints } from '../contract/poll-result.ts';
import type { Labels } from '../metrics/family.ts';
import type { Sample } from '../metrics/samples.ts';
import { getOrCreate, increment } from '../runtime/maps.ts';
import type { SeriesPoints } from './write-request.ts';

/**
 * Selects the points of an answer to send: those newer than what has arrived, oldest first, each time once.
 *
 * A bin is sent when it is whole: the answer covers its beginning, and there is a newer bin. The newest one may be
 * incomplete, because the appliance's report may end within it, and the answer does not say so. It is also complete some
 * time after its end, when two reports of the appliance are missing, because then nothing more arrives for it.
 */

/** Of one task. */
export interface Cursor {
  /** The newest bin that the receiver has, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** A checksum of that bin's values, if known. */
  readonly sum: number | undefined;
}

/** Why a point of an answer is not sent; part of the label `reason`. */
export type Unfit = 'duplicate' | 'future' | 'changed';

/** How long services keep history. */
export const MAX_PAST_MS = 30 * 86_400_000;

/** How long after its end a bin waits for a newer one: an appliance reports every five minutes. */
export const WHOLE_AFTER_MS = 600_000;

/** The clocks of appliances differ; a later bin is not valid. */
const FUTURE_MS = 300_000;

interface Growing extends SeriesPoints {
  readonly times: number[];
  readonly values: number[];
}

interface Own {
  readonly binMs: number;
  readonly labels?: Labels;
  /** By the clock of the service. */
  readonly now: number;
  readonly end?: number;
}

export function newPoints(
  points: PeriodPoints,
  after: Cursor,
  { binMs, labels = {}, now, end = Number.POSITIVE_INFINITY }: Own,
) {
  const series = new Map<string, Growing>();
  const unfit = new Map<Unfit, number>();
  const bins = new Map<number, Sample[]>();
  for (const point of points) {
    if (point.at === undefined) continue;
    const time = Math.round(point.at * 1000);
    if (time > now + FUTURE_MS) {
      increment(unfit, 'future');
      continue;
    }
    getOrCreate(bins, time, () => []).push(point);
  }
  const times = [...bins.keys()].sort((one, other) => one - other);
  const newest = times.at(-1);
  const held = after.at < points.coveredFrom ? undefined : bins.get(after.at);
  if (after.sum !== undefined && held !== undefined && checksum(held) !== after.sum) increment(unfit, 'changed');
  const isWhole = (time: number) =>
    time >= points.coveredFrom && (time !== newest || now - time - binMs >= WHOLE_AFTER_MS);
  const used = times.filter((time) => isWhole(time) && time > after.at && time < end);
  let sent = 0;
  for (const time of used) {
    for (const point of bins.get(time) ?? []) {
      if (append(series, point, time, labels)) sent += 1;
      else increment(unfit, 'duplicate');
    }
  }
  const last = used.at(-1);
  const reached: Cursor | undefined =
    last === undefined ? undefined : { at: last, sum: checksum(bins.get(last) ?? []) };
  return {
    series: [...series.values()],
    count: sent,
    unfit,
    /** How many different times the new points have. */
    bins: used.length,
    /** The cursor after all of them have arrived; undefined without new points. */
    cursor: reached,
  };
}

export type NewPoints = ReturnType<typeof newPoints>;

/** False if the series has a point of that time: the first one is used. */
function append(series: Map<string, Growing>, { name, labels, value }: Sample, time: number, own: Labels): boolean {
  let key = name;
  for (const label in labels) key += `\n${label}\n${labels[label]}`;
  const known = getOrCreate(series, key, () => {
    return { labels: sortedLabels({ ...own, ...labels, __name__: name }), times: [], values: [] };
  });
  if (known.times.at(-1) === time) return false;
  known.times.push(time);
  known.values.push(value);
  return true;
}

/** Labels as the protocol requires: sorted by name, none empty. */
function sortedLabels(labels: Labels): SeriesPoints['labels'] {
  const given = Object.entries(labels).filter(([, value]) => value !== '');
  return given.sort(([one], [other]) => (one < other ? -1 : 1));
}

function checksum(bin: readonly Sample[]): number {
  let sum = 0;
  for (const { value } of bin) {
    for (const character of String(value)) sum = (Math.imul(sum, 31) + character.charCodeAt(0)) | 0;
    sum = (Math.imul(sum, 31) + 10) | 0;
  }
  return sum;
}

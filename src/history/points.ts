import type { Bin } from '../contract/minutes.ts';
import type { Labels } from '../metrics/family.ts';
import { shortenLabel } from '../metrics/label-value.ts';
import type { ReportDrop, Sample } from '../metrics/samples.ts';
import { getOrCreate, increment } from '../runtime/maps.ts';
import type { TimeSeries } from './write-request.ts';

/**
 * Why a point of a response is not sent; part of the label `reason`. `late`: it is older than what was delivered, and was
 * not there before.
 */
export type UnusedReason = 'duplicate' | 'future' | 'late' | 'invalid';

/** How long after its end a bin waits for a newer one: an appliance reports every five minutes. */
const BIN_COMPLETE_AFTER_MS = 600_000;

/** The clocks of appliances differ; a later bin is not valid. */
export const FUTURE_MS = 300_000;

interface SelectOptions {
  readonly from: number;
  /** Excluded. */
  readonly to: number;
  readonly binMs: number;
  readonly labels: Labels;
  /** By the clock of the service. */
  readonly now: number;
}

export interface SelectedPoints {
  readonly series: readonly TimeSeries[];
  readonly count: number;
  /** The different times of the points and of values that cannot be used, ascending. */
  readonly times: readonly number[];
}

interface GrowingSeries extends TimeSeries {
  readonly times: number[];
  readonly values: number[];
}

/**
 * Selects the points of the complete bins of a period, oldest first. A bin is complete when there is a newer one: the
 * newest may be incomplete, because the appliance's report may end within it, and the response does not say so. Some time
 * after its end it is complete too, because then two reports of the appliance are missing and nothing more arrives for it.
 */
export function* selectPoints(
  bins: Iterable<Bin>,
  { from, to, binMs, labels, now }: SelectOptions,
  unused: Map<string, number>,
): Generator<void, SelectedPoints> {
  const known: Bin[] = [];
  for (const bin of bins) {
    if (bin.at <= now + FUTURE_MS) known.push(bin);
    else increment(unused, 'future', bin.samples(() => {}).length);
  }
  const newest = known.reduce((latest, { at }) => Math.max(latest, at), Number.NEGATIVE_INFINITY);
  const isComplete = (at: number) => at !== newest || now - at - binMs >= BIN_COMPLETE_AFTER_MS;
  const used = known
    .filter(({ at }) => at >= from && at < to && isComplete(at))
    .sort((one, other) => one.at - other.at);
  const series = new Map<string, GrowingSeries>();
  const times = new Set<number>();
  let count = 0;
  for (const { at, samples } of used) {
    const reportDrop: ReportDrop = (reason) => {
      if (reason !== 'invalid') return;
      increment(unused, reason);
      // It is counted once, so this bin is not requested again.
      times.add(at);
    };
    for (const sample of samples(reportDrop)) {
      if (append(series, sample, at, labels)) count += 1;
      else increment(unused, 'duplicate');
      times.add(at);
    }
    yield;
  }
  return { series: [...series.values()], count, times: [...times] };
}

/** Returns false if the series has a point of that time: the first one is used. */
function append(
  series: Map<string, GrowingSeries>,
  { name, labels, value }: Sample,
  time: number,
  added: Labels,
): boolean {
  let key = name;
  for (const label in labels) key += `\n${label}\n${labels[label]}`;
  const existing = getOrCreate(series, key, () => {
    return { labels: sortedLabels({ ...added, ...labels, __name__: name }), times: [], values: [] };
  });
  if (existing.times.at(-1) === time) return false;
  existing.times.push(time);
  existing.values.push(value);
  return true;
}

/** Labels as the protocol requires, sorted by name and none empty, and with the values that `/metrics` shows. */
function sortedLabels(labels: Labels): TimeSeries['labels'] {
  const pairs = Object.entries(labels).flatMap(([name, value]) => {
    return value === '' ? [] : [[name, shortenLabel(value)] as const];
  });
  return pairs.sort(([one], [other]) => (one < other ? -1 : 1));
}

import { formatLabels, formatValue } from '../../exposition/format.ts';
import type { Labels } from '../../metrics/family.ts';
import { getOrCreate } from '../../runtime/maps.ts';
import type { TimeSeries } from '../write-request.ts';

/** The number of lines in one piece, which has some ten thousand bytes. */
const LINES_A_PIECE = 200;

/** Returns lines in OpenMetrics by family. Every series with a history is a gauge. */
export function linesByFamily(series: Iterable<TimeSeries>): ReadonlyMap<string, Iterable<string>> {
  const families = new Map<string, TimeSeries[]>();
  for (const one of series) {
    const name = new Map(one.labels).get('__name__') ?? '';
    getOrCreate(families, name, () => []).push(one);
  }
  return new Map([...families].map(([name, all]) => [name, linesOf(all)]));
}

function* linesOf(series: readonly TimeSeries[]): Generator<string> {
  for (const { labels, times, values } of series) {
    const { __name__: name = '', ...others } = Object.fromEntries(labels) as Labels;
    const start = `${name}${formatLabels(others)} `;
    let piece = '';
    for (const [index, time] of times.entries()) {
      // Times in OpenMetrics are Unix seconds.
      piece += `${start}${formatValue(values[index] ?? Number.NaN)} ${time / 1000}\n`;
      if (index % LINES_A_PIECE < LINES_A_PIECE - 1) continue;
      yield piece;
      piece = '';
    }
    if (piece !== '') yield piece;
  }
}

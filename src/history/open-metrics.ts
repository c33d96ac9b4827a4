import { formatValue, labelText } from '../exposition/format.ts';
import type { Labels } from '../metrics/family.ts';
import type { SeriesPoints } from './write-request.ts';

/** Lines in one piece: some ten thousand bytes. */
const LINES_A_PIECE = 200;

/** The lines of one series in OpenMetrics, each with its own time, in pieces for a stream. */
export function* seriesLines({ labels, times, values }: SeriesPoints): Generator<string> {
  const named = Object.fromEntries(labels) as Labels;
  const { __name__: name = '', ...others } = named;
  const start = `${name}${labelText(others, { cut: 0, duplicates: 0 })} `;
  let piece = '';
  for (const [index, time] of times.entries()) {
    // OpenMetrics has Unix seconds.
    piece += `${start}${formatValue(values[index] ?? Number.NaN)} ${time / 1000}\n`;
    if (index % LINES_A_PIECE < LINES_A_PIECE - 1) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** The family of a series: every series with a history is a gauge with the name of its family. */
export function familyOf({ labels }: Pick<SeriesPoints, 'labels'>): string {
  return labels.find(([name]) => name === '__name__')?.[1] ?? '';
}

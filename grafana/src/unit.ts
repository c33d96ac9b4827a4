import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Dimension, dimensionOf } from './dimension.ts';

/**
 * Returns Grafana's unit for the numbers of these queries, from the units in the catalogue. Throws if the queries have
 * different units.
 */
export function unitOf(queries: readonly string[]): string {
  const found = new Set(queries.map((query) => grafanaUnit(dimensionOf(query), query)));
  const [unit, ...others] = found;
  if (unit === undefined || others.length > 0) {
    throw new Error(`expected queries of one unit, found ${[...found].join(', ')}: ${queries.join(' | ')}`);
  }
  return unit;
}

/** Numbers that are counted per second: operations of disks, and requests. */
export const RATE = 'suffix:/s';

/** Units by the powers of seconds and bytes. */
const byPowers: Readonly<Record<string, string>> = {
  '1 0': units.Seconds,
  '-1 0': RATE,
  '0 1': units.BytesIEC,
  '-1 1': units.BytesPerSecondIEC,
};

function grafanaUnit({ seconds, bytes, share }: Dimension, query: string): string {
  if (seconds === 0 && bytes === 0) return share ? units.PercentUnit : units.LocaleFormat;
  const unit = byPowers[`${seconds} ${bytes}`];
  if (unit === undefined) throw new Error(`${query}: no unit for seconds^${seconds} bytes^${bytes}`);
  return unit;
}

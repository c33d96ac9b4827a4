import type { Family } from '../../../metrics/family.ts';
import {
  bytes,
  type Conversion,
  decimal,
  kibibytes,
  milliseconds,
  percent,
  plain,
  ratio,
  seconds,
} from '../../../metrics/units.ts';

/*
 * The units of telemetry. A value is read in its documented unit, however large it is: only `PORTAL_UNITS` changes that.
 */

export const memory: Conversion<'bytes'> = { ...kibibytes };

export const latency: Conversion<'seconds'> = { ...milliseconds };

export const requests: Conversion<'none'> = { ...plain, upstream: 'number in the bin' };

interface OtherUnit {
  /** The question that the doctor asks, and its answer. */
  readonly question: string;
  readonly answer: string;
  /** The conversion of the rows that have it, from the documented unit. */
  readonly documented: Conversion;
  readonly read: (binSeconds: number) => Conversion['read'];
}

export const otherUnits = {
  ratio: { question: 'ratio_unit', answer: 'ratio', documented: percent, read: () => ratio.read },
  memory_bytes: { question: 'memory_unit', answer: 'bytes', documented: memory, read: () => bytes.read },
  latency_seconds: { question: 'latency_unit', answer: 'seconds', documented: latency, read: () => seconds.read },
  requests_per_second: {
    ...{ question: 'counts', answer: 'per_second', documented: requests },
    read: (binSeconds) => (raw) => {
      const rate = decimal(raw);
      return rate === undefined ? undefined : decimal(rate * binSeconds);
    },
  },
} as const satisfies Record<string, OtherUnit>;

export type UnitName = keyof typeof otherUnits;

export const unitNames = Object.keys(otherUnits) as readonly UnitName[];

export function inUnits(
  families: readonly Family[],
  units: readonly UnitName[],
  binSeconds: number,
): readonly Family[] {
  return families.map((family) => {
    const unit = units.map((name): OtherUnit => otherUnits[name]).find(({ documented }) => documented === family.from);
    return unit === undefined
      ? family
      : ({ ...family, from: { ...family.from, read: unit.read(binSeconds) } } as Family);
  });
}

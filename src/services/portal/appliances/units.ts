import type { Family } from '../../../metrics/family.ts';
import {
  bytes,
  type Conversion,
  kibibytes,
  milliseconds,
  parseDecimal,
  percent,
  ratio,
  seconds,
  unitless,
} from '../../../metrics/units.ts';

/*
 * The units of telemetry. A value is read in its documented unit, however large it is, unless `PORTAL_UNITS` states another.
 */

export const memory: Conversion<'bytes'> = { ...kibibytes };

export const latency: Conversion<'seconds'> = { ...milliseconds };

export const requests: Conversion<'none'> = { ...unitless };

interface AlternativeUnit {
  /** The doctor's question about the unit, and the answer that means this alternative. */
  readonly question: string;
  readonly answer: string;
  /** The conversion from the documented unit, by which the families that have the unit are found. */
  readonly documented: Conversion;
  readonly read: (binSeconds: number) => Conversion['read'];
}

export const alternativeUnits = {
  ratio: { question: 'ratio_unit', answer: 'ratio', documented: percent, read: () => ratio.read },
  memory_bytes: { question: 'memory_unit', answer: 'bytes', documented: memory, read: () => bytes.read },
  latency_seconds: { question: 'latency_unit', answer: 'seconds', documented: latency, read: () => seconds.read },
  requests_per_second: {
    question: 'counts',
    answer: 'per_second',
    documented: requests,
    read: (binSeconds) => (raw) => {
      const rate = parseDecimal(raw);
      return rate === undefined ? undefined : parseDecimal(rate * binSeconds);
    },
  },
} as const satisfies Record<string, AlternativeUnit>;

export type UnitName = keyof typeof alternativeUnits;

export const unitNames = Object.keys(alternativeUnits) as readonly UnitName[];

export function applyUnits(
  families: readonly Family[],
  units: readonly UnitName[],
  binSeconds: number,
): readonly Family[] {
  return families.map((family) => {
    const unit = units
      .map((name): AlternativeUnit => alternativeUnits[name])
      .find(({ documented }) => documented === family.from);
    return unit === undefined
      ? family
      : ({ ...family, from: { ...family.from, read: unit.read(binSeconds) } } as Family);
  });
}

import type { Family, Fields } from '../../../metrics/family.ts';
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
 * The units of telemetry. A value is read in its documented unit. Only a record that is impossible in it is converted, by
 * itself: its numbers say nothing about other records. What an account sends otherwise is set in `PORTAL_UNITS`.
 */

/** More than any appliance has in KiB: 3 TiB. */
const MOST_MEMORY_KIB = 3 * 2 ** 30;

export function memoryIn({ total, memory_used, memory_cached, memory_buffered }: Fields): number | undefined {
  const parts = [memory_used, memory_cached, memory_buffered].flatMap((part) => decimal(part) ?? []);
  const sum = parts.length === 0 ? undefined : parts.reduce((all, part) => all + part);
  return decimal(total) ?? sum;
}

/** Whether a record is impossible in the documented unit, and so in bytes. */
export function isMemoryInBytes(record: Fields): boolean {
  return (memoryIn(record) ?? 0) > MOST_MEMORY_KIB;
}

export const memory: Conversion<'bytes'> = {
  ...kibibytes,
  read: (raw, record = {}) => (isMemoryInBytes(record) ? bytes : kibibytes).read(raw),
};

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

import { type Family, type Fields, isEveryOtherField } from '../../../metrics/family.ts';
import type { NoteDrop } from '../../../metrics/samples.ts';
import {
  type Conversion,
  decimal,
  epochMilliseconds,
  kibibytes,
  latencyMilliseconds,
  medianOf,
  percent,
} from '../../../metrics/units.ts';
import { type Variant, VariantVerdict, variantsOf } from '../../../metrics/variant.ts';
import type { Log } from '../../../runtime/log.ts';

/** More than any appliance has in KiB, and less than any has in bytes: 2.8 TiB, and 2.8 GiB. */
const MEMORY_BORDER = 3e9;

/** Epoch seconds reach this in the year 5138, epoch milliseconds reached it in 1973. */
const TIME_BORDER = 1e11;

/** The median time of a disk operation is above it in milliseconds (20 microseconds) and below it in seconds (20 ms). */
const LATENCY_BORDER = 0.02;
/** A median needs at least this many values. */
const LATENCY_VALUES = 8;

/** With this many values of a cache, none above 1, they are ratios: a cache in use is more than one percent full. */
const SMALL_VALUES = 10;

/** A unit that the documentation leaves open, which the numbers themselves show. */
interface OpenUnit {
  readonly question: string;
  /** The conversion of the rows that have it; from the documented unit. */
  readonly from: Conversion;
  readonly documented: string;
  /** The other unit, and the factor from it to the documented one. */
  readonly other: string;
  readonly scale: number;
  /** What an answer shows: one of the two units, or nothing. */
  readonly evidence: (operation: string, records: readonly Fields[]) => string | undefined;
}

const OPEN_UNITS: readonly OpenUnit[] = [
  { question: 'ratio_unit', from: percent, documented: 'percent', other: 'ratio', scale: 100, evidence: ratioUnit },
  {
    question: 'memory_unit',
    from: kibibytes,
    documented: 'kilobytes',
    other: 'bytes',
    scale: 1 / 1024,
    evidence: memoryUnit,
  },
  {
    question: 'time_unit',
    from: epochMilliseconds,
    documented: 'milliseconds',
    other: 'seconds',
    scale: 1000,
    evidence: timeUnit,
  },
  {
    question: 'latency_unit',
    from: latencyMilliseconds,
    documented: 'milliseconds',
    other: 'seconds',
    scale: 1000,
    evidence: latencyUnit,
  },
];

/**
 * The units of the polled account: learned from every answer, applied before a table, and logged once. Values are scaled
 * to the documented unit.
 */
export class Dialect {
  readonly #units = OPEN_UNITS.map((unit) => ({ ...unit, verdict: new VariantVerdict<string>() }));
  readonly #log: Log;
  /** Series and fields that have held implausible values. */
  readonly #implausible = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  get variants(): readonly Variant[] {
    return variantsOf(Object.fromEntries(this.#units.map(({ question, verdict }) => [question, verdict.answer])));
  }

  get notes(): readonly string[] {
    const converted = this.#units.filter(({ verdict, other }) => verdict.answer === other);
    return [
      ...converted.map(
        ({ question, other }) =>
          `This account sends its ${question.replace('_', ' ')} as ${other}; the exporter converts it.`,
      ),
      ...[...this.#implausible].map((place) => `${place} has held implausible values; they have no sample.`),
    ];
  }

  /**
   * The rows and records of an answer to which a table may be applied; learns from them first. A row whose unit is
   * disputed is left out: while answers contradict each other, no number is better than a wrong one.
   */
  read(operation: string, families: readonly Family[], sent: readonly Fields[], note: NoteDrop) {
    this.learn(operation, sent);
    const undisputed = families.filter(({ from, name }) => {
      const isDisputed = this.#units.some((unit) => unit.from === from && unit.verdict.isDisputed);
      if (isDisputed) note('implausible', name);
      return !isDisputed;
    });
    return { families: undisputed, records: this.#translated(undisputed, sent) };
  }

  learn(operation: string, records: readonly Fields[]): void {
    for (const { question, documented, evidence, verdict } of this.#units) {
      const answer = evidence(operation, records);
      if (!verdict.take(answer) || answer === documented) continue;
      const message = 'account uses another unit than documented; values converted';
      this.#log.warn({ api: 'portal', question, answer }, message);
    }
  }

  /** Logs the first implausible value of each field. */
  watched(operation: string, note: NoteDrop): NoteDrop {
    return (reason, place) => {
      note(reason, place);
      const field = `${operation} ${place}`;
      if (reason !== 'implausible' || this.#implausible.has(field)) return;
      this.#implausible.add(field);
      this.#log.warn({ api: 'portal', operation, field: place }, 'implausible value dropped');
    };
  }

  /** The factor that converts a value to the unit in the table. */
  readonly scaleOf = (from: Conversion): number =>
    this.#units.find((unit) => unit.from === from && unit.verdict.answer === unit.other)?.scale ?? 1;

  #translated(families: readonly Family[], records: readonly Fields[]): readonly Fields[] {
    const scales = new Map([['time', this.scaleOf(epochMilliseconds)]]);
    for (const { fields, from } of families) {
      if (!isEveryOtherField(fields)) for (const field of Object.keys(fields)) scales.set(field, this.scaleOf(from));
    }
    const needed = [...scales].filter(([, scale]) => scale !== 1);
    if (needed.length === 0) return records;
    return records.map((record) => {
      const scaled = needed.flatMap(([field, scale]) => {
        const value = decimal(record[field]);
        return value === undefined ? [] : [[field, value * scale] as const];
      });
      return { ...record, ...Object.fromEntries(scaled) };
    });
  }
}

function timeUnit(_: string, records: readonly Fields[]): string | undefined {
  const time = decimal(records[0]?.time);
  if (time === undefined || time < 1e8) return undefined;
  return time < TIME_BORDER ? 'seconds' : 'milliseconds';
}

function ratioUnit(operation: string, records: readonly Fields[]): string | undefined {
  if (operation === 'memory_utilization_details') return firstAnswer(records, ratioByParts);
  if (operation !== 'cache_utilization') return undefined;
  const values = records.map((one) => decimal(one.cache_utilization) ?? 0).filter((value) => value > 0);
  if (values.some((value) => value > 1)) return 'percent';
  return values.length >= SMALL_VALUES ? 'ratio' : undefined;
}

/** `utilization` is documented as (total - available) / total in percent, so the record itself shows its unit. */
function ratioByParts({ total, available, utilization }: Fields): string | undefined {
  const [all, left, told] = [decimal(total), decimal(available), decimal(utilization)];
  if (all === undefined || left === undefined || told === undefined || all <= 0) return undefined;
  const ratio = (all - left) / all;
  if (ratio < 0.02) return undefined;
  if (Math.abs(told / 100 - ratio) < 0.25 * ratio) return 'percent';
  return Math.abs(told - ratio) < 0.25 * ratio ? 'ratio' : undefined;
}

function memoryUnit(operation: string, records: readonly Fields[]): string | undefined {
  if (!operation.startsWith('memory_utilization')) return undefined;
  return firstAnswer(records, ({ total, memory_used, memory_cached, memory_buffered }) => {
    const parts = [memory_used, memory_cached, memory_buffered].map((part) => decimal(part) ?? 0);
    const all = decimal(total) ?? parts.reduce((sum, part) => sum + part, 0);
    if (all < 100_000) return undefined;
    return all < MEMORY_BORDER ? 'kilobytes' : 'bytes';
  });
}

function firstAnswer(records: readonly Fields[], read: (record: Fields) => string | undefined): string | undefined {
  for (const record of records) {
    const answer = read(record);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function latencyUnit(operation: string, records: readonly Fields[]): string | undefined {
  if (!operation.endsWith('_disk_io_latency')) return undefined;
  const values = records
    .flatMap(({ read_latency, write_latency }) => [decimal(read_latency) ?? 0, decimal(write_latency) ?? 0])
    .filter((value) => value > 0);
  if (values.length < LATENCY_VALUES) return undefined;
  return (medianOf(values) ?? 1) < LATENCY_BORDER ? 'seconds' : 'milliseconds';
}

import { type Family, type Fields, isEveryOtherField } from '../../../metrics/family.ts';
import type { NoteDrop } from '../../../metrics/samples.ts';
import {
  type Conversion,
  decimal,
  epochMilliseconds,
  kibibytes,
  latencyMilliseconds,
  percent,
} from '../../../metrics/units.ts';
import { type Variant, VariantVerdict } from '../../../metrics/variant.ts';

/**
 * Detects units that the documentation leaves open (upstream-api.md 7) from the numbers themselves. Doctor and exporter
 * use the same detection: each answer is evidence, and values are scaled to the documented unit before a table is
 * applied.
 */

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

type Question = 'ratio_unit' | 'memory_unit' | 'time_unit' | 'latency_unit';

/** What one answer of a series shows, by question; only the questions that it answers. */
export function evidenceIn(operation: string, records: readonly Fields[]): Partial<Record<Question, string>> {
  const found: Partial<Record<Question, string>> = {};
  const add = (question: Question, answer: string | undefined) => {
    if (answer !== undefined) found[question] = answer;
  };
  add('time_unit', timeUnit(records));
  if (operation === 'memory_utilization_details') add('ratio_unit', first(records, ratioByParts));
  if (operation === 'cache_utilization') add('ratio_unit', ratioBySize(records));
  if (operation.startsWith('memory_utilization')) add('memory_unit', first(records, memoryUnit));
  if (operation.endsWith('_disk_io_latency')) add('latency_unit', latencyUnit(records));
  return found;
}

const QUESTION_OF: ReadonlyMap<Conversion, Question> = new Map<Conversion, Question>([
  [percent, 'ratio_unit'],
  [kibibytes, 'memory_unit'],
  [epochMilliseconds, 'time_unit'],
  [latencyMilliseconds, 'latency_unit'],
]);

/** The units of one account, as detected from its answers. */
export class Dialect {
  readonly #verdicts: Readonly<Record<Question, VariantVerdict<string>>> = {
    ratio_unit: new VariantVerdict(),
    memory_unit: new VariantVerdict(),
    time_unit: new VariantVerdict(),
    latency_unit: new VariantVerdict(),
  };

  /** Takes an answer's records as evidence; returns what has changed. */
  learn(operation: string, records: readonly Fields[]): readonly Variant[] {
    return Object.entries(evidenceIn(operation, records)).flatMap(([question, answer]) =>
      this.#verdicts[question as Question].take(answer) ? [{ question, answer }] : [],
    );
  }

  get variants(): readonly Variant[] {
    return Object.entries(this.#verdicts).flatMap(([question, { answer }]) =>
      answer === undefined ? [] : [{ question, answer }],
    );
  }

  /**
   * The rows of a table whose unit is certain: while answers contradict each other, no number is better than a wrong
   * one.
   */
  undisputed(families: readonly Family[], note: NoteDrop): readonly Family[] {
    return families.filter((family) => {
      const question = QUESTION_OF.get(family.from);
      const isDisputed = question !== undefined && this.#verdicts[question].isDisputed;
      if (isDisputed) note('implausible', family.name);
      return !isDisputed;
    });
  }

  /** Records with every number, including the times, in the unit that the table names. */
  translated(families: readonly Family[], records: readonly Fields[]): readonly Fields[] {
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

  /** The factor that converts a value to the unit in the table. */
  readonly scaleOf = (from: Conversion): number => {
    if (from === percent && this.#verdicts.ratio_unit.answer === 'ratio') return 100;
    if (from === kibibytes && this.#verdicts.memory_unit.answer === 'bytes') return 1 / 1024;
    if (from === epochMilliseconds && this.#verdicts.time_unit.answer === 'seconds') return 1000;
    return from === latencyMilliseconds && this.#verdicts.latency_unit.answer === 'seconds' ? 1000 : 1;
  };
}

function first(records: readonly Fields[], read: (record: Fields) => string | undefined): string | undefined {
  for (const record of records) {
    const answer = read(record);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function timeUnit(records: readonly Fields[]): string | undefined {
  const time = decimal(records[0]?.time);
  if (time === undefined || time < 1e8) return undefined;
  return time < TIME_BORDER ? 'seconds' : 'milliseconds';
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

function ratioBySize(records: readonly Fields[]): string | undefined {
  const values = records.map((one) => decimal(one.cache_utilization) ?? 0).filter((value) => value > 0);
  if (values.some((value) => value > 1)) return 'percent';
  return values.length >= SMALL_VALUES ? 'ratio' : undefined;
}

function memoryUnit({ total, memory_used, memory_cached, memory_buffered }: Fields): string | undefined {
  const parts = [memory_used, memory_cached, memory_buffered].map((part) => decimal(part) ?? 0);
  const all = decimal(total) ?? parts.reduce((sum, part) => sum + part, 0);
  if (all < 100_000) return undefined;
  return all < MEMORY_BORDER ? 'kilobytes' : 'bytes';
}

function latencyUnit(records: readonly Fields[]): string | undefined {
  const values = records
    .flatMap(({ read_latency, write_latency }) => [decimal(read_latency) ?? 0, decimal(write_latency) ?? 0])
    .filter((value) => value > 0)
    .sort((one, other) => one - other);
  if (values.length < LATENCY_VALUES) return undefined;
  return (values[Math.floor(values.length / 2)] ?? 1) < LATENCY_BORDER ? 'seconds' : 'milliseconds';
}

import type { JsonObject } from '../../../metrics/family.ts';
import { medianOf, parseDecimal } from '../../../metrics/units.ts';
import { alternativeUnits, type UnitName, unitNames } from './units.ts';

/** What an answer shows of a unit. It advises people: no number is read differently by it. */
export interface UnitEvidence {
  readonly question: string;
  readonly answer: string;
  /** No other answer is possible. */
  readonly isProof: boolean;
}

/** The value of `PORTAL_UNITS` that fits all evidence; the same list if it fits already. */
export function recommendedUnits(units: readonly UnitName[], shown: readonly UnitEvidence[]): readonly UnitName[] {
  return shown.reduce((advised, { question, answer, isProof }) => {
    const name = unitNames.find((one) => alternativeUnits[one].question === question);
    if (name === undefined) return advised;
    if (answer === alternativeUnits[name].answer) return advised.includes(name) ? advised : advised.concat(name);
    return isProof && advised.includes(name) ? advised.filter((one) => one !== name) : advised;
  }, units);
}

/** Epoch seconds reach this in the year 5138, epoch milliseconds reached it in 1973. */
const TIME_BORDER = 1e11;

/** In KiB less than an appliance of 1 GB has in bytes, and more than most have: 1 TB. */
const MUCH_MEMORY = 1e9;

/** More than any appliance has, in KiB: 3 TiB. */
const MAX_MEMORY_KIB = 3 * 2 ** 30;

/** The median time of a disk operation is above it in milliseconds (20 microseconds) and below it in seconds (20 ms). */
const LATENCY_BORDER = 0.02;
const LATENCY_VALUES = 8;

export function detectUnits(operation: string, records: readonly JsonObject[]): readonly UnitEvidence[] {
  const shown = [timeUnit(records)];
  if (operation === 'memory_utilization_details') shown.push(firstOf(records, ratioUnit));
  if (operation.startsWith('memory_utilization')) shown.push(firstOf(records, memoryUnit));
  if (operation.endsWith('_disk_io_latency')) shown.push(latencyUnit(records));
  return shown.filter((one) => one !== undefined);
}

function firstOf(records: readonly JsonObject[], read: (record: JsonObject) => UnitEvidence | undefined) {
  for (const record of records) {
    const evidence = read(record);
    if (evidence !== undefined) return evidence;
  }
  return undefined;
}

function timeUnit([record]: readonly JsonObject[]): UnitEvidence | undefined {
  const time = parseDecimal(record?.time) ?? 0;
  if (time < 1e8) return undefined;
  return { question: 'time_unit', answer: time < TIME_BORDER ? 'seconds' : 'milliseconds', isProof: true };
}

/** `utilization` is documented as (total - available) / total in percent, so the record itself shows its unit. */
function ratioUnit({ total, available, utilization }: JsonObject): UnitEvidence | undefined {
  const [all, left, told] = [parseDecimal(total), parseDecimal(available), parseDecimal(utilization)];
  if (all === undefined || left === undefined || told === undefined || all <= 0) return undefined;
  const share = (all - left) / all;
  const isNear = (value: number) => share >= 0.02 && Math.abs(value - share) < 0.25 * share;
  if (!isNear(told / 100) && !isNear(told)) return undefined;
  return { question: 'ratio_unit', answer: isNear(told) ? 'ratio' : 'percent', isProof: true };
}

function memoryUnit(record: JsonObject): UnitEvidence | undefined {
  const all = memoryIn(record) ?? 0;
  if (all < 100_000) return undefined;
  const answer = all > MUCH_MEMORY ? 'bytes' : 'kilobytes';
  return { question: 'memory_unit', answer, isProof: answer === 'kilobytes' || all > MAX_MEMORY_KIB };
}

function memoryIn({ total, memory_used, memory_cached, memory_buffered }: JsonObject): number | undefined {
  const parts = [memory_used, memory_cached, memory_buffered].flatMap((part) => parseDecimal(part) ?? []);
  const sum = parts.length === 0 ? undefined : parts.reduce((all, part) => all + part);
  return parseDecimal(total) ?? sum;
}

function latencyUnit(records: readonly JsonObject[]): UnitEvidence | undefined {
  const values = records
    .flatMap(({ read_latency, write_latency }) => [parseDecimal(read_latency) ?? 0, parseDecimal(write_latency) ?? 0])
    .filter((value) => value > 0);
  if (values.length < LATENCY_VALUES) return undefined;
  const answer = (medianOf(values) ?? 1) < LATENCY_BORDER ? 'seconds' : 'milliseconds';
  return { question: 'latency_unit', answer, isProof: false };
}

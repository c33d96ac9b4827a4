import type { Answer } from '../../../doctor/service-check.ts';
import type { JsonObject } from '../../../metrics/family.ts';
import { medianOf, parseDecimal } from '../../../metrics/units.ts';
import type { Exchange } from '../../../transport/json-client.ts';
import { alternativeUnits, type UnitName, unitNames } from '../appliances/units.ts';
import { objectOrEmpty, objectsOrEmpty } from '../records.ts';

/** What a response shows about a unit. It is only for people: it never changes how a number is read. */
export interface UnitEvidence {
  readonly question: string;
  readonly answer: string;
  /** Whether no other answer is possible. */
  readonly isProof: boolean;
}

/**
 * Returns one answer to each question about a unit, from the series responses and `additional` evidence, with advice if
 * `PORTAL_UNITS` states another unit.
 */
export function unitAnswers(
  units: readonly UnitName[],
  exchanges: readonly Exchange[],
  additional: readonly UnitEvidence[],
): readonly Answer[] {
  const evidence = exchanges.flatMap(({ operation, status, body }) =>
    status === 200 ? detectUnits(operation, objectsOrEmpty(objectOrEmpty(body).items)) : [],
  );
  const isNew = ({ question }: UnitEvidence) => evidence.every((candidate) => candidate.question !== question);
  const all = [...evidence, ...additional.filter(isNew)];
  const decisive = [...new Set(all.map(({ question }) => question))].flatMap((question) => {
    const ofQuestion = all.filter((candidate) => candidate.question === question);
    // Evidence for the documented unit has priority: one fast disk or one small appliance may look like another unit.
    return ofQuestion.find((candidate) => recommendedUnits([], [candidate]).length === 0) ?? ofQuestion[0] ?? [];
  });
  const recommended = recommendedUnits(units, decisive);
  const advice = recommended.length === 0 ? 'unset PORTAL_UNITS' : `set PORTAL_UNITS=${recommended.join(',')}`;
  return decisive.map((candidate) => ({
    question: candidate.question,
    answer: candidate.answer,
    ...(recommendedUnits(units, [candidate]) !== units && { advice }),
  }));
}

/** The value of `PORTAL_UNITS` that fits all evidence; the same list if `units` fits already. */
function recommendedUnits(units: readonly UnitName[], evidence: readonly UnitEvidence[]): readonly UnitName[] {
  return evidence.reduce((advised, { question, answer, isProof }) => {
    const name = unitNames.find((candidate) => alternativeUnits[candidate].question === question);
    if (name === undefined) return advised;
    if (answer === alternativeUnits[name].answer) return advised.includes(name) ? advised : advised.concat(name);
    return isProof && advised.includes(name) ? advised.filter((candidate) => candidate !== name) : advised;
  }, units);
}

/** The number of an epoch time in seconds is below this until the year 5138, and in milliseconds above it since 1973. */
const TIME_BORDER = 1e11;

/** As bytes this is 1 GB, less than any appliance has; as KiB it is 1 TB, more than most have. */
const MUCH_MEMORY = 1e9;

/** In KiB this is 3 TiB, more than any appliance has. */
const MAX_MEMORY_KIB = 3 * 2 ** 30;

/** The median time of a disk operation is above 0.02 in milliseconds (20 µs), and below 0.02 in seconds (20 ms). */
const LATENCY_BORDER = 0.02;
const LATENCY_VALUES = 8;

function detectUnits(operation: string, records: readonly JsonObject[]): readonly UnitEvidence[] {
  const found = [timeUnit(records)];
  if (operation === 'memory_utilization_details') found.push(firstOf(records, ratioUnit));
  if (operation.startsWith('memory_utilization')) found.push(firstOf(records, memoryUnit));
  if (operation.endsWith('_disk_io_latency')) found.push(latencyUnit(records));
  return found.filter((candidate) => candidate !== undefined);
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

/** `utilization` is documented as (total - available) / total in percent, so a record shows its own unit. */
function ratioUnit({ total, available, utilization }: JsonObject): UnitEvidence | undefined {
  const [all, free, reported] = [parseDecimal(total), parseDecimal(available), parseDecimal(utilization)];
  if (all === undefined || free === undefined || reported === undefined || all <= 0) return undefined;
  const share = (all - free) / all;
  const isNear = (value: number) => share >= 0.02 && Math.abs(value - share) < 0.25 * share;
  if (!isNear(reported / 100) && !isNear(reported)) return undefined;
  return { question: 'ratio_unit', answer: isNear(reported) ? 'ratio' : 'percent', isProof: true };
}

function memoryUnit(record: JsonObject): UnitEvidence | undefined {
  const all = totalMemory(record) ?? 0;
  if (all < 100_000) return undefined;
  const answer = all > MUCH_MEMORY ? 'bytes' : 'kilobytes';
  return { question: 'memory_unit', answer, isProof: answer === 'kilobytes' || all > MAX_MEMORY_KIB };
}

function totalMemory({ total, memory_used, memory_cached, memory_buffered }: JsonObject): number | undefined {
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

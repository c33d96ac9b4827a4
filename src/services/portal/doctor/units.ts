import type { ReportFinding } from '../../../doctor/finding.ts';
import { reportAnswers } from '../../../doctor/service-check.ts';
import type { JsonObject } from '../../../metrics/family.ts';
import { medianOf, parseDecimal } from '../../../metrics/units.ts';
import type { Exchange } from '../../../transport/json-client.ts';
import { alternativeUnits, type UnitName, unitNames } from '../appliances/units.ts';
import { itemsOf, portalReadings } from './answers.ts';

/** What a response shows about a unit. It is only for people: it never changes how a number is read. */
interface Evidence {
  readonly question: string;
  readonly answer: string;
}

/**
 * Reports one answer to each question about a unit, from the series responses and `counts`, with advice if `PORTAL_UNITS`
 * states another unit.
 */
export function reportUnits(
  units: readonly UnitName[],
  exchanges: readonly Exchange[],
  counts: string | undefined,
  reportFinding: ReportFinding,
): void {
  const evidence = exchanges.flatMap(unitsIn);
  if (!evidence.some(({ question }) => question === 'ratio_unit')) evidence.push(...ratioOfUtilizations(exchanges));
  if (counts !== undefined) evidence.push({ question: 'counts', answer: counts });
  const decisive = [...new Set(evidence.map(({ question }) => question))].flatMap((question) => {
    const ofQuestion = evidence.filter((one) => one.question === question);
    // The documented unit has priority: one fast disk or one small appliance may look like another unit.
    return ofQuestion.find((one) => corrected([], one).length === 0) ?? ofQuestion[0] ?? [];
  });
  const recommended = decisive.reduce(corrected, units);
  const advice = recommended.length === 0 ? 'unset PORTAL_UNITS' : `set PORTAL_UNITS=${recommended.join(',')}`;
  for (const one of decisive) {
    const isRight = corrected(units, one) === units;
    reportAnswers(portalReadings, { [one.question]: one.answer }, reportFinding, isRight ? undefined : advice);
  }
}

/** The value of `PORTAL_UNITS` that fits the evidence; the same list if `units` fits already. */
function corrected(units: readonly UnitName[], { question, answer }: Evidence): readonly UnitName[] {
  const name = unitNames.find((candidate) => alternativeUnits[candidate].question === question);
  if (name === undefined || units.includes(name) === (answer === alternativeUnits[name].answer)) return units;
  if (!units.includes(name)) return [...units, name];
  // The times of a slow disk look like milliseconds although they are seconds.
  return name === 'latency_seconds' ? units : units.filter((candidate) => candidate !== name);
}

/** The number of an epoch time in seconds is below this until the year 5138, and in milliseconds above it since 1973. */
const TIME_BORDER = 1e11;

/** As bytes this is 1 GB, less than any appliance has; as KiB it is 1 TB, more than most have. */
const MUCH_MEMORY = 1e9;

/** The median time of a disk operation is above 0.02 in milliseconds (20 µs), and below 0.02 in seconds (20 ms). */
const LATENCY_BORDER = 0.02;
const LATENCY_VALUES = 8;

/** If this many utilizations of processors and caches are at most 1, the account may send ratios. */
const MIN_UTILIZATIONS = 10;

function unitsIn(exchange: Exchange): Evidence[] {
  const { operation } = exchange;
  const records = itemsOf([exchange]);
  const found = [timeUnit(records)];
  if (operation === 'memory_utilization_details') found.push(...records.map(ratioUnit));
  if (operation.startsWith('memory_utilization')) found.push(...records.map(memoryUnit));
  if (operation.endsWith('_disk_io_latency')) found.push(latencyUnit(records));
  return found.filter((one) => one !== undefined);
}

function timeUnit([record]: readonly JsonObject[]): Evidence | undefined {
  const time = parseDecimal(record?.time) ?? 0;
  return time < 1e8 ? undefined : { question: 'time_unit', answer: time < TIME_BORDER ? 'seconds' : 'milliseconds' };
}

/** `utilization` is documented as (total - available) / total in percent, so a record shows its own unit. */
function ratioUnit({ total, available, utilization }: JsonObject): Evidence | undefined {
  const [all, free, reported] = [parseDecimal(total), parseDecimal(available), parseDecimal(utilization)];
  if (all === undefined || free === undefined || reported === undefined || all <= 0) return undefined;
  const share = (all - free) / all;
  const isNear = (value: number) => share >= 0.02 && Math.abs(value - share) < 0.25 * share;
  if (!isNear(reported / 100) && !isNear(reported)) return undefined;
  return { question: 'ratio_unit', answer: isNear(reported) ? 'ratio' : 'percent' };
}

/** From CPU and cache utilization, for appliances whose build does not report `utilization` of memory. */
function ratioOfUtilizations(exchanges: readonly Exchange[]): readonly Evidence[] {
  const utilizations = [...itemsOf(exchanges, 'cpu_utilization'), ...itemsOf(exchanges, 'cache_utilization')]
    .flatMap(({ cpu_usage, cache_utilization }) => parseDecimal(cpu_usage) ?? parseDecimal(cache_utilization) ?? [])
    .filter((utilization) => utilization > 0);
  if (utilizations.some((utilization) => utilization > 1)) return [{ question: 'ratio_unit', answer: 'percent' }];
  return utilizations.length < MIN_UTILIZATIONS ? [] : [{ question: 'ratio_unit', answer: 'ratio' }];
}

function memoryUnit({ total, memory_used, memory_cached, memory_buffered }: JsonObject): Evidence | undefined {
  const parts = [memory_used, memory_cached, memory_buffered].map((part) => parseDecimal(part) ?? 0);
  const all = parseDecimal(total) ?? parts.reduce((sum, part) => sum + part);
  return all < 100_000 ? undefined : { question: 'memory_unit', answer: all > MUCH_MEMORY ? 'bytes' : 'kilobytes' };
}

function latencyUnit(records: readonly JsonObject[]): Evidence | undefined {
  const values = records
    .flatMap(({ read_latency, write_latency }) => [parseDecimal(read_latency) ?? 0, parseDecimal(write_latency) ?? 0])
    .filter((value) => value > 0);
  if (values.length < LATENCY_VALUES) return undefined;
  const answer = (medianOf(values) ?? 1) < LATENCY_BORDER ? 'seconds' : 'milliseconds';
  return { question: 'latency_unit', answer };
}

import type { ReportFinding } from '../../../doctor/finding.ts';
import type { JsonObject } from '../../../metrics/family.ts';
import { medianOf, parseDecimal } from '../../../metrics/units.ts';
import { asError, httpStatusOf } from '../../../runtime/errors.ts';
import type { PortalClient } from '../client.ts';
import { newestFirst } from '../records.ts';
import type { VariantAnswers } from './questions.ts';

const SERIES = 'cache_hits_misses';
const MINUTE_MS = 60_000;
const LONG_BIN_MS = 5 * MINUTE_MS;
const PERIODS = ['P30D', 'P7D', 'P1D'] as const;

/** The statuses with which a service rejects what is requested. Any other failure says nothing about the period. */
const REJECTIONS: readonly (number | undefined)[] = [400, 413, 416, 422];

/** Polls one series with different bins and periods, to find out what the account makes of `bin_size` and of long periods. */
export async function probeBins(
  client: PortalClient,
  serial: string,
  reportFinding: ReportFinding,
  signal: AbortSignal,
): Promise<VariantAnswers> {
  const requestBins = async (period: string, bin_size: number): Promise<readonly JsonObject[] | Error> => {
    const path = `/telemetry/appliances/${encodeURIComponent(serial)}/${SERIES}`;
    try {
      const json = { period, bin_size };
      return newestFirst(await client.send({ method: 'POST', path, operation: SERIES, json }, signal), () => {});
    } catch (error) {
      if (signal.aborted) throw error;
      return asError(error);
    }
  };
  const failed = (question: string, { message }: Error) =>
    reportFinding('unknown', question, 'failed', `could not be checked: ${message}`);
  const minutes = await requestBins('PT30M', 60);
  const bins = await requestBins('PT30M', LONG_BIN_MS / 1000);
  const error = [minutes, bins].find((result) => result instanceof Error);
  if (error !== undefined) failed('bin_size', error);
  let longest: string | undefined;
  for (const period of PERIODS) {
    const result = await requestBins(period, 3600);
    if (!(result instanceof Error)) longest = period;
    else if (!REJECTIONS.includes(httpStatusOf(result))) failed('longest_period', result);
    else continue;
    break;
  }
  const hasBins = !(minutes instanceof Error) && !(bins instanceof Error);
  return { ...(hasBins && binAnswers(minutes, bins)), longest_period: longest };
}

function binAnswers(minutes: readonly JsonObject[], bins: readonly JsonObject[]): VariantAnswers {
  const stepMs = medianOf(bins.slice(1).map((bin, index) => milliseconds(bins[index] ?? bin) - milliseconds(bin)));
  const [newest] = bins;
  if (stepMs === undefined || newest === undefined) return {};
  const isHonoured = stepMs > 2 * MINUTE_MS;
  const isWhole = minutesOf(minutes, newest).length >= LONG_BIN_MS / MINUTE_MS;
  const newestBin = isHonoured ? (isWhole ? 'whole' : 'partial') : undefined;
  const ratio = isHonoured ? medianOf(bins.flatMap((bin) => ratioOf(bin, minutesOf(minutes, bin)))) : undefined;
  return {
    bin_size: isHonoured ? 'honoured' : 'ignored',
    newest_bin: parseDecimal(newest.cache_reads) === undefined ? 'null' : newestBin,
    counts: ratio === undefined ? undefined : ratio > 2.2 ? 'per_bin' : 'per_second',
  };
}

/** A bin's value divided by the mean of its five minutes: 5 if the value is their sum, 1 if it is their mean. */
function ratioOf(bin: JsonObject, minutes: readonly JsonObject[]): readonly number[] {
  const value = parseDecimal(bin.cache_reads);
  const parts = minutes.flatMap(({ cache_reads }) => parseDecimal(cache_reads) ?? []);
  const sum = parts.reduce((total, part) => total + part, 0);
  if (value === undefined || parts.length < LONG_BIN_MS / MINUTE_MS || sum === 0) return [];
  return [value / (sum / parts.length)];
}

function minutesOf(minutes: readonly JsonObject[], bin: JsonObject): readonly JsonObject[] {
  const start = milliseconds(bin);
  return minutes.filter((minute) => milliseconds(minute) >= start && milliseconds(minute) < start + LONG_BIN_MS);
}

/** The time of a record in milliseconds, whether the account sends it in seconds or in milliseconds. */
function milliseconds(record: JsonObject): number {
  const time = parseDecimal(record.time) ?? 0;
  return time < 1e11 ? time * 1000 : time;
}

import type { ReportFinding } from '../../../doctor/finding.ts';
import { type Answers, outcomeOf } from '../../../doctor/service-check.ts';
import type { JsonObject } from '../../../metrics/family.ts';
import { medianOf, parseDecimal } from '../../../metrics/units.ts';
import { httpStatusOf } from '../../../runtime/errors.ts';
import type { PortalClient } from '../client.ts';
import { newestFirst } from '../records.ts';

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
): Promise<Answers> {
  const path = `/telemetry/appliances/${encodeURIComponent(serial)}/${SERIES}`;
  const requestBins = (period: string, bin_size: number) => {
    const request = { method: 'POST', path, operation: SERIES, json: { period, bin_size } } as const;
    const records = client.send(request, signal).then((body) => newestFirst(body, () => {}));
    return outcomeOf(records, signal);
  };
  const reportUnknown = (question: string, { message }: Error) =>
    reportFinding('unknown', question, 'failed', `could not be checked: ${message}`);
  const minutes = await requestBins('PT30M', MINUTE_MS / 1000);
  const bins = await requestBins('PT30M', LONG_BIN_MS / 1000);
  const failure = minutes.error ?? bins.error;
  if (failure !== undefined) reportUnknown('bin_size', failure);
  const answers = minutes.result && bins.result ? binAnswers(minutes.result, bins.result) : {};
  for (const period of PERIODS) {
    const { error } = await requestBins(period, 3600);
    if (error === undefined) return { ...answers, longest_period: period };
    if (REJECTIONS.includes(httpStatusOf(error))) continue;
    reportUnknown('longest_period', error);
    break;
  }
  return answers;
}

function binAnswers(minutes: readonly JsonObject[], bins: readonly JsonObject[]): Answers {
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

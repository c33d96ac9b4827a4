import type { Explain } from '../contract/causes.ts';
import { medianOf } from '../metrics/units.ts';
import type { Exchange } from '../transport/json-client.ts';
import { parseHttpDate } from '../transport/rate/retry-after.ts';
import type { ReportFinding } from './finding.ts';
import { compareWithSchema, type SchemaDifference } from './schema.ts';
import type { ServiceCheck } from './service-check.ts';

export interface RequestLimits {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

interface Expected extends Pick<ServiceCheck, 'documented'>, RequestLimits {
  readonly explain: Explain;
}

/** The largest clock difference without a warning, in milliseconds. */
const SKEW_MS = 60_000;

/** Checks what every exchange with any service shows: clock, speed, size, limits, and the documented schema. */
export function checkExchanges(
  exchanges: readonly Exchange[],
  { documented, explain, timeoutMs, maxResponseBytes }: Expected,
  reportFinding: ReportFinding,
): readonly CountedUnexpected[] {
  const responded = exchanges.filter(({ status }) => status !== undefined);
  if (responded.length === 0) return [];
  checkClock(responded, explain, reportFinding);
  const slowest = responded.reduce((slower, exchange) => (exchange.seconds > slower.seconds ? exchange : slower));
  const median = medianOf(responded.map(({ seconds }) => seconds)) ?? 0;
  const speed = `median ${shownTime(median)}, longest ${shownTime(slowest.seconds)} (${slowest.operation})`;
  if (slowest.seconds * 1000 > timeoutMs / 2) {
    reportFinding('warning', 'latency', 'slow', speed, { advice: 'raise REQUEST_TIMEOUT' });
  } else reportFinding('ok', 'latency', 'fast', speed);
  const largest = responded.reduce((larger, exchange) => (exchange.bytes > larger.bytes ? exchange : larger));
  const size = `largest ${Math.ceil(largest.bytes / 1024)} KiB as sent (${largest.operation})`;
  if (largest.bytes > maxResponseBytes / 2) {
    reportFinding('warning', 'size', 'large', size, { advice: explain('oversize').advice });
  } else reportFinding('ok', 'size', 'small', size);
  checkLimits(responded, explain, reportFinding);
  return checkSchema(responded, documented, reportFinding);
}

function checkClock(responded: readonly Exchange[], explain: Explain, reportFinding: ReportFinding): void {
  const skews = responded.flatMap(({ headers, respondedAt }) => {
    const serviceTime = parseHttpDate(headers.date);
    return serviceTime === undefined ? [] : [serviceTime - respondedAt];
  });
  const skew = medianOf(skews);
  if (skew === undefined) return;
  const seconds = Math.round(Math.abs(skew) / 1000);
  if (Math.abs(skew) <= SKEW_MS) {
    reportFinding('ok', 'clock', 'equal', `within ${Math.max(1, seconds)} s of the service's clock`);
    return;
  }
  const { happened, advice } = explain('clock', { skew: `${seconds} s ${skew > 0 ? 'behind' : 'ahead of'}` });
  reportFinding('warning', 'clock', 'skewed', happened, { expected: 'at most 60 s', advice });
}

const LIMIT_HEADER = /^(?:retry-after|(?:x-)?rate-?limit(?:-(?:limit|remaining|reset|used))?)$/;
const NUMBER = /^\d{1,10}(?:\.\d{1,3})?$/;

function checkLimits(responded: readonly Exchange[], explain: Explain, reportFinding: ReportFinding): void {
  const limits = new Map<string, string>();
  for (const { headers } of responded) {
    for (const [name, value] of Object.entries(headers)) {
      // Only a number is shown: a header may repeat the request.
      if (LIMIT_HEADER.test(name)) limits.set(name, NUMBER.test(String(value)) ? String(value) : 'not a number');
    }
  }
  const throttled = responded.filter(({ status }) => status === 429).length;
  const reported = [...limits].map(([name, value]) => `${name}: ${value}`).join(', ');
  if (throttled > 0) {
    const observed = `${throttled} requests returned 429, ${reported === '' ? 'without Retry-After' : reported}`;
    reportFinding('warning', 'limits', 'rejected', observed, { advice: explain('throttled').advice });
  } else {
    reportFinding('ok', 'limits', 'taken', reported === '' ? 'no response has a rate-limit header' : reported);
  }
}

export interface CountedUnexpected extends SchemaDifference {
  readonly operation: string;
  readonly count: number;
}

/** The most differences in one line; a report contains all. */
const SHOWN = 5;

function checkSchema(
  responded: readonly Exchange[],
  documented: ServiceCheck['documented'],
  reportFinding: ReportFinding,
): readonly CountedUnexpected[] {
  const counted = new Map<string, CountedUnexpected>();
  for (const { operation, status, body } of responded) {
    const schema = documented(operation, body);
    if (schema === undefined || status !== 200 || body === undefined) continue;
    compareWithSchema(schema, body, (difference) => {
      const { what, path, format, word = '' } = difference;
      const key = [operation, what, path, format, word].join('\n');
      counted.set(key, { ...difference, operation, count: (counted.get(key)?.count ?? 0) + 1 });
    });
  }
  const all = [...counted.values()];
  const wrong = all.filter(({ what }) => what === 'unexpected type' || what === 'unexpected null');
  const harmless = all.filter((difference) => !wrong.includes(difference));
  if (wrong.length > 0) {
    const advice = 'these values have no sample; attach a report (--report FILE) to an issue';
    reportFinding('warning', 'form', 'unexpected', listed(wrong), { expected: 'the documented types', advice });
  }
  if (harmless.length > 0) {
    reportFinding('ok', 'form', 'additions', `undocumented and ignored: ${listed(harmless)}`);
  }
  if (all.length === 0) reportFinding('ok', 'form', 'documented', 'responses are as documented');
  return all;
}

function listed(all: readonly CountedUnexpected[]): string {
  const shown = all
    .slice(0, SHOWN)
    .map(({ operation, what, path, format }) => `${operation} ${path} (${what}: ${format})`);
  return all.length > SHOWN ? `${shown.join(', ')} and ${all.length - SHOWN} more` : shown.join(', ');
}

function shownTime(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}

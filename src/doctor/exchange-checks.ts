import type { Explain } from '../contract/causes.ts';
import { clockSkewWarning } from '../contract/service-warning.ts';
import { medianOf } from '../metrics/units.ts';
import type { Exchange } from '../transport/json-client.ts';
import { parseHttpDate } from '../transport/rate/retry-after.ts';
import type { ReportFinding } from './finding.ts';

/** The largest clock difference without a warning, in milliseconds. */
const SKEW_MS = 60_000;

/** Checks what the exchanges with any service show: clock, speed, size and limits. */
export function checkExchanges(
  exchanges: readonly Exchange[],
  explain: Explain,
  { timeoutMs, maxResponseBytes }: { readonly timeoutMs: number; readonly maxResponseBytes: number },
  reportFinding: ReportFinding,
): void {
  const responded = exchanges.filter(({ status }) => status !== undefined);
  if (responded.length === 0) return;
  checkClock(responded, reportFinding);
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
}

function checkClock(responded: readonly Exchange[], reportFinding: ReportFinding): void {
  const skews = responded.flatMap(({ headers, respondedAt }) => {
    const serviceTime = parseHttpDate(headers.date);
    return serviceTime === undefined ? [] : [serviceTime - respondedAt];
  });
  const skew = medianOf(skews);
  if (skew === undefined) {
    reportFinding('unknown', 'clock', 'no-date', 'could not be checked: no response has a Date');
    return;
  }
  const seconds = Math.round(Math.abs(skew) / 1000);
  if (Math.abs(skew) <= SKEW_MS) {
    reportFinding('ok', 'clock', 'equal', `within ${Math.max(1, seconds)} s of the service's clock`);
    return;
  }
  const { happened, advice } = clockSkewWarning(`${seconds} s ${skew > 0 ? 'behind' : 'ahead of'}`);
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
    const observed = `${throttled} of ${responded.length} requests returned 429, ${reported === '' ? 'without Retry-After' : reported}`;
    reportFinding('warning', 'limits', 'rejected', observed, { advice: explain('throttled').advice });
  } else {
    reportFinding('ok', 'limits', 'taken', reported === '' ? 'no response has a rate-limit header' : reported);
  }
}

function shownTime(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}

import { medianOf } from '../metrics/units.ts';
import { parseHttpDate } from '../transport/http-date.ts';
import type { Exchange } from '../transport/json-client.ts';
import type { ReportFinding } from './finding.ts';
import { type SchemaDifference, unexpectedIn } from './schema.ts';
import type { ServiceCheck } from './service-check.ts';

export interface RequestLimits {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

/** The largest clock difference without a warning, in milliseconds. */
const SKEW_MS = 60_000;

/** Checks what every exchange with any service shows: clock, speed, size, limits, and the documented form. */
export function checkExchanges(
  exchanges: readonly Exchange[],
  { documented, rateVariable }: Pick<ServiceCheck, 'documented' | 'rateVariable'>,
  { timeoutMs, maxResponseBytes }: RequestLimits,
  find: ReportFinding,
): readonly CountedUnexpected[] {
  const answered = exchanges.filter(({ status }) => status !== undefined);
  if (answered.length === 0) return [];
  judgeClock(answered, find);
  const slowest = answered.reduce((one, other) => (other.seconds > one.seconds ? other : one));
  const median = medianOf(answered.map(({ seconds }) => seconds)) ?? 0;
  const speed = `median ${shownTime(median)}, longest ${shownTime(slowest.seconds)} (${slowest.operation})`;
  if (slowest.seconds * 1000 > timeoutMs / 2) {
    find('warning', 'latency', 'slow', speed, { advice: 'raise REQUEST_TIMEOUT' });
  } else find('ok', 'latency', 'fast', speed);
  const largest = answered.reduce((one, other) => (other.bytes > one.bytes ? other : one));
  const size = `largest ${Math.ceil(largest.bytes / 1024)} KiB as sent (${largest.operation})`;
  if (largest.bytes > maxResponseBytes / 2) {
    find('warning', 'size', 'large', size, { advice: 'raise MAX_RESPONSE_BYTES' });
  } else find('ok', 'size', 'small', size);
  judgeLimits(answered, rateVariable, find);
  return judgeForm(answered, documented, find);
}

function judgeClock(answered: readonly Exchange[], find: ReportFinding): void {
  const skews = answered.flatMap(({ headers, respondedAt: answeredAt }) => {
    const serviceTime = parseHttpDate(headers.date, answeredAt);
    return serviceTime === undefined ? [] : [serviceTime - answeredAt];
  });
  const skew = medianOf(skews);
  if (skew === undefined) return;
  const seconds = Math.round(Math.abs(skew) / 1000);
  if (Math.abs(skew) <= SKEW_MS) {
    find('ok', 'clock', 'equal', `within ${Math.max(1, seconds)} s of the service's clock`);
    return;
  }
  const seen = `this machine's clock is ${seconds} s ${skew > 0 ? 'behind' : 'ahead of'} the service's`;
  const advice = 'set the clock of this machine, for instance by NTP; ages in alerts have the same error';
  find('warning', 'clock', 'skewed', seen, { expected: 'at most 60 s', advice });
}

const LIMIT_HEADER = /^(?:retry-after|(?:x-)?rate-?limit(?:-(?:limit|remaining|reset|used))?)$/;
const NUMBER = /^\d{1,10}(?:\.\d{1,3})?$/;

function judgeLimits(answered: readonly Exchange[], rateVariable: string | undefined, find: ReportFinding): void {
  const limits = new Map<string, string>();
  for (const { headers } of answered) {
    for (const [name, value] of Object.entries(headers)) {
      // Only a number is shown: a header may repeat the request.
      if (LIMIT_HEADER.test(name)) limits.set(name, NUMBER.test(String(value)) ? String(value) : 'not a number');
    }
  }
  const throttled = answered.filter(({ status }) => status === 429).length;
  const told = [...limits].map(([name, value]) => `${name}: ${value}`).join(', ');
  if (throttled > 0) {
    const own = rateVariable === undefined ? '' : `, or ${rateVariable}`;
    const advice = `another tool uses the same quota: lower its rate${own}`;
    find('warning', 'limits', 'refused', `${throttled} requests were answered 429; ${told}`, { advice });
  } else {
    find('ok', 'limits', 'taken', told === '' ? 'no answer has a rate-limit header' : told);
  }
}

export interface CountedUnexpected extends SchemaDifference {
  readonly operation: string;
  readonly count: number;
}

/** The most places in one line; a report contains all. */
const SHOWN = 5;

function judgeForm(
  answered: readonly Exchange[],
  documented: ServiceCheck['documented'],
  find: ReportFinding,
): readonly CountedUnexpected[] {
  const counted = new Map<string, CountedUnexpected>();
  for (const { operation, status, body } of answered) {
    const form = documented(operation, body);
    if (form === undefined || status !== 200 || body === undefined) continue;
    unexpectedIn(form, body, (one) => {
      const key = [operation, one.what, one.place, one.look, one.word ?? ''].join('\n');
      counted.set(key, { ...one, operation, count: (counted.get(key)?.count ?? 0) + 1 });
    });
  }
  const all = [...counted.values()];
  const wrong = all.filter(({ what }) => what === 'unexpected type' || what === 'unexpected null');
  const harmless = all.filter((one) => !wrong.includes(one));
  if (wrong.length > 0) {
    const advice = 'these values have no sample; attach a report (--report FILE) to an issue';
    find('warning', 'form', 'unexpected', listed(wrong), { expected: 'the documented types', advice });
  }
  if (harmless.length > 0) {
    find('ok', 'form', 'additions', `undocumented and ignored: ${listed(harmless)}`);
  }
  if (all.length === 0) find('ok', 'form', 'documented', 'answers are as documented');
  return all;
}

function listed(all: readonly CountedUnexpected[]): string {
  const shown = all
    .slice(0, SHOWN)
    .map(({ operation, what, place, look }) => `${operation} ${place} (${what}: ${look})`);
  return all.length > SHOWN ? `${shown.join(', ')} and ${all.length - SHOWN} more` : shown.join(', ');
}

function shownTime(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}

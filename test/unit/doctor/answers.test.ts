import { expect, test } from 'vitest';
import { explainFor } from '../../../src/contract/causes.ts';
import { checkExchanges } from '../../../src/doctor/exchange-checks.ts';
import { formatFindings, type ReportFinding } from '../../../src/doctor/finding.ts';
import type { JsonObject } from '../../../src/metrics/family.ts';
import { deliveryOf, reachOf, shapeOf, switchedOffGroup } from '../../../src/services/gfa/doctor/answers.ts';
import type { UnitName } from '../../../src/services/portal/appliances/units.ts';
import { portalCauses } from '../../../src/services/portal/causes.ts';
import { probeBins } from '../../../src/services/portal/doctor/bin-probe.ts';
import { reportUnits } from '../../../src/services/portal/doctor/units.ts';
import type { Exchange } from '../../../src/transport/json-client.ts';
import { dataResponse, lock } from '../../harness/gfa-responses.ts';
import { FakePortal } from '../services/portal/fake-portal.ts';

const NOW = Date.UTC(2026, 2, 2, 10);

function exchange(operation: string, more: Partial<Exchange> = {}): Exchange {
  const usual = { code: '200', status: 200, error: undefined, headers: { date: new Date(NOW).toUTCString() } };
  return { operation, ...usual, respondedAt: NOW, seconds: 1, bytes: 1, body: {}, ...more };
}

/** What is reported, and what to do if something is wrong. */
function findingsOf(check: (report: ReportFinding) => void): readonly string[] {
  const found: string[] = [];
  check((level, question, code, _, { advice = '' } = {}) => {
    found.push(`${level} ${question} ${code} ${level === 'ok' ? '' : advice}`.trim());
  });
  return found;
}

const DETAILS = 'memory_utilization_details';
const LATENCY = 'os_disk_io_latency';
const latencies = (count: number, read_latency: number) => {
  return Array.from({ length: count }, () => ({ read_latency, write_latency: 0 }));
};
const cpu = (count: number, cpu_usage: number) => Array.from({ length: count }, () => ({ cpu_usage }));

test.each<[operation: string, items: readonly JsonObject[], units: readonly UnitName[], findings: readonly string[]]>([
  ['load_average', [{ time: 99_999_999 }], [], []],
  ['load_average', [{ time: 100_000_000 }], [], ['ok time_unit seconds']],
  ['load_average', [{ time: 99_999_999_999 }], [], ['ok time_unit seconds']],
  ['load_average', [{ time: 100_000_000_000 }], [], ['ok time_unit milliseconds']],
  [DETAILS, [{ total: 99_999 }], [], []],
  [DETAILS, [{ total: 100_000 }], [], ['ok memory_unit kilobytes']],
  [DETAILS, [{ total: 1e9 }], ['memory_bytes'], ['warning memory_unit kilobytes unset PORTAL_UNITS']],
  [DETAILS, [{ total: 1e9 + 1 }], ['ratio'], ['warning memory_unit bytes set PORTAL_UNITS=ratio,memory_bytes']],
  [
    'memory_utilization',
    [{ memory_used: 5e8, memory_cached: 5e8, memory_buffered: 1 }],
    ['memory_bytes'],
    ['ok memory_unit bytes'],
  ],
  [DETAILS, [{ total: 1e9 + 1 }, { total: 1e6 }], [], ['ok memory_unit kilobytes']],
  [DETAILS, [{ total: 100, available: 50, utilization: 50 }], [], ['ok ratio_unit percent']],
  [DETAILS, [{ total: 100, available: 50, utilization: 0.5 }], [], ['warning ratio_unit ratio set PORTAL_UNITS=ratio']],
  [DETAILS, [{ total: 100, available: 50, utilization: 0.7 }], [], []],
  [DETAILS, [{ total: 100, available: 98, utilization: 2.49 }], [], ['ok ratio_unit percent']],
  [DETAILS, [{ total: 100, available: 98.1, utilization: 1.9 }], [], []],
  [DETAILS, [{ total: 0, available: 0, utilization: 0 }], [], []],
  ['cpu_utilization', cpu(9, 1), [], []],
  ['cpu_utilization', cpu(10, 1), [], ['warning ratio_unit ratio set PORTAL_UNITS=ratio']],
  ['cache_utilization', [...cpu(10, 1), { cache_utilization: 1.1 }], [], ['ok ratio_unit percent']],
  [LATENCY, latencies(7, 0.019), [], []],
  [LATENCY, latencies(8, 0.019), [], ['warning latency_unit seconds set PORTAL_UNITS=latency_seconds']],
  // A slow disk.
  [LATENCY, latencies(8, 0.02), ['latency_seconds'], ['ok latency_unit milliseconds']],
])('%s of %j with PORTAL_UNITS=%j: %j', (operation, items, units, findings) => {
  const exchanges = [exchange(operation, { body: { items } })];
  expect(findingsOf((report) => reportUnits(units, exchanges, undefined, report))).toEqual(findings);
});

/** What the doctor finds out if bins of so many minutes end so many minutes ago, with this value. */
async function answersAbout(binMinutes: number, endMinutes: number, value: number, newest: number | null = value) {
  const items = (count: number, step: number, cache_reads: number) =>
    Array.from({ length: count }, (_, index) => ({ time: NOW - (index + 1) * step * 60_000, cache_reads }));
  const bins = items(6, binMinutes, value).map(({ time, ...bin }) => ({ ...bin, time: time - endMinutes * 60_000 }));
  const long = { items: [{ ...bins[0], cache_reads: newest }, ...bins.slice(1)] };
  const portal = new FakePortal(({ json }) => (Object(json).bin_size === 60 ? { items: items(40, 1, 10) } : long));
  return probeBins(portal, 'serial', () => {}, new AbortController().signal);
}

test('the doctor finds out what the bins of an account are', async () => {
  const honoured = { bin_size: 'honoured', newest_bin: 'whole', counts: 'per_bin', longest_period: 'P30D' };
  expect(await answersAbout(5, 0, 50)).toEqual(honoured);
  expect(await answersAbout(5, 0, 10)).toEqual({ ...honoured, counts: 'per_second' });
  expect(await answersAbout(5, -1, 50)).toEqual({ ...honoured, newest_bin: 'partial' });
  expect(await answersAbout(5, 0, 50, null)).toEqual({ ...honoured, newest_bin: 'null' });
  const ignored = { bin_size: 'ignored', longest_period: 'P30D' };
  expect([await answersAbout(1, 0, 10), await answersAbout(2, 0, 10)]).toEqual([ignored, ignored]);
});

test.each<[Partial<Exchange>, string]>([
  [{ respondedAt: NOW + 60_000 }, 'ok clock equal'],
  [{ respondedAt: NOW - 60_001 }, 'warning clock skewed'],
  [{ headers: {} }, 'unknown clock no-date'],
  [{ seconds: 15 }, 'ok latency fast'],
  [{ seconds: 15.001 }, 'warning latency slow raise REQUEST_TIMEOUT'],
  [{ bytes: 500 }, 'ok size small'],
  [{ bytes: 501 }, 'warning size large raise MAX_RESPONSE_BYTES'],
  [{ status: 429 }, 'warning limits rejected lower the request rate of the other tools'],
])('a response with %j: %s', (response, finding) => {
  const limits = { timeoutMs: 30_000, maxResponseBytes: 1_000 };
  const exchanges = [exchange('data', response), exchange('away', { status: undefined, seconds: 30, bytes: 1_000 })];
  const found = findingsOf((report) => checkExchanges(exchanges, explainFor(portalCauses), limits, report));
  expect(found.filter((line) => line.startsWith(finding))).toHaveLength(1);
});

test.each([
  [{}, '1 of 1 requests returned 429, without Retry-After'],
  [
    { 'retry-after': '5', 'x-ratelimit-limit': 'a b' },
    '1 of 1 requests returned 429, retry-after: 5, x-ratelimit-limit: not a number',
  ],
])('a 429 with the headers %j: %s', (headers, text) => {
  const observed: string[] = [];
  const exchanges = [exchange('data', { status: 429, headers })];
  checkExchanges(exchanges, explainFor(portalCauses), { timeoutMs: 1, maxResponseBytes: 1 }, (...finding) => {
    observed.push(finding[3]);
  });
  expect(observed).toContain(text);
});

/** A response with the lock events of these times, in seconds after midnight. */
const locks = (...times: readonly number[]) => dataResponse({ locks: times.map((at) => lock(at)) });

test('the doctor finds out how /data delivers events', () => {
  const five = locks(1, 2, 3, 4, 5);
  const delivery = (again: unknown, otherKey: unknown) => deliveryOf(five, again, otherKey);
  expect([delivery(locks(), five), delivery(locks(6), locks(7))]).toEqual(['bookmark', 'bookmark_shared']);
  expect([delivery(locks(2, 3, 4, 5), five), delivery(five, five)]).toEqual(['overlapping', 'window']);
  const unknown = [delivery(undefined, five), delivery(five, undefined), deliveryOf(locks(), five, five)];
  expect(unknown).toEqual([undefined, undefined, undefined]);
  const reach = (hours: number) => reachOf(locks(86_000 - 3_600 * hours, 86_000));
  expect([0.1, 0.101, 1.1].map(reach)).toEqual(['minutes', 'an_hour', 'an_hour']);
  expect([1.101, 25, 25.001].map(reach)).toEqual(['a_day', 'a_day', 'more_than_a_day']);
  const shapes = [{ metrics: {} }, { metrics: [{}] }, { metrics: [{}, {}] }].map(shapeOf);
  expect(shapes).toEqual(['object', 'array', 'several_objects']);
  const groups = [{}, { locks: null }, { locks: [] }, { locks: [lock(1)] }].map((metrics) => ({ metrics: [metrics] }));
  expect(groups.map(switchedOffGroup)).toEqual(['missing', 'empty', 'empty', 'ignored']);
});

test('a finding stands below its subject, with what was expected and what to do', () => {
  const finding = { subject: 'gfa', level: 'ok', check: 'ages', code: 'ages', observed: 'seen' } as const;
  const wrong = { ...finding, subject: 'portal', level: 'failure', expected: 'this', advice: 'that' } as const;
  expect(formatFindings([finding, finding, wrong]).split('\n\n')).toEqual([
    'gfa\n  ok       ages  seen\n  ok       ages  seen',
    'portal\n  failure  ages  seen\n                 expected: this\n                 do: that',
    '2 ok, 0 unknown, 0 warnings, 1 failure\n',
  ]);
});

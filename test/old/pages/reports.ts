import type { CachedDocument } from '../../src/http/cached-document.ts';
import type { ApiReport, ApplianceReport, StatusReport } from '../../src/status/model.ts';

/** The moment of every report here. */
export const NOW = '2026-03-02T10:00:00.000Z';

/** So many seconds before that moment. */
export function secondsAgo(seconds: number): string {
  return new Date(Date.parse(NOW) - seconds * 1000).toISOString();
}

/** An API that is well, but for what is said. */
export function api(change: Partial<ApiReport> = {}): ApiReport {
  return {
    api: 'portal',
    title: 'Portal',
    state: 'up',
    url: 'https://portal.example.com',
    lastSuccess: secondsAgo(2),
    downReason: null,
    lastError: null,
    cause: null,
    token: { kind: 'token', expires: secondsAgo(-600) },
    pace: { requestsPerSecond: 16.667, sustainedRequestsPerSecond: 16.667, waitUntil: null, throttled: false },
    limits: { requests: 500, windowSeconds: 30, requestsPerDay: 1_000_000 },
    budgetRemaining: 987_654,
    intervalSeconds: 300,
    effectiveIntervalSeconds: 300,
    sweepSeconds: 290,
    dataAge: { medianSeconds: 150, worstSeconds: 299, computedWorstSeconds: 450 },
    tasks: { total: 31, suspended: 2, overdue: 0 },
    suspended: [{ operation: 'cow_disk_iops', reason: 'empty', tasks: 2 }],
    accountTasks: [
      {
        operation: 'serials',
        tasks: 1,
        intervalSeconds: 900,
        dataAgeSeconds: 60,
        suspended: 0,
        failing: 0,
        lastError: null,
        advice: null,
      },
    ],
    variants: [{ question: 'time_unit', answer: 'milliseconds' }],
    inventoryGaps: [],
    clockSkewSeconds: 0,
    warnings: [],
    ...change,
  };
}

/** What went wrong with a series a second ago, but for what is said. */
export function failure(change: Partial<NonNullable<ApplianceReport['lastError']>> = {}) {
  return { operation: 'o', time: secondsAgo(1), message: 'Response 500', advice: 'wait', ...change };
}

/** An appliance that is well, but for what is said; its number is in its name and its serial. */
export function appliance(number = 1, change: Partial<ApplianceReport> = {}): ApplianceReport {
  return {
    name: `edge-${number}`,
    serial: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    state: 'up',
    type: 'edge',
    build: '10.1.2',
    availableBuild: null,
    lastPoll: secondsAgo(number % 300),
    lastSuccess: secondsAgo(number % 300),
    lastRecord: secondsAgo(number % 300),
    dataAgeSeconds: 20 + (number % 280),
    series: 22,
    suspended: [],
    failing: 0,
    lastError: null,
    ...change,
  };
}

/** A report of these. */
export function reportOf(change: Partial<StatusReport> = {}): StatusReport {
  return {
    time: NOW,
    version: '1.2.3',
    revision: 'test',
    shard: { index: 0, total: 1 },
    apis: [api()],
    appliances: [appliance()],
    ...change,
  };
}

/** A large fleet in which everything occurs: suspended series, errors, appliances that are down or wait. */
export function largeFleet(size: number): readonly ApplianceReport[] {
  const operations = [
    'cow_disk_iops',
    'cow_disk_io_time',
    'cow_disk_io_latency',
    'file_iq_disk_iops',
    'smb_connections',
  ];
  return Array.from({ length: size }, (_, number) => {
    const suspended = operations.slice(number % 5).map((operation) => ({ operation, reason: 'empty' }) as const);
    if (number % 50 === 7) {
      const lastError = failure({
        operation: 'cpu_utilization',
        time: secondsAgo(30),
        message: 'POST /telemetry returned 500',
      });
      return appliance(number, { state: 'down', failing: 3, lastError, suspended });
    }
    if (number % 100 === 13) {
      return appliance(number, { state: 'waiting', lastPoll: null, lastSuccess: null, dataAgeSeconds: null });
    }
    return appliance(number, { suspended });
  });
}

/** What a document says. */
export async function textOf(document: CachedDocument): Promise<string> {
  return Buffer.concat([...(await document.body(false)).buffers()]).toString();
}

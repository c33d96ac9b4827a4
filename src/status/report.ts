import type { ApiStatus, ExporterStatus, RemoteWriteStatus } from '../exposition/own/status.ts';
import type { ApplianceStatus } from '../polling/appliances.ts';
import { worstAgeMs } from '../polling/demand.ts';
import type { Clock } from '../runtime/clock.ts';
import { atOnce } from '../runtime/slices.ts';
import type { Connection } from '../sources/upstream.ts';
import type { ApiReport, ApplianceReport, StatusReport } from './model.ts';
import type { ReportedService } from './service.ts';
import { type ApplianceTasks, NO_TASKS, rounded, roundedOrNull, type TaskSummary, taskSummary } from './tasks.ts';

/** The parts of the program that have something to say of themselves; what is not configured is undefined. */
export interface StatusParts {
  readonly sources: readonly (ReportedService & Pick<Connection, 'events'>)[];
  readonly keeper: ExporterStatus['state'];
  readonly protection: { readonly reloading: { readonly reading: ExporterStatus['web'] } } | undefined;
  readonly history: { status(): RemoteWriteStatus } | undefined;
  readonly connections: { readonly closed: ReadonlyMap<string, number> };
}

/** What the exporter looks like at the moment of a scrape. */
export function exporterStatus(parts: StatusParts, clock: Clock): Omit<ExporterStatus, 'samples'> {
  const { sources, keeper, protection, history, connections } = parts;
  const events = sources.flatMap((source) => source.events?.() ?? [])[0];
  return {
    apis: sources.map((source) => read(source, clock.monotonic())),
    eventMemory: events?.eventMemory,
    bookmarks: events?.bookmarks,
    state: keeper,
    web: protection?.reloading.reading,
    remoteWrite: history?.status(),
    closed: connections.closed,
  };
}

/** The state of an API at this moment, for the exporter's own metrics. */
function read(source: ReportedService, now: number): ApiStatus {
  return atOnce(reading(source, now));
}

/** The same; yields between tasks, because there may be very many. `now` in monotonic milliseconds. */
function* reading(
  { api, pacer, budget, intervalMs, poller, variants }: ReportedService,
  now: number,
): Generator<void, ApiStatus> {
  const { tasks, observer } = poller;
  const stretched = tasks.stretched(now);
  yield;
  const awake = tasks.deciding.filter(({ resting }) => resting === undefined);
  const longestMs = awake.reduce((most, { task }) => Math.max(most, task.intervalMs), intervalMs);
  yield;
  const ages = tasks.ages(now);
  yield;
  return {
    api,
    up: observer.up,
    downReason: observer.downReason,
    pacePerSecond: pacer.perSecond,
    budgetRemaining: pacer.budgetRemaining,
    budgetLimit: budget.limit,
    lastSuccessSeconds: observer.lastSuccessAt === undefined ? undefined : observer.lastSuccessAt / 1000,
    sweepSeconds: tasks.roundSeconds,
    effectiveIntervalSeconds: (intervalMs * stretched) / 1000,
    configuredIntervalSeconds: intervalMs / 1000,
    resting: tasks.resting(),
    variants: variants?.() ?? [],
    overdue: tasks.overdue(now),
    medianAgeSeconds: ages?.medianSeconds,
    worstAgeSeconds: ages?.worstSeconds,
    computedWorstAgeSeconds: worstAgeMs(longestMs, stretched) / 1000,
  };
}

/** What a report needs beside the services. */
export interface ReportParts {
  readonly version: string;
  readonly revision: string;
  readonly clock: Clock;
}

/** How many appliances are processed before the report may be interrupted. */
const APPLIANCES_A_STEP = 100;

/** The status at this moment; yields where it may be interrupted, because there may be very many tasks. */
export function* report(
  sources: readonly ReportedService[],
  shard: StatusReport['shard'],
  { version, revision, clock }: ReportParts,
): Generator<void, StatusReport> {
  const apis: ApiReport[] = [];
  const appliances: ApplianceReport[] = [];
  for (const source of sources) {
    const found = yield* taskSummary(source.poller.tasks, clock.monotonic());
    apis.push(apiReport(source, yield* reading(source, clock.monotonic()), found, clock));
    yield;
    for (const appliance of source.poller.appliances.statuses()) {
      appliances.push(applianceReport(source, appliance, found.appliances.get(appliance.serial) ?? NO_TASKS));
      if (appliances.length % APPLIANCES_A_STEP === 0) yield;
    }
  }
  return { time: rfc3339(clock.now()), version, revision, shard, apis, appliances };
}

function apiReport(
  source: ReportedService,
  told: ApiStatus,
  { resting, account }: TaskSummary,
  clock: Clock,
): ApiReport {
  const { pacer, poller, target, intervalMs, tokenSecondsLeft } = source;
  const { observer, tasks } = poller;
  const secondsLeft = tokenSecondsLeft?.();
  const fromNow = (ms: number | undefined) => (ms === undefined ? null : rfc3339(clock.now() + ms));
  return {
    api: source.api,
    title: source.title,
    state: told.up ? 'up' : observer.polledOnce || told.downReason !== undefined ? 'down' : 'waiting',
    downReason: told.downReason ?? null,
    url: target.baseUrl,
    lastSuccess: timeOf(observer.lastSuccessAt),
    lastError: observer.lastError ?? null,
    token: {
      kind: tokenSecondsLeft === undefined ? 'key' : 'token',
      expires: fromNow(secondsLeft === undefined ? undefined : secondsLeft * 1000),
    },
    pace: {
      requestsPerSecond: rounded(told.pacePerSecond),
      sustainedRequestsPerSecond: rounded(pacer.sustainedPerSecond),
      heldUntil: fromNow(pacer.heldUntil === undefined ? undefined : pacer.heldUntil - clock.monotonic()),
    },
    limits: {
      requests: target.limit.requests,
      windowSeconds: target.limit.windowMs / 1000,
      requestsPerDay: target.dailyLimit ?? null,
    },
    budgetRemaining: told.budgetRemaining ?? null,
    intervalSeconds: intervalMs / 1000,
    effectiveIntervalSeconds: rounded(told.effectiveIntervalSeconds),
    sweepSeconds: roundedOrNull(told.sweepSeconds),
    dataAge: {
      medianSeconds: roundedOrNull(told.medianAgeSeconds),
      worstSeconds: roundedOrNull(told.worstAgeSeconds),
      computedWorstSeconds: rounded(told.computedWorstAgeSeconds),
    },
    tasks: { total: tasks.size, resting: resting.reduce((sum, kind) => sum + kind.tasks, 0) },
    resting,
    accountTasks: account,
    notes: source.notes?.() ?? [],
  };
}

function applianceReport(source: ReportedService, status: ApplianceStatus, tasks: ApplianceTasks): ApplianceReport {
  const { name, serial, state } = status;
  const { lastError } = tasks;
  const known = source.describe?.(serial);
  return {
    name,
    serial,
    state: state === undefined ? 'waiting' : STATE_OF[state],
    type: known?.type || null,
    build: known?.build || null,
    availableBuild: known?.availableBuild || null,
    lastPoll: timeOf(status.lastPollAt),
    lastSuccess: timeOf(status.lastSuccessAt),
    lastRecord: timeOf(status.lastRecordAt),
    dataAgeSeconds: tasks.oldestSeconds,
    series: tasks.series,
    resting: tasks.resting,
    failing: tasks.failing,
    lastError: lastError && {
      operation: lastError.operation,
      time: rfc3339(lastError.at),
      message: lastError.message,
    },
  };
}

const STATE_OF = { reporting: 'up', no_records: 'no_records', unavailable: 'down' } as const;

function timeOf(at: number | undefined): string | null {
  return at === undefined ? null : rfc3339(at);
}

/** The last moment that a date can represent: a service may send any number of seconds. */
const LAST_DATE_MS = 8.64e15;

function rfc3339(at: number): string {
  return new Date(Math.min(at, LAST_DATE_MS)).toISOString();
}

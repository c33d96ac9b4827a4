import type { ApiStatus, ExporterStatus, RemoteWriteStatus } from '../exposition/own/status.ts';
import { worstAgeMs } from '../polling/demand.ts';
import type { PolledAppliance } from '../polling/task-state.ts';
import type { Clock } from '../runtime/clock.ts';
import { atOnce } from '../runtime/slices.ts';
import type { Connection } from '../sources/upstream.ts';
import type { ApiReport, ApplianceReport, StatusReport } from './model.ts';
import type { ReportedService } from './service.ts';
import { accountReport, appliancesByName, seriesReport, type TaskSummary, taskSummary } from './tasks.ts';
import { rfc3339, rounded, timeOf } from './text.ts';

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
  const [events] = sources.flatMap((source) => source.events?.() ?? []);
  return {
    apis: sources.map((source) => read(source, clock.monotonic())),
    events,
    state: keeper,
    web: protection?.reloading.reading,
    remoteWrite: history?.status(),
    closed: connections.closed,
  };
}

/** The state of an API at this moment, for the exporter's own metrics; `now` in monotonic milliseconds. */
function read(source: ReportedService, now: number): ApiStatus {
  return statusOf(source, atOnce(taskSummary(source.poller.tasks, now)), now);
}

function statusOf(
  { api, pacer, budget, intervalMs, poller, variants }: ReportedService,
  { restingByReason, overdue, medianAgeSeconds, worstAgeSeconds }: TaskSummary,
  now: number,
): ApiStatus {
  const { tasks, observer } = poller;
  const stretched = tasks.stretched(now);
  return {
    api,
    up: observer.up,
    downReason: observer.downReason,
    pacePerSecond: pacer.perSecond,
    budgetRemaining: pacer.budgetRemaining,
    budgetLimit: budget.limit,
    lastSuccessSeconds: observer.lastSuccessAt === undefined ? undefined : observer.lastSuccessAt / 1000,
    sweepSeconds: tasks.sweepSeconds,
    effectiveIntervalSeconds: (intervalMs * stretched) / 1000,
    configuredIntervalSeconds: intervalMs / 1000,
    resting: restingByReason,
    variants: variants?.() ?? [],
    overdue,
    medianAgeSeconds,
    worstAgeSeconds,
    computedWorstAgeSeconds: worstAgeMs(tasks.sweepMs, stretched) / 1000,
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
    const { tasks } = source.poller;
    apis.push(apiReport(source, yield* taskSummary(tasks, clock.monotonic()), clock));
    yield;
    for (const appliance of appliancesByName(tasks)) {
      appliances.push(applianceReport(source, appliance, clock));
      if (appliances.length % APPLIANCES_A_STEP === 0) yield;
    }
  }
  return { time: rfc3339(clock.now()), version, revision, shard, apis, appliances };
}

function apiReport(source: ReportedService, summary: TaskSummary, clock: Clock): ApiReport {
  const { pacer, poller, target, intervalMs, tokenSecondsLeft } = source;
  const { observer } = poller;
  const { total, resting, account } = summary;
  const now = clock.monotonic();
  const told = statusOf(source, summary, now);
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
      heldUntil: fromNow(pacer.heldUntil === undefined ? undefined : pacer.heldUntil - now),
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
    tasks: { total, resting: resting.reduce((sum, kind) => sum + kind.tasks, 0) },
    resting,
    accountTasks: [...account].map(([operation, states]) => accountReport(operation, states, now)),
    notes: source.notes?.() ?? [],
  };
}

function applianceReport(source: ReportedService, appliance: PolledAppliance, clock: Clock): ApplianceReport {
  const { name, serial, shown } = appliance;
  const known = source.describe?.(serial);
  return {
    name,
    serial,
    state: shown === undefined ? 'waiting' : STATE_OF[shown.state],
    type: known?.type || null,
    build: known?.build || null,
    availableBuild: known?.availableBuild || null,
    ...seriesReport(appliance, clock.monotonic(), clock.now()),
  };
}

const STATE_OF = { reporting: 'up', no_records: 'no_records', unavailable: 'down' } as const;

function roundedOrNull(value: number | undefined): number | null {
  return value === undefined ? null : rounded(value);
}

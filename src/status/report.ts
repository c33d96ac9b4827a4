import type { Explain, ForbiddenTasks } from '../contract/causes.ts';
import type { InventoryGap, ServiceDetails } from '../contract/service-details.ts';
import { maxAgeMs } from '../polling/effective-interval.ts';
import type { PolledAppliance } from '../polling/polled-task.ts';
import type { Poller } from '../polling/poller.ts';
import type { Clock } from '../runtime/clock.ts';
import { runInSlices } from '../runtime/slices.ts';
import type { ServiceLimits } from '../transport/rate/limits.ts';
import type { RateLimit } from '../transport/rate/rate-limiter.ts';
import type { ApiReport, ApplianceReport, ExporterStatus, StatusReport, UpState } from './model.ts';
import { accountReport, appliancesByName, seriesReport, taskSummary } from './task-report.ts';
import { rfc3339, rfc3339OrNull } from './time-text.ts';
import type { WarningLabels } from './warning-labels.ts';

/** The part of a polled service that a report reads. */
export interface ReportedService extends ServiceDetails {
  readonly api: string;
  readonly title: string;
  readonly intervalMs: number;
  readonly target: { readonly baseUrl: string; readonly limit: RateLimit; readonly dailyLimit: number | undefined };
  readonly limits: ServiceLimits;
  readonly clockSkewMs: () => number | undefined;
  readonly explain: Explain;
  readonly poller: Poller;
}

/** The parts of the program that the report reads; a part that is not configured is undefined. */
export interface StatusDependencies {
  readonly sources: readonly ReportedService[];
  readonly keeper: ExporterStatus['state'];
  readonly web: ExporterStatus['web'];
  readonly history: { status(): ExporterStatus['remoteWrite'] } | undefined;
  readonly closed: ReadonlyMap<string, number>;
  readonly warningLabels: WarningLabels;
}

/** Reads the parts in slices, so their values are from slightly different times. */
export async function exporterStatus(
  parts: StatusDependencies,
  clock: Clock,
): Promise<Omit<ExporterStatus, 'samples'>> {
  const { sources, keeper, web, history, closed, warningLabels } = parts;
  const apis = await Promise.all(sources.map((source) => runInSlices(apiReport(source, clock), clock)));
  return {
    apis,
    warnings: warningLabels.of(apis, clock.monotonic()),
    own: new Map(sources.flatMap((source) => [...(source.ownValues?.() ?? [])])),
    state: keeper,
    web,
    remoteWrite: history?.status(),
    closed,
  };
}

const APPLIANCES_PER_STEP = 100;

/** Returns the present status. It yields wherever it may be interrupted, because there may be very many tasks. */
export function* createReport(
  sources: readonly ReportedService[],
  { version, revision, clock }: { readonly version: string; readonly revision: string; readonly clock: Clock },
): Generator<void, StatusReport> {
  const apis: ApiReport[] = [];
  const appliances: ApplianceReport[] = [];
  for (const source of sources) {
    const api = yield* apiReport(source, clock);
    apis.push(api);
    yield;
    for (const appliance of appliancesByName(source.poller.fleet)) {
      appliances.push(applianceReport(source, appliance, api.state, clock));
      if (appliances.length % APPLIANCES_PER_STEP === 0) yield;
    }
  }
  return { time: rfc3339(clock.now()), version, revision, apis, appliances };
}

function* apiReport(source: ReportedService, clock: Clock): Generator<void, ApiReport> {
  const { api, title, limits, target, intervalMs, tokenSecondsLeft } = source;
  const { health, fleet } = source.poller;
  const now = clock.monotonic();
  const summary = yield* taskSummary(fleet, now);
  const { isUp, downReason = null } = health;
  const factor = fleet.intervalFactor;
  const secondsLeft = tokenSecondsLeft?.();
  const skewMs = source.clockSkewMs();
  const inventoryGaps = source.inventory?.gaps() ?? [];
  const { cause, warnings } = explanations(source, inventoryGaps, summary.forbidden, downReason);
  const fromNow = (ms: number | undefined) => (ms === undefined ? null : rfc3339(clock.now() + ms));
  return {
    api,
    title,
    state: isUp ? 'up' : isUp === false || downReason !== null ? 'down' : 'waiting',
    downReason,
    url: target.baseUrl,
    lastSuccess: rfc3339OrNull(health.lastSuccessAt),
    lastError: health.lastError?.message ?? null,
    cause,
    token: {
      kind: tokenSecondsLeft === undefined ? 'key' : 'token',
      expires: fromNow(secondsLeft === undefined ? undefined : secondsLeft * 1000),
    },
    pace: {
      requestsPerSecond: limits.perSecond,
      sustainedRequestsPerSecond: limits.sustainedPerSecond,
      requestsInFlight: limits.requestsInFlight,
      waitUntil: fromNow(limits.waitUntil === undefined ? undefined : limits.waitUntil - clock.monotonic()),
      throttled: limits.isThrottled,
    },
    limits: {
      requests: target.limit.requests,
      windowSeconds: target.limit.windowMs / 1000,
      requestsPerDay: target.dailyLimit ?? null,
    },
    budgetRemaining: limits.dailyQuotaRemaining ?? null,
    intervalSeconds: intervalMs / 1000,
    effectiveIntervalSeconds: (intervalMs * factor) / 1000,
    sweepSeconds: fleet.cycleSeconds ?? null,
    dataAge: {
      medianSeconds: summary.medianAgeSeconds,
      worstSeconds: summary.worstAgeSeconds,
      computedWorstSeconds: maxAgeMs(fleet.cycleMs, factor) / 1000,
    },
    tasks: summary.tasks,
    suspended: summary.suspended,
    accountTasks: [...summary.account].map(([operation, tasks]) =>
      accountReport(operation, tasks, now, source.explain),
    ),
    inventoryGaps,
    clockSkewSeconds: skewMs === undefined ? null : skewMs / 1000,
    warnings,
  };
}

/** Returns why the service is down, and the warnings that say anything else. */
function explanations(
  { warnings, explain, poller }: ReportedService,
  gaps: readonly InventoryGap[],
  tasks: ForbiddenTasks,
  downReason: string | null,
): Pick<ApiReport, 'cause' | 'warnings'> {
  const known = warnings?.() ?? [];
  const forbidden = known.some(({ explains }) => explains === 'forbidden') ? [] : tasks.all(explain);
  const cause = (downReason === 'forbidden' ? forbidden[0] : undefined) ?? poller.health.explanation;
  const all = [
    ...known,
    ...gaps.map((gap) => ({ ...gap, code: 'inventory' })),
    ...forbidden.map((explanation) => ({ ...explanation, code: 'forbidden' })),
  ];
  return {
    cause: cause === undefined ? null : { happened: cause.happened, advice: cause.advice },
    warnings: all
      .filter(({ happened }) => happened !== cause?.happened)
      .map(({ code, happened, advice }) => ({ code, happened, advice })),
  };
}

function applianceReport(
  source: ReportedService,
  appliance: PolledAppliance,
  service: UpState,
  clock: Clock,
): ApplianceReport {
  const { name, serial, state } = appliance;
  const known = source.inventory?.describe(serial);
  return {
    name,
    serial,
    state: stateOf(state, service),
    type: known?.type || null,
    build: known?.build || null,
    availableBuild: known?.availableBuild || null,
    ...seriesReport(appliance, clock.monotonic(), clock.now(), source.explain),
  };
}

function stateOf(state: PolledAppliance['state'], service: UpState): ApplianceReport['state'] {
  if (service === 'down') return 'unknown';
  if (state === 'unavailable') return 'down';
  if (state === 'reporting') return 'up';
  return state ?? 'waiting';
}

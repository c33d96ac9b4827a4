import type { Explain } from '../contract/causes.ts';
import { explainForbidden } from '../contract/forbidden-tasks.ts';
import type { InventoryGap, ServiceDetails } from '../contract/service-details.ts';
import type { ServiceWarning } from '../contract/service-warning.ts';
import type { PolledAppliance } from '../polling/polled-task.ts';
import type { Poller } from '../polling/poller.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ServiceLimits } from '../transport/rate/limits.ts';
import { accountReports, groupReport, rfc3339, tasksReport } from './task-report.ts';

/** The part of a polled service that a report reads. */
export interface ReportedService extends ServiceDetails {
  readonly api: string;
  readonly title: string;
  readonly intervalMs: number;
  readonly target: { readonly baseUrl: string; readonly dailyLimit: number | undefined };
  readonly limits: ServiceLimits;
  readonly clockSkewMs: () => number | undefined;
  readonly explain: Explain;
  readonly poller: Poller;
}

export type StatusReport = ReturnType<typeof statusReport>;
export type ApiReport = ReturnType<typeof apiReport>;
export type ApplianceReport = StatusReport['appliances'][number];

/**
 * Returns the present status, which `/status` shows and `/api/v1/status` sends. A name changes only with a line in the
 * changelog. Times are RFC 3339 in UTC, durations are in seconds, and unknown values are null.
 */
export function statusReport(
  services: readonly ReportedService[],
  { version, revision, clock }: { readonly version: string; readonly revision: string; readonly clock: Clock },
) {
  return {
    time: rfc3339(clock.now()),
    version,
    revision,
    apis: services.map((service) => apiReport(service, clock)),
    appliances: services.flatMap((service) => applianceReports(service, clock)),
  };
}

/** Returns the status of one service. The metrics about the exporter read it too. */
export function apiReport(service: ReportedService, clock: Clock) {
  const { api, title, limits, target, intervalMs, explain } = service;
  const { health, fleet } = service.poller;
  const now = clock.monotonic();
  const { isUp, downReason = null } = health;
  const isDown = isUp === false || downReason !== null;
  const skewMs = service.clockSkewMs();
  const inventoryGaps = service.inventory?.gaps() ?? [];
  const { cause, warnings } = explanations(service, inventoryGaps, downReason);
  return {
    api,
    title,
    /** `waiting` until the first verdict. */
    state: isUp ? ('up' as const) : isDown ? ('down' as const) : ('waiting' as const),
    /** The reason why the service is down, as in `filer_api_down_info`. */
    downReason,
    url: target.baseUrl,
    lastSuccess: health.lastSuccessEpochMs === undefined ? null : rfc3339(health.lastSuccessEpochMs),
    lastError: health.lastError?.message ?? null,
    /** Why it is down, and what to do. */
    cause,
    requestRate: {
      /** The requests per second that are allowed now; 0 during a wait. */
      perSecond: limits.perSecond,
      /** The requests per second that the request rate and the daily quota sustain. */
      sustainedPerSecond: limits.sustainedPerSecond,
      requestsInFlight: limits.requestsInFlight,
      /** When the wait after a 429 ends. */
      waitUntil: limits.waitUntil === undefined ? null : rfc3339(clock.now() + limits.waitUntil - now),
      /** True if the service allows clearly fewer requests than configured. */
      throttled: limits.isThrottled,
    },
    /** The requests that may be sent in 24 hours, and those that are left; null without a limit. */
    dailyLimit: target.dailyLimit ?? null,
    quotaRemaining: limits.dailyQuotaRemaining ?? null,
    intervalSeconds: intervalMs / 1000,
    /** The interval that the limits allow. */
    effectiveIntervalSeconds: (intervalMs * fleet.intervalFactor) / 1000,
    /** The duration of the last complete cycle. */
    cycleSeconds: fleet.cycleSeconds ?? null,
    tasks: tasksReport(fleet, now),
    accountTasks: accountReports(fleet, clock, explain),
    /** The gaps in the lists that decide what is polled. */
    inventoryGaps,
    /** How far the service's clock is ahead of the exporter's; null before several responses. */
    clockSkewSeconds: skewMs === undefined ? null : skewMs / 1000,
    /** Warnings about the service, such as a missing licence, without the cause above. */
    warnings,
  };
}

/** Returns why the service is down, and the warnings that say anything else. */
function explanations(
  { warnings, explain, poller }: ReportedService,
  gaps: readonly InventoryGap[],
  downReason: string | null,
) {
  const known = warnings?.() ?? [];
  const isExplained = known.some(({ explains }) => explains === 'forbidden');
  const polls = poller.fleet.tasks.map(({ task, state }) => ({ task, error: state.error }));
  const forbidden = isExplained ? [] : explainForbidden(polls, explain);
  const cause = (downReason === 'forbidden' ? forbidden[0] : undefined) ?? poller.health.explanation;
  const all: readonly ServiceWarning[] = [
    ...known,
    ...gaps.map(({ happened, advice }) => ({ code: 'inventory' as const, happened, advice })),
    ...forbidden.map(({ happened, advice }) => ({ code: 'forbidden' as const, happened, advice })),
  ];
  return {
    cause: cause === undefined ? null : { happened: cause.happened, advice: cause.advice },
    warnings: all
      .filter(({ happened }) => happened !== cause?.happened)
      .map(({ code, happened, advice }) => ({ code, happened, advice })),
  };
}

/** Sorts names as people expect: `edge-2` before `edge-10`. */
const byName = new Intl.Collator('en', { numeric: true });

function applianceReports({ poller, inventory, explain }: ReportedService, clock: Clock) {
  const appliances = [...poller.fleet.appliances.values()].sort(
    (one, other) => byName.compare(one.name, other.name) || byName.compare(one.serial, other.serial),
  );
  return appliances.map((appliance) => {
    const { name, serial } = appliance;
    const known = inventory?.describe(serial);
    const state = stateOf(appliance, poller.health.isUp === false);
    return {
      name,
      serial,
      state,
      /** `no_records` if the portal responds without records of it, for example if it is off; `unavailable` if requests fail. */
      downReason: state === 'down' ? (appliance.state ?? null) : null,
      type: known?.type || null,
      build: known?.build || null,
      availableBuild: known?.availableBuild || null,
      ...groupReport(appliance.tasks, clock, explain),
    };
  });
}

/** `down` while `filer_appliance_up` is 0; `unknown` while the portal is down or silent; `waiting` before the first verdict. */
function stateOf({ state, verdict }: PolledAppliance, isPortalDown: boolean) {
  if (isPortalDown) return 'unknown';
  if (state === undefined) return verdict.isUp === undefined ? 'waiting' : 'unknown';
  return state === 'reporting' ? 'up' : 'down';
}

import type { Outside } from '../app/environment.ts';
import type { Source } from '../app/source.ts';
import type { ApiStatus } from '../exposition/own/status.ts';
import type { ApplianceStatus } from '../polling/appliances.ts';
import { dataTasks, demandPerSecond, stretch, worstAgeMs } from '../polling/sweep.ts';
import type { Clock } from '../runtime/clock.ts';
import { atOnce } from '../runtime/slices.ts';
import type { ApiReport, ApplianceReport, StatusReport } from './model.ts';
import { type ApplianceTasks, NO_TASKS, rounded, roundedOrNull, type TasksTold, tasksTold } from './tasks.ts';

/** How many times its interval a task of this API has to wait, as the limits are now. */
export function stretchOf(source: Source | undefined): number {
  if (source === undefined) return 1;
  const { watch, runner, pacer } = source;
  const demand = demandPerSecond(watch.tasks, ({ id }) => runner.restReason(id) !== undefined);
  return stretch(demand, pacer.sustainedPerSecond);
}

/** What an API looks like at this moment, for the exporter's own metrics. */
export function read(source: Source): ApiStatus {
  return atOnce(reading(source));
}

/** The same; yields between looks at all tasks, of which there may be very many. */
function* reading(source: Source): Generator<void, ApiStatus> {
  const { api, watch, pacer, budget, runner, intervalMs } = source;
  const stretched = stretchOf(source);
  yield;
  const awake = dataTasks(watch.tasks).filter(({ id }) => runner.restReason(id) === undefined);
  const longestMs = awake.reduce((most, task) => Math.max(most, task.intervalMs), intervalMs);
  yield;
  const ages = watch.ages(({ id }) => runner.restReason(id) === undefined);
  yield;
  return {
    api,
    up: watch.up,
    pacePerSecond: pacer.perSecond,
    budgetRemaining: pacer.budgetRemaining,
    budgetLimit: budget.limit,
    lastSuccessSeconds: watch.lastSuccessAt === undefined ? undefined : watch.lastSuccessAt / 1000,
    sweepSeconds: watch.sweepSeconds,
    effectiveIntervalSeconds: (intervalMs * stretched) / 1000,
    configuredIntervalSeconds: intervalMs / 1000,
    resting: runner.restingBy(),
    variants: source.variants(),
    overdue: watch.overdue(({ id }) => runner.restReason(id) === undefined, stretched),
    medianAgeSeconds: ages?.medianSeconds,
    worstAgeSeconds: ages?.worstSeconds,
    computedWorstAgeSeconds: worstAgeMs(longestMs, stretched) / 1000,
  };
}

/** So many appliances are told between two moments at which a report may be interrupted. */
const APPLIANCES_A_STEP = 100;

/** How things stand at this moment; yields where it may be interrupted, for there may be very many tasks. */
export function* report(
  sources: readonly Source[],
  shard: StatusReport['shard'],
  { version, revision, clock }: Outside,
): Generator<void, StatusReport> {
  const apis: ApiReport[] = [];
  const appliances: ApplianceReport[] = [];
  for (const source of sources) {
    const found = yield* tasksTold(source);
    apis.push(apiReport(source, yield* reading(source), found, clock));
    yield;
    for (const appliance of source.watch.appliances()) {
      appliances.push(applianceReport(source, appliance, found.appliances.get(appliance.serial) ?? NO_TASKS));
      if (appliances.length % APPLIANCES_A_STEP === 0) yield;
    }
  }
  return { time: rfc3339(clock.now()), version, revision, shard, apis, appliances };
}

function apiReport(source: Source, told: ApiStatus, { resting, account }: TasksTold, clock: Clock): ApiReport {
  const { watch, pacer, runner, target, intervalMs, tokenSecondsLeft } = source;
  const secondsLeft = tokenSecondsLeft?.();
  const fromNow = (ms: number | undefined) => (ms === undefined ? null : rfc3339(clock.now() + ms));
  return {
    api: source.api,
    title: source.title,
    state: watch.up ? 'up' : watch.polledOnce || watch.lastError !== undefined ? 'down' : 'waiting',
    url: target.baseUrl,
    lastSuccess: timeOf(watch.lastSuccessAt),
    lastError: watch.lastError ?? null,
    token: {
      kind: tokenSecondsLeft === null ? 'key' : 'token',
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
    tasks: { total: watch.tasks.length, resting: runner.resting },
    resting,
    accountTasks: account,
    notes: source.notes(),
  };
}

function applianceReport(source: Source, status: ApplianceStatus, tasks: ApplianceTasks): ApplianceReport {
  const { name, serial, up, lastError, failing } = status;
  const known = source.describe(serial);
  return {
    name,
    serial,
    state: up === undefined ? 'waiting' : up ? 'up' : 'down',
    type: known?.type || null,
    build: known?.build || null,
    availableBuild: known?.availableBuild || null,
    lastPoll: timeOf(status.lastPollAt),
    lastSuccess: timeOf(status.lastSuccessAt),
    dataAgeSeconds: tasks.oldestSeconds,
    series: tasks.series,
    resting: tasks.resting,
    failing,
    lastError:
      lastError === undefined
        ? null
        : { operation: lastError.task.operation, time: rfc3339(lastError.at), message: lastError.message },
  };
}

function timeOf(at: number | undefined): string | null {
  return at === undefined ? null : rfc3339(at);
}

/** The last moment that a date can name: a service may say any number of seconds. */
const LAST_DATE_MS = 8.64e15;

function rfc3339(at: number): string {
  return new Date(Math.min(at, LAST_DATE_MS)).toISOString();
}

import type { Source } from './apis.ts';
import type { ApiReading } from './exposition/own.ts';
import type { Task } from './metrics/task.ts';
import type { Outside } from './outside.ts';
import type {
  AccountTaskReport,
  ApiReport,
  ApplianceReport,
  RestingTask,
  StatusReport,
} from './pages/status-report.ts';
import type { RestReason } from './polling/runner.ts';
import { dataTasks, demandPerSecond, stretch, worstAgeMs } from './polling/sweep.ts';
import type { ApplianceStatus } from './polling/watch.ts';
import type { Clock } from './runtime/clock.ts';
import { atOnce } from './runtime/slices.ts';

/** How many times its interval a task of this API has to wait, as the limits are now. */
export function stretchOf(source: Source | undefined): number {
  if (source === undefined) return 1;
  const { watch, runner, pacer } = source;
  const demand = demandPerSecond(watch.tasks, ({ id }) => runner.restReason(id) !== undefined);
  return stretch(demand, pacer.sustainedPerSecond);
}

/** What an API looks like at this moment, for the exporter's own metrics. */
export function read(source: Source): ApiReading {
  return atOnce(reading(source));
}

/** The same; yields between looks at all tasks, of which there may be very many. */
function* reading(source: Source): Generator<void, ApiReading> {
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
    overdue: watch.overdue(({ id }) => runner.restReason(id) === undefined, stretched),
    medianAgeSeconds: ages?.medianSeconds,
    worstAgeSeconds: ages?.worstSeconds,
    computedWorstAgeSeconds: worstAgeMs(longestMs, stretched) / 1000,
  };
}

/** So much work is done between two moments at which a report may be interrupted: tasks looked at. */
const TASKS_A_STEP = 500;

/** How things stand at this moment; yields where it may be interrupted, for there may be very many tasks. */
export function* report(
  sources: readonly Source[],
  shard: StatusReport['shard'],
  { version, revision, clock }: Outside,
): Generator<void, StatusReport> {
  const apis: ApiReport[] = [];
  const appliances: ApplianceReport[] = [];
  for (const source of sources) {
    const found = yield* lookAtTasks(source);
    apis.push(apiReport(source, yield* reading(source), found, clock));
    yield;
    for (const appliance of source.watch.appliances()) {
      appliances.push(applianceReport(source, appliance, found.appliances.get(appliance.serial) ?? NO_TASKS));
      if (appliances.length % TASKS_A_STEP === 0) yield;
    }
  }
  return { time: rfc3339(clock.now()), version, revision, shard, apis, appliances };
}

/** What the tasks of one appliance say together. */
interface ApplianceTasks {
  series: number;
  oldestSeconds: number | null;
  readonly resting: RestingTask[];
}

const NO_TASKS: ApplianceTasks = { series: 0, oldestSeconds: null, resting: [] };

interface Found {
  readonly appliances: ReadonlyMap<string, ApplianceTasks>;
  readonly resting: readonly (RestingTask & { readonly tasks: number })[];
  readonly accountTasks: readonly AccountTaskReport[];
}

function* lookAtTasks({ watch, runner }: Source): Generator<void, Found> {
  const appliances = new Map<string, ApplianceTasks>();
  const resting = new Map<string, RestingTask & { tasks: number }>();
  const accountTasks: AccountTaskReport[] = [];
  let looked = 0;
  for (const task of watch.tasks) {
    const { id, operation, appliance } = task;
    const reason = runner.restReason(id);
    const age = rounded(watch.ageSeconds(id));
    if (appliance === undefined) accountTasks.push(accountTask(task, age, reason, watch.errorOf(id)));
    else {
      const own = appliances.get(appliance.serial) ?? { series: 0, oldestSeconds: null, resting: [] };
      appliances.set(appliance.serial, own);
      own.series += 1;
      if (reason !== undefined) own.resting.push({ operation, reason });
      else if (age !== null) own.oldestSeconds = Math.max(own.oldestSeconds ?? 0, age);
    }
    if (reason !== undefined) {
      const key = `${operation} ${reason}`;
      const alike = resting.get(key) ?? { operation, reason, tasks: 0 };
      resting.set(key, alike);
      alike.tasks += 1;
    }
    looked += 1;
    if (looked % TASKS_A_STEP === 0) yield;
  }
  return { appliances, resting: [...resting.values()], accountTasks };
}

function accountTask(
  { id, operation, intervalMs }: Task,
  dataAgeSeconds: number | null,
  resting: RestReason | undefined,
  lastError: string | undefined,
): AccountTaskReport {
  return {
    task: id,
    operation,
    intervalSeconds: intervalMs / 1000,
    dataAgeSeconds,
    resting: resting ?? null,
    lastError: lastError ?? null,
  };
}

function apiReport(source: Source, told: ApiReading, { resting, accountTasks }: Found, clock: Clock): ApiReport {
  const { watch, pacer, runner, target, intervalMs, tokenSecondsLeft } = source;
  const secondsLeft = tokenSecondsLeft?.();
  const fromNow = (ms: number | undefined) => (ms === undefined ? null : rfc3339(clock.now() + ms));
  return {
    api: source.api,
    state: watch.up ? 'up' : watch.polledOnce || watch.lastError !== undefined ? 'down' : 'waiting',
    url: target.baseUrl,
    notes: source.notes(),
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
    sweepSeconds: rounded(told.sweepSeconds),
    dataAge: {
      medianSeconds: rounded(told.medianAgeSeconds),
      worstSeconds: rounded(told.worstAgeSeconds),
      computedWorstSeconds: rounded(told.computedWorstAgeSeconds),
    },
    tasks: { total: watch.tasks.length, resting: runner.resting },
    resting,
    accountTasks,
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

/** To a thousandth: more would be noise to read. */
function rounded(value: number): number;
function rounded(value: number | undefined): number | null;
function rounded(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value * 1000) / 1000;
}

function timeOf(at: number | undefined): string | null {
  return at === undefined ? null : rfc3339(at);
}

/** The last moment that a date can name: a service may say any number of seconds. */
const LAST_DATE_MS = 8.64e15;

function rfc3339(at: number): string {
  return new Date(Math.min(at, LAST_DATE_MS)).toISOString();
}

import { explainFor, explainTask, ForbiddenSeries } from '../../contract/causes.ts';
import type { InventoryGap } from '../../contract/service-details.ts';
import type { Task } from '../../contract/task.ts';
import { variantsOf } from '../../contract/variant.ts';
import type { ReportFinding } from '../../doctor/finding.ts';
import type { CheckResult, ServiceCheck } from '../../doctor/service-check.ts';
import type { JsonObject } from '../../metrics/family.ts';
import { labelValue } from '../../metrics/samples.ts';
import { date, parseDecimal } from '../../metrics/units.ts';
import { failureReason, isForbidden, isNotFound, policyForError } from '../../runtime/error-policy.ts';
import { asError, CredentialError, httpStatusOf } from '../../runtime/errors.ts';
import { getOrCreate } from '../../runtime/maps.ts';
import type { Exchange } from '../../transport/json-client.ts';
import type { DoctorCheckDependencies } from '../dependencies.ts';
import { probeBins } from './appliances/bin-probe.ts';
import { buildSupports } from './appliances/builds.ts';
import type { Appliance } from './appliances/inventory.ts';
import type { UnitEvidence } from './appliances/unit-evidence.ts';
import { missingLicence, portalCauses } from './causes.ts';
import { PortalClient } from './client.ts';
import { PortalCollector } from './collector.ts';
import { documentedResponses } from './documented.ts';
import { portalQuestions, type VariantAnswers } from './questions.ts';
import { objectOrEmpty, objectsOrEmpty } from './records.ts';
import type { PortalOptions } from './settings.ts';
import { type Credentials, lifetimeOf, parseToken, TokenSource, tokenRequest } from './token.ts';

const MAX_APPLIANCES = 3;

/** One series of this many appliances is polled, and one more if it fails, to find appliances that are off. */
const MAX_SAMPLED_APPLIANCES = 50;

/** The requests about the token, bins and periods, in addition to those of the collectors. */
const EXTRA_REQUESTS = 10;

/** The most account requests of one collector: `license` and `iam` send three each. */
const MAX_COLLECTOR_REQUESTS = 3;

/** If this many utilizations of processors and caches are at most 1, the account may send ratios. */
const MIN_UTILIZATIONS = 10;

const explain = explainFor(portalCauses, true);

type CheckOptions = PortalOptions & { readonly credentials: Credentials };

interface Run extends DoctorCheckDependencies {
  readonly options: CheckOptions;
  readonly tokens: TokenSource;
  readonly reportFinding: ReportFinding;
  readonly signal: AbortSignal;
}

/** Polls every operation of every enabled collector once, and finds out what the documentation leaves open. */
export function createPortalCheck(options: CheckOptions, dependencies: DoctorCheckDependencies): ServiceCheck {
  return {
    questions: portalQuestions,
    requests:
      EXTRA_REQUESTS +
      MAX_COLLECTOR_REQUESTS * options.collectors.length +
      options.series.length +
      2 * MAX_APPLIANCES +
      2 * MAX_SAMPLED_APPLIANCES,
    documented: (operation) => documentedResponses[operation],
    wordFields: new Set([
      ...['type', 'role', 'current_snapshot_status', 'severity', 'state', 'resource', 'initiated_by'],
      ...['subscription_status', 'health_status', 'token_type'],
    ]),
    run: (reportFinding, signal) => {
      const tokens = new TokenSource(dependencies.client, options.credentials, dependencies.environment.clock);
      return runCheck({ ...dependencies, options, tokens, reportFinding, signal });
    },
  };
}

async function runCheck(run: Run): Promise<CheckResult> {
  const { client, environment, exchanges, options, tokens, reportFinding, signal } = run;
  if (!(await checkCredentials(run))) return { variants: [], filers: [], volumes: [] };
  const portal = new PortalClient(client, tokens, environment);
  const collector = new PortalCollector(portal, { ...options, readsEarlierBuilds: true }, environment);
  try {
    const [sampledSeries] = options.series;
    const polls = await pollOnce(collector, sampledSeries?.name, signal);
    reportOperations(polls, collector, exchanges, reportFinding);
    if (sampledSeries !== undefined)
      reportAppliances(polls, collector.appliances.length, sampledSeries.name, reportFinding);
    reportUndocumentedSeries(exchanges, reportFinding);
    reportInventory(collector.inventory.gaps, exchanges, reportFinding);
    const [appliance] = collector.appliances;
    const { counts, ...bins } = appliance ? await probeBins(portal, appliance.serial, signal) : {};
    const answers: VariantAnswers = {
      ...bins,
      ...tokenAnswers(exchanges, environment.clock.now()),
      unfit_memory_series: unfitMemorySeries(exchanges),
      load_names: loadNames(exchanges),
      connection_appliance_id: connectionIds(exchanges),
    };
    const evidence = [...ratioEvidence(exchanges)];
    if (counts !== undefined) evidence.push({ question: 'counts', answer: counts, isProof: true });
    return {
      variants: [...collector.context.unitDetector.answers(evidence), ...variantsOf(answers)],
      filers: collector.appliances.map(({ serial, name }) => ({ id: serial, name })),
      volumes: volumesIn(exchanges),
    };
  } finally {
    await tokens.revoke(signal);
  }
}

async function checkCredentials(run: Run): Promise<boolean> {
  const { options, tokens, reportFinding, signal } = run;
  const { kind } = options.credentials;
  const check = 'credentials';
  try {
    await tokens.get(signal);
    const secondsLeft = tokens.remainingSeconds;
    const minutes = secondsLeft === undefined ? 'an unknown time' : `${Math.round(secondsLeft / 6) / 10} min`;
    reportFinding('ok', check, 'accepted', `accepted as ${kind}; a token lives for ${minutes}`);
    await checkRefresh(run);
    return true;
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = asError(thrown);
    const cause = error instanceof CredentialError ? asError(error.cause) : error;
    const observed = `as ${kind}: ${cause.message}`;
    const { advice } = explain(error);
    if (policyForError(cause, 'token').action !== 'pause') {
      const code = httpStatusOf(cause) === undefined ? 'no-token' : `status-${httpStatusOf(cause)}`;
      reportFinding('failure', 'token', code, observed, { expected: 'a token', advice });
      return false;
    }
    const acceptedKind = await otherAcceptedForm(run);
    const code = acceptedKind === undefined ? 'refused' : 'other-form';
    reportFinding('failure', check, code, observed, {
      expected: '200 with a token',
      advice:
        acceptedKind === undefined
          ? advice
          : `set PORTAL_AUTH=${acceptedKind}: the portal accepts the same credentials in that form`,
    });
    return false;
  }
}

/** Refreshes the token. Whether the portal accepts the new one is shown by the operations that follow. */
async function checkRefresh({ tokens, reportFinding, signal }: Run): Promise<void> {
  try {
    await tokens.refresh(signal);
    reportFinding('ok', 'token', 'refreshed', 'POST /auth/token/refresh was accepted');
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = asError(thrown);
    const advice = 'nothing has to be done: the exporter signs in again whenever a token expires';
    reportFinding('warning', 'token', `refresh-${httpStatusOf(error) ?? 'failed'}`, error.message, {
      expected: '200 with a new pair of tokens',
      advice,
    });
  }
}

async function otherAcceptedForm({ client, options: { credentials }, signal }: Run): Promise<string | undefined> {
  if (credentials.kind === 'user_key') return undefined;
  const kind = credentials.kind === 'oauth2' ? 'service_key' : 'oauth2';
  try {
    await client.send(tokenRequest({ ...credentials, kind }), signal);
    return kind;
  } catch {
    return undefined;
  }
}

interface TaskPoll {
  readonly task: Task;
  /** Undefined if it succeeded. */
  readonly error?: Error;
  readonly isEmpty?: boolean;
}

/** Polls every operation once: the inventory first, because the other tasks depend on it. */
async function pollOnce(collector: PortalCollector, sampledSeries: string | undefined, signal: AbortSignal) {
  const polls: TaskPoll[] = [];
  const polled = new Set<string>();
  // One appliance and one volume are polled for each operation. Exceptions are memory, which depends on the build, and the sampled series.
  const keyOf = ({ operation, appliance }: Task) =>
    operation.startsWith('memory_') || operation === sampledSeries ? `${operation} ${appliance?.serial}` : operation;
  for (;;) {
    const sampled = new Set(collector.appliances.slice(0, MAX_SAMPLED_APPLIANCES).map(({ serial }) => serial));
    const failing = failingAppliances(polls);
    const chosen = appliancesToPoll(collector.appliances.filter(({ serial }) => !failing.has(serial)));
    // Whether the appliance fails, or only the sampled series, is shown by one more series.
    const isDoubtful = ([first, ...more]: readonly TaskPoll[] = []) =>
      first !== undefined && more.length === 0 && failureReason(first.error) !== 'timeout';
    const task = firstOf(collector.tasks(), (candidate) => {
      const { operation, appliance } = candidate;
      if (appliance === undefined) return !polled.has(keyOf(candidate));
      const { serial } = appliance;
      const errors = failing.get(serial);
      if (errors !== undefined) return isDoubtful(errors) && operation !== sampledSeries;
      const isWanted = operation === sampledSeries ? sampled.has(serial) : chosen.has(serial);
      return isWanted && !polled.has(keyOf(candidate));
    });
    if (task === undefined) return polls;
    polled.add(keyOf(task));
    try {
      polls.push({ task, isEmpty: (await task.poll(signal)).empty });
    } catch (error) {
      if (signal.aborted) throw error;
      polls.push({ task, error: asError(error) });
    }
  }
}

function firstOf<Item>(items: Iterable<Item>, isChosen: (item: Item) => boolean): Item | undefined {
  for (const item of items) if (isChosen(item)) return item;
  return undefined;
}

/** The polls of each appliance of which none succeeded, by serial; a missing right is not the failure of an appliance. */
function failingAppliances(polls: readonly TaskPoll[]): ReadonlyMap<string, readonly TaskPoll[]> {
  const bySerial = new Map<string, TaskPoll[]>();
  for (const poll of polls) {
    if (poll.task.appliance !== undefined) getOrCreate(bySerial, poll.task.appliance.serial, () => []).push(poll);
  }
  const hasFailed = ({ error }: TaskPoll) => error !== undefined && !isForbidden(error);
  return new Map([...bySerial].filter(([, ofAppliance]) => ofAppliance.every(hasFailed)));
}

function appliancesToPoll(appliances: readonly Appliance[]): ReadonlySet<string> {
  const kinds = new Map<string, string>();
  for (const { type, build, serial } of appliances) {
    const kind = `${type}/${buildSupports('memory_utilization_details', build) ? 'new' : 'old'}`;
    if (!kinds.has(kind)) kinds.set(kind, serial);
  }
  return new Set([...kinds.values()].slice(0, MAX_APPLIANCES));
}

function reportAppliances(
  polls: readonly TaskPoll[],
  count: number,
  sampledSeries: string,
  reportFinding: ReportFinding,
): void {
  const check = 'appliances';
  for (const [, ofAppliance] of failingAppliances(polls)) {
    const { task, error } = ofAppliance.at(-1) ?? {};
    // An appliance that returns 404 for one series may only lack that series.
    if (task === undefined || (ofAppliance.length === 1 && isNotFound(error))) continue;
    reportFinding(
      'failure',
      check,
      `${httpStatusOf(error) ?? failureReason(error)}`,
      `${task.appliance?.name}: ${error?.message}`,
      {
        expected: '200',
        advice: explainTask(explain, {}, error).advice,
      },
    );
  }
  const sampled = polls.filter(({ task }) => task.operation === sampledSeries);
  const fleet = sampled.length < count ? ` (the inventory has ${count})` : '';
  const sample = `of ${sampled.length} appliances polled for ${sampledSeries}${fleet}`;
  const reporting = sampled.filter(({ isEmpty }) => isEmpty === false);
  if (reporting.length > 0) reportFinding('ok', check, 'reporting', `${reporting.length} ${sample} returned records`);
  const silent = sampled.filter(({ isEmpty }) => isEmpty).map(({ task }) => task.appliance?.name);
  if (silent.length === 0) return;
  reportFinding(
    'warning',
    check,
    'silent',
    `${silent.length} ${sample} returned no records: ${silent.slice(0, 5).join(', ')}`,
    {
      advice: explain('no_records').advice,
    },
  );
}

function reportOperations(
  polls: readonly TaskPoll[],
  { inventory, context: { licence } }: PortalCollector,
  exchanges: readonly Exchange[],
  reportFinding: ReportFinding,
): void {
  const check = 'operations';
  const isUnlicensed = licence.hasTelemetry === false;
  if (isUnlicensed) {
    reportFinding('failure', 'licence', 'no-telemetry', missingLicence.happened, {
      expected: 'a licence with operations insight',
      advice: missingLicence.advice,
    });
  }
  const failing = failingAppliances(polls);
  const series = new ForbiddenSeries();
  for (const { task, error } of polls) if (!isUnlicensed) series.add(task, error);
  const forbidden = series.explain(explain);
  if (forbidden !== undefined) {
    const { happened, advice } = forbidden;
    reportFinding('failure', check, 'telemetry-403', happened, { expected: '200', advice });
  }
  const isAddressRight = exchanges.some(({ status, operation }) => status === 200 && operation !== 'token');
  const reported = new Set<string>();
  for (const { task, error } of polls) {
    const { operation, appliance, discoversTasks } = task;
    if (error === undefined || reported.has(operation) || failing.has(appliance?.serial ?? '')) continue;
    // 404 is normal for an appliance without this disk and for a build without this memory series.
    if (appliance !== undefined && (isNotFound(error) || isForbidden(error))) continue;
    if (isUnlicensed && isForbidden(error) && error.message.includes('/telemetry/')) continue;
    if (discoversTasks && inventory.gaps.length > 0) continue;
    reported.add(operation);
    const { advice } = isAddressRight ? explainTask(explain, task, error) : explain(error);
    reportFinding('failure', check, `${operation}-${httpStatusOf(error) ?? 'failed'}`, error.message, {
      expected: '200',
      advice,
    });
  }
  if (reported.size === 0 && failing.size === 0 && forbidden === undefined && !isUnlicensed)
    reportFinding('ok', check, 'answered', 'every operation returned a usable response');
}

/** Finds series whose records are `{"time": "<RFC 3339 date>", "value": 5.2}`, as an unofficial source describes them: they state no unit and do not name what they measure. */
function reportUndocumentedSeries(exchanges: readonly Exchange[], reportFinding: ReportFinding): void {
  const isUndocumented = ({ time, value }: JsonObject) => value !== undefined && date.read(time) !== undefined;
  const operations = new Set(
    exchanges
      .filter(({ status, body }) => {
        const { items } = objectOrEmpty(body);
        const [first = objectOrEmpty(body)] = objectsOrEmpty(Array.isArray(items) ? items : body);
        return status === 200 && isUndocumented(first);
      })
      .map(({ operation }) => operation),
  );
  if (operations.size === 0) return;
  const observed = `${[...operations].join(', ')}: the records have a date in time and their number in value`;
  reportFinding('failure', 'operations', 'series-value', observed, {
    expected: 'records with epoch milliseconds in time and one field for each measured value',
    advice: 'report it with the file of --doctor --report: the exporter reads no value from such records',
  });
}

function reportInventory(
  gaps: readonly InventoryGap[],
  exchanges: readonly Exchange[],
  reportFinding: ReportFinding,
): void {
  const check = 'inventory';
  for (const { list, reason, happened, advice } of gaps) {
    const isMild = reason === 'other_ids' || (reason === 'empty' && list !== 'all');
    const code = `${list}-${reason}`.replaceAll('_', '-');
    reportFinding(isMild ? 'warning' : 'failure', check, code, happened, {
      expected: 'every list with the same appliances',
      advice,
    });
  }
  if (gaps.length > 0) return;
  const serials = idsOf(exchanges, 'serials', 'id');
  const edges = idsOf(exchanges, 'edges', 'serial');
  const both = [...edges].filter((serial) => serials.has(serial)).length;
  const observed = `${serials.size} serials, ${edges.size} edges, ${both} in both`;
  if (edges.size > both && serials.size > 0) {
    const advice = 'check in the portal that these appliances are in use; the exporter does not poll them';
    reportFinding('warning', check, 'partial-match', observed, { advice });
  } else reportFinding('ok', check, 'match', observed);
}

function itemsOf(exchanges: readonly Exchange[], operation: string) {
  return exchanges
    .filter((exchange) => exchange.status === 200 && exchange.operation === operation)
    .flatMap(({ body }) => objectsOrEmpty(objectOrEmpty(body).items));
}

function idsOf(exchanges: readonly Exchange[], operation: string, field: string): ReadonlySet<string> {
  return new Set(itemsOf(exchanges, operation).map((record) => labelValue(record[field]).toLowerCase()));
}

/** `now`: epoch milliseconds. */
function tokenAnswers(exchanges: readonly Exchange[], now: number): VariantAnswers {
  const tokenExchange = exchanges.find(({ operation, status }) => operation === 'token' && status === 200);
  if (tokenExchange === undefined) return {};
  const { seconds, toldBy } = lifetimeOf(parseToken(tokenExchange.body), now);
  const lifetimeClass = seconds <= 3600 ? 'up_to_an_hour' : seconds <= 86_400 ? 'up_to_a_day' : 'more_than_a_day';
  return { token_lifetime: seconds < 600 ? 'below_10_minutes' : lifetimeClass, token_lifetime_told_by: toldBy };
}

/** Evidence of the unit from CPU and cache utilization, for appliances whose build does not report `utilization` of memory. */
function ratioEvidence(exchanges: readonly Exchange[]): readonly UnitEvidence[] {
  const utilizations = [...itemsOf(exchanges, 'cpu_utilization'), ...itemsOf(exchanges, 'cache_utilization')]
    .flatMap(({ cpu_usage, cache_utilization }) => parseDecimal(cpu_usage) ?? parseDecimal(cache_utilization) ?? [])
    .filter((utilization) => utilization > 0);
  if (utilizations.some((utilization) => utilization > 1))
    return [{ question: 'ratio_unit', answer: 'percent', isProof: true }];
  return utilizations.length < MIN_UTILIZATIONS ? [] : [{ question: 'ratio_unit', answer: 'ratio', isProof: false }];
}

function unfitMemorySeries(exchanges: readonly Exchange[]): string | undefined {
  for (const { operation, status, body } of exchanges) {
    if (!operation.startsWith('memory_utilization')) continue;
    if (status === 404 || status === 422) return String(status);
    const { items } = objectOrEmpty(body);
    if (Array.isArray(items) && items.length === 0) return 'empty';
  }
  return undefined;
}

function loadNames(exchanges: readonly Exchange[]): string | undefined {
  const names = new Set(itemsOf(exchanges, 'load_average').flatMap((record) => Object.keys(record)));
  names.delete('time');
  const hasName = (pattern: RegExp) => [...names].some((name) => pattern.test(name));
  if (names.size === 0) return undefined;
  if (hasName(/longterm/i)) return 'longterm';
  if (hasName(/fifteen/i)) return 'minutes_in_words';
  return hasName(/15/) ? 'minutes_in_digits' : 'other';
}

function connectionIds(exchanges: readonly Exchange[]): string | undefined {
  const ids = idsOf(exchanges, 'volume_connections', 'appliance_id');
  const matches = (field: 'id' | 'serial') => [...idsOf(exchanges, 'edges', field)].some((id) => ids.has(id));
  if (matches('id')) return 'edge_id';
  return matches('serial') ? 'serial' : undefined;
}

function volumesIn(exchanges: readonly Exchange[]) {
  const connections = itemsOf(exchanges, 'volume_connections');
  const names = new Map(
    connections.map(({ volume_id, volume_name }) => [labelValue(volume_id), labelValue(volume_name)]),
  );
  return [...names].map(([id, name]) => ({ id, name }));
}

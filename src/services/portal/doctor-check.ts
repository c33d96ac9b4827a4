import type { Task } from '../../contract/task.ts';
import { variantsOf } from '../../contract/variant.ts';
import { adviceFor, describeFailure } from '../../doctor/advice.ts';
import type { ReportFinding } from '../../doctor/finding.ts';
import type { CheckResult, ServiceCheck } from '../../doctor/service-check.ts';
import type { JsonObject } from '../../metrics/family.ts';
import { labelValue } from '../../metrics/samples.ts';
import { date, parseDecimal } from '../../metrics/units.ts';
import { isForbidden, isNotFound, policyForError } from '../../runtime/error-policy.ts';
import { asError, CredentialError, httpStatusOf } from '../../runtime/errors.ts';
import type { InventoryGap } from '../../status/model.ts';
import type { Exchange } from '../../transport/json-client.ts';
import type { DoctorCheckDependencies } from '../service.ts';
import { probeBins } from './appliances/bin-probe.ts';
import { buildSupports } from './appliances/builds.ts';
import type { UnitEvidence } from './appliances/unit-evidence.ts';
import { PortalClient } from './client.ts';
import { PortalCollector } from './collector.ts';
import { documentedResponses } from './documented.ts';
import { portalQuestions, type VariantAnswers } from './questions.ts';
import { objectOrEmpty, objectsOrEmpty } from './records.ts';
import type { PortalOptions } from './settings.ts';
import { type Credentials, lifetimeOf, parseToken, TokenSource, tokenRequest } from './token.ts';

const MAX_APPLIANCES = 3;

/** One series of this many appliances is polled, to find appliances that are off. */
const MAX_SAMPLED_APPLIANCES = 50;

/** The requests about the token, bins and periods, in addition to those of the collectors. */
const EXTRA_REQUESTS = 10;

/** The most account requests of one collector: `license` and `iam` send three each. */
const MAX_COLLECTOR_REQUESTS = 3;

/** If this many utilizations of processors and caches are at most 1, the account may send ratios. */
const MIN_UTILIZATIONS = 10;

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
    rateVariable: 'PORTAL_RATE_LIMIT',
    requests:
      EXTRA_REQUESTS +
      MAX_COLLECTOR_REQUESTS * options.collectors.length +
      options.series.length +
      2 * MAX_APPLIANCES +
      MAX_SAMPLED_APPLIANCES,
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
    const { failures, namesWithoutRecords } = await pollOnce(collector, sampledSeries?.name, signal);
    reportOperations(failures, collector, exchanges, reportFinding);
    if (sampledSeries !== undefined)
      reportAppliances(namesWithoutRecords, collector.appliances, sampledSeries.name, reportFinding);
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
  const { options, tokens, exchanges, reportFinding, signal } = run;
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
    const observed = `as ${kind}: ${describeFailure(cause, exchanges)}`;
    if (policyForError(cause, 'token').action !== 'pause') {
      const code = httpStatusOf(cause) === undefined ? 'no-token' : `status-${httpStatusOf(cause)}`;
      reportFinding('failure', 'token', code, observed, { expected: 'a token', advice: adviceFor(error, ADDRESS) });
      return false;
    }
    const acceptedKind = await otherAcceptedForm(run);
    const advice =
      acceptedKind === undefined
        ? 'check the portal credentials: complete, not revoked, and of an account in this region'
        : `set PORTAL_AUTH=${acceptedKind}: the portal accepts the same credentials in that form`;
    const code = acceptedKind === undefined ? 'refused' : 'other-form';
    reportFinding('failure', check, code, observed, { expected: '200 with a token', advice });
    return false;
  }
}

/** Refreshes the token. Whether the portal accepts the new one is shown by the operations that follow. */
async function checkRefresh({ tokens, exchanges, reportFinding, signal }: Run): Promise<void> {
  try {
    await tokens.refresh(signal);
    reportFinding('ok', 'token', 'refreshed', 'POST /auth/token/refresh was accepted');
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = asError(thrown);
    const advice = 'nothing has to be done: the exporter signs in again whenever a token expires';
    reportFinding('warning', 'token', `refresh-${httpStatusOf(error) ?? 'failed'}`, describeFailure(error, exchanges), {
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

interface TaskFailure {
  readonly task: Task;
  readonly error: Error;
}

/** Polls every operation once: the inventory first, because the other tasks depend on it. */
async function pollOnce(collector: PortalCollector, sampledSeries: string | undefined, signal: AbortSignal) {
  const failures: TaskFailure[] = [];
  const namesWithoutRecords: string[] = [];
  const polled = new Set<string>();
  // One appliance and one volume are polled for each operation. Exceptions are memory, which depends on the build, and the sampled series.
  const keyOf = ({ operation, appliance }: Task) =>
    operation.startsWith('memory_') || operation === sampledSeries ? `${operation} ${appliance?.serial}` : operation;
  for (;;) {
    const chosenSerials = new Set(appliancesToPoll(collector).map(({ serial }) => serial));
    const sampledSerials = new Set(collector.appliances.slice(0, MAX_SAMPLED_APPLIANCES).map(({ serial }) => serial));
    const isChosen = ({ operation, appliance }: Task) =>
      appliance === undefined ||
      chosenSerials.has(appliance.serial) ||
      (operation === sampledSeries && sampledSerials.has(appliance.serial));
    const task = firstOf(collector.tasks(), (candidate) => isChosen(candidate) && !polled.has(keyOf(candidate)));
    if (task === undefined) return { failures, namesWithoutRecords };
    polled.add(keyOf(task));
    const { operation, appliance } = task;
    try {
      const { empty } = await task.poll(signal);
      if (empty && operation === sampledSeries && appliance !== undefined) namesWithoutRecords.push(appliance.name);
    } catch (error) {
      if (signal.aborted) throw error;
      failures.push({ task, error: asError(error) });
    }
  }
}

function firstOf<Item>(items: Iterable<Item>, isChosen: (item: Item) => boolean): Item | undefined {
  for (const item of items) if (isChosen(item)) return item;
  return undefined;
}

function appliancesToPoll(collector: PortalCollector): readonly { readonly serial: string }[] {
  const kinds = new Map<string, { readonly serial: string }>();
  for (const appliance of collector.appliances) {
    const kind = `${appliance.type}/${buildSupports('memory_utilization_details', appliance.build) ? 'new' : 'old'}`;
    if (!kinds.has(kind)) kinds.set(kind, appliance);
  }
  return [...kinds.values()].slice(0, MAX_APPLIANCES);
}

function reportAppliances(
  namesWithoutRecords: readonly string[],
  appliances: readonly { readonly name: string }[],
  sampledSeries: string,
  reportFinding: ReportFinding,
): void {
  const polledCount = Math.min(appliances.length, MAX_SAMPLED_APPLIANCES);
  if (polledCount === 0) return;
  const fleet = polledCount < appliances.length ? ` (the inventory has ${appliances.length})` : '';
  const sample = `of ${polledCount} appliances polled for ${sampledSeries}${fleet}`;
  const count = namesWithoutRecords.length;
  if (count === 0) reportFinding('ok', 'appliances', 'reporting', `0 ${sample} returned no records`);
  else {
    const observed = `${count} ${sample} returned no records: ${namesWithoutRecords.slice(0, 5).join(', ')}`;
    reportFinding('warning', 'appliances', 'silent', observed, {
      advice: 'check in the portal whether they are on and connected',
    });
  }
}

function reportOperations(
  failures: readonly TaskFailure[],
  { inventory, context: { licence } }: PortalCollector,
  exchanges: readonly Exchange[],
  reportFinding: ReportFinding,
): void {
  const check = 'operations';
  const isUnlicensed = licence.hasTelemetry === false;
  if (isUnlicensed) {
    reportFinding('failure', 'licence', 'no-telemetry', 'the licence lacks ops_iq_premium', {
      expected: 'a licence with operations insight',
      advice: 'request this licence from the account owner, or remove telemetry from PORTAL_COLLECTORS',
    });
  }
  const remaining = failures.filter(({ task, error }) => {
    if (task.discoversTasks) return inventory.gaps.length === 0;
    // 404 is normal for an appliance without this disk and for a build without this memory series.
    if (task.appliance !== undefined && isNotFound(error)) return false;
    return !(isUnlicensed && isForbidden(error) && error.message.includes('/telemetry/'));
  });
  if (remaining.length === 0) reportFinding('ok', check, 'answered', 'every operation returned a usable response');
  // One right covers all telemetry series, so they make a single finding.
  const isSeries = ({ task, error }: TaskFailure) => task.appliance !== undefined && isForbidden(error);
  const [forbidden] = remaining.filter(isSeries);
  if (forbidden !== undefined) {
    const series = new Set(remaining.filter(isSeries).map(({ task }) => task.operation));
    const observed = `${series.size} series are forbidden (403): ${forbidden.error.message}`;
    const advice = 'give the role of this key the right to read telemetry, or remove telemetry from PORTAL_COLLECTORS';
    reportFinding('failure', check, 'telemetry-403', observed, { expected: '200', advice });
  }
  const isAddressRight = exchanges.some(({ status, operation }) => status === 200 && operation !== 'token');
  const reportedOperations = new Set<string>();
  for (const { task, error } of remaining.filter((failure) => !isSeries(failure))) {
    const { operation } = task;
    if (reportedOperations.has(operation)) continue;
    reportedOperations.add(operation);
    const advice = adviceForOperation(error, operation, isAddressRight);
    reportFinding('failure', check, `${operation}-${httpStatusOf(error) ?? 'failed'}`, error.message, {
      expected: '200',
      advice,
    });
  }
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

const ADDRESS = 'check PORTAL_URL: the base address of the account’s own region, without a path';

function adviceForOperation(error: Error, operation: string, isAddressRight: boolean): string {
  const { reason, action } = policyForError(error, 'series');
  if (reason === 'forbidden')
    return `give the role of this key the right to read ${operation}, or remove its collector from PORTAL_COLLECTORS`;
  if (reason === 'not_found' && isAddressRight)
    return `the portal has no ${operation} for this account: remove its collector from PORTAL_COLLECTORS`;
  if (action === 'shrink') return 'shorten PORTAL_LOOKBACK';
  return adviceFor(error, ADDRESS);
}

function reportInventory(
  gaps: readonly InventoryGap[],
  exchanges: readonly Exchange[],
  reportFinding: ReportFinding,
): void {
  const check = 'inventory';
  for (const { list, reason, message } of gaps) {
    const isMild = reason === 'other_ids' || (reason === 'empty' && list !== 'all');
    const code = `${list}-${reason}`.replaceAll('_', '-');
    reportFinding(isMild ? 'warning' : 'failure', check, code, message, {
      expected: 'every list with the same appliances',
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

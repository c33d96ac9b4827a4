import type { Task } from '../../contract/task.ts';
import { variantsOf } from '../../contract/variant.ts';
import { adviceFor, describeFailure } from '../../doctor/advice.ts';
import type { ReportFinding } from '../../doctor/finding.ts';
import type { ServiceAnswers, ServiceCheck } from '../../doctor/service-check.ts';
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
import { documentedAnswers } from './documented.ts';
import { portalQuestions, type VariantAnswers } from './questions.ts';
import { objectOrEmpty, objectsOrEmpty } from './records.ts';
import type { PortalOptions } from './settings.ts';
import { type Credentials, lifetimeOf, parseToken, TokenSource, tokenRequest } from './token.ts';

const MAX_APPLIANCES = 3;

/** Of so many appliances one series is polled, because one that is off is not seen otherwise. */
const MAX_SAMPLED = 50;

/** Requests about the token, bins and periods, besides those of the collectors. */
const QUESTIONS = 10;

/** Of one collector: the licence and the users with their keys are three answers each. */
const MAX_COLLECTOR = 3;

/** With so many shares of processors and caches, none above 1, an account may send ratios. */
const MIN_SHARES = 10;

type ExaminedOptions = PortalOptions & { readonly credentials: Credentials };

interface Run extends DoctorCheckDependencies {
  readonly settings: ExaminedOptions;
  readonly tokens: TokenSource;
  readonly find: ReportFinding;
  readonly signal: AbortSignal;
}

/** Polls every operation of every enabled collector once, and asks what the documentation leaves open. */
export function portalExamination(settings: ExaminedOptions, parts: DoctorCheckDependencies): ServiceCheck {
  return {
    questions: portalQuestions,
    rateVariable: 'PORTAL_RATE_LIMIT',
    requests:
      QUESTIONS +
      MAX_COLLECTOR * settings.collectors.length +
      settings.series.length +
      2 * MAX_APPLIANCES +
      MAX_SAMPLED,
    documented: (operation) => documentedAnswers[operation],
    wordFields: new Set([
      ...['type', 'role', 'current_snapshot_status', 'severity', 'state', 'resource', 'initiated_by'],
      ...['subscription_status', 'health_status', 'token_type'],
    ]),
    run: (find, signal) => {
      const tokens = new TokenSource(parts.client, settings.credentials, parts.environment.clock);
      return examine({ ...parts, settings, tokens, find, signal });
    },
  };
}

async function examine(run: Run): Promise<ServiceAnswers> {
  const { client, environment, exchanges, settings, tokens, find, signal } = run;
  if (!(await checkCredentials(run))) return { variants: [], filers: [], volumes: [] };
  const portal = new PortalClient(client, tokens, environment);
  const collector = new PortalCollector(portal, settings, environment);
  try {
    const [sampled] = settings.series;
    const { faults, silent } = await pollOnce(collector, sampled?.name, signal);
    tellOperations(faults, collector, exchanges, find);
    if (sampled !== undefined) tellAppliances(silent, collector.appliances, sampled.name, find);
    reportUndocumentedSeries(exchanges, find);
    tellInventory(collector.inventory.gaps, exchanges, find);
    const [appliance] = collector.appliances;
    const { counts, ...bins } = appliance ? await probeBins(portal, appliance.serial, signal) : {};
    const answers: VariantAnswers = {
      ...bins,
      ...tokenAnswers(exchanges, environment.clock.now()),
      unfit_memory_series: unfitMemorySeries(exchanges),
      load_names: loadNames(exchanges),
      connection_appliance_id: connectionIds(exchanges),
    };
    const asked = [...ratiosByShares(exchanges)];
    if (counts !== undefined) asked.push({ question: 'counts', answer: counts, isProof: true });
    return {
      variants: [...collector.parts.unitWatch.answers(asked), ...variantsOf(answers)],
      filers: collector.appliances.map(({ serial, name }) => ({ id: serial, name })),
      volumes: volumesIn(exchanges),
    };
  } finally {
    await tokens.revoke(signal);
  }
}

async function checkCredentials(run: Run): Promise<boolean> {
  const { settings, tokens, exchanges, find, signal } = run;
  const { kind } = settings.credentials;
  const check = 'credentials';
  try {
    await tokens.get(signal);
    const left = tokens.secondsLeft;
    const minutes = left === undefined ? 'an unknown time' : `${Math.round(left / 6) / 10} min`;
    find('ok', check, 'accepted', `accepted as ${kind}; a token lives for ${minutes}`);
    await checkRefresh(run);
    return true;
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = asError(thrown);
    const cause = error instanceof CredentialError ? asError(error.cause) : error;
    const seen = `as ${kind}: ${describeFailure(cause, exchanges)}`;
    if (policyForError(cause, 'token').action !== 'pause') {
      const code = httpStatusOf(cause) === undefined ? 'no-token' : `status-${httpStatusOf(cause)}`;
      find('failure', 'token', code, seen, { expected: 'a token', advice: adviceFor(error, ADDRESS) });
      return false;
    }
    const other = await otherForm(run);
    const advice =
      other === undefined
        ? 'check the portal credentials: complete, not revoked, and of an account in this region'
        : `set PORTAL_AUTH=${other}: the portal accepts the same credentials in that form`;
    const code = other === undefined ? 'refused' : 'other-form';
    find('failure', check, code, seen, { expected: '200 with a token', advice });
    return false;
  }
}

/** The operations that follow show whether the new token is accepted. */
async function checkRefresh({ tokens, exchanges, find, signal }: Run): Promise<void> {
  try {
    await tokens.refresh(signal);
    find('ok', 'token', 'refreshed', 'POST /auth/token/refresh was accepted');
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = asError(thrown);
    const advice = 'nothing has to be done: the exporter sends the credentials again whenever a token expires';
    find('warning', 'token', `refresh-${httpStatusOf(error) ?? 'failed'}`, describeFailure(error, exchanges), {
      expected: '200 with a new pair of tokens',
      advice,
    });
  }
}

async function otherForm({ client, settings: { credentials }, signal }: Run): Promise<string | undefined> {
  if (credentials.kind === 'user_key') return undefined;
  const kind = credentials.kind === 'oauth2' ? 'service_key' : 'oauth2';
  try {
    await client.send(tokenRequest({ ...credentials, kind }), signal);
    return kind;
  } catch {
    return undefined;
  }
}

interface Fault {
  readonly task: Task;
  readonly error: Error;
}

/** Polls every operation once: the inventory first, because the other tasks depend on it. */
async function pollOnce(collector: PortalCollector, sampled: string | undefined, signal: AbortSignal) {
  const faults: Fault[] = [];
  const silent: string[] = [];
  const polled = new Set<string>();
  // One volume and one appliance stand for all, except for memory, where builds differ, and for the sampled series.
  const keyOf = ({ operation, appliance }: Task) =>
    operation.startsWith('memory_') || operation === sampled ? `${operation} ${appliance?.serial}` : operation;
  for (;;) {
    const chosen = new Set(differing(collector).map(({ serial }) => serial));
    const first = new Set(collector.appliances.slice(0, MAX_SAMPLED).map(({ serial }) => serial));
    const isChosen = ({ operation, appliance }: Task) =>
      appliance === undefined || chosen.has(appliance.serial) || (operation === sampled && first.has(appliance.serial));
    const task = firstOf(collector.tasks(), (one) => isChosen(one) && !polled.has(keyOf(one)));
    if (task === undefined) return { faults, silent };
    polled.add(keyOf(task));
    const { operation, appliance } = task;
    try {
      const { empty } = await task.poll(signal);
      if (empty && operation === sampled && appliance !== undefined) silent.push(appliance.name);
    } catch (error) {
      if (signal.aborted) throw error;
      faults.push({ task, error: asError(error) });
    }
  }
}

function firstOf<Item>(items: Iterable<Item>, isChosen: (item: Item) => boolean): Item | undefined {
  for (const item of items) if (isChosen(item)) return item;
  return undefined;
}

function differing(collector: PortalCollector): readonly { readonly serial: string }[] {
  const kinds = new Map<string, { readonly serial: string }>();
  for (const appliance of collector.appliances) {
    const kind = `${appliance.type}/${buildSupports('memory_utilization_details', appliance.build) ? 'new' : 'old'}`;
    if (!kinds.has(kind)) kinds.set(kind, appliance);
  }
  return [...kinds.values()].slice(0, MAX_APPLIANCES);
}

function tellAppliances(
  silent: readonly string[],
  all: readonly { readonly name: string }[],
  sampled: string,
  find: ReportFinding,
): void {
  const asked = Math.min(all.length, MAX_SAMPLED);
  if (asked === 0) return;
  const of = `of ${asked} asked for ${sampled}${asked < all.length ? `, of ${all.length}` : ''}`;
  if (silent.length === 0) find('ok', 'appliances', 'reporting', `none is without records ${of}`);
  else {
    const seen = `${silent.length} without records ${of}: ${silent.slice(0, 5).join(', ')}`;
    find('warning', 'appliances', 'silent', seen, { advice: 'check in the portal whether they are on and connected' });
  }
}

function tellOperations(
  faults: readonly Fault[],
  { inventory, parts: { licence } }: PortalCollector,
  exchanges: readonly Exchange[],
  find: ReportFinding,
): void {
  const check = 'operations';
  const isUnlicensed = licence.hasTelemetry === false;
  if (isUnlicensed) {
    find('failure', 'licence', 'no-telemetry', 'the licence lacks ops_iq_premium', {
      expected: 'a licence with operations insight',
      advice: 'ask the account owner, or leave telemetry out of PORTAL_COLLECTORS',
    });
  }
  const left = faults.filter(({ task, error }) => {
    if (task.discoversTasks) return inventory.gaps.length === 0;
    // The normal answer of an appliance without this disk, or of a build without this memory series.
    if (task.appliance !== undefined && isNotFound(error)) return false;
    return !(isUnlicensed && isForbidden(error) && error.message.includes('/telemetry/'));
  });
  if (left.length === 0) find('ok', check, 'answered', 'every operation was answered');
  // A right covers the telemetry of all series.
  const isSeries = ({ task, error }: Fault) => task.appliance !== undefined && isForbidden(error);
  const [forbidden] = left.filter(isSeries);
  if (forbidden !== undefined) {
    const series = new Set(left.filter(isSeries).map(({ task }) => task.operation));
    const seen = `${series.size} series are forbidden (403): ${forbidden.error.message}`;
    const advice = 'give the role of this key the right to read telemetry, or remove telemetry from PORTAL_COLLECTORS';
    find('failure', check, 'telemetry-403', seen, { expected: '200', advice });
  }
  const isAddressRight = exchanges.some(({ status, operation }) => status === 200 && operation !== 'token');
  const told = new Set<string>();
  for (const { task, error } of left.filter((fault) => !isSeries(fault))) {
    const { operation } = task;
    if (told.has(operation)) continue;
    told.add(operation);
    const advice = adviceOnOperation(error, operation, isAddressRight);
    find('failure', check, `${operation}-${httpStatusOf(error) ?? 'failed'}`, error.message, {
      expected: '200',
      advice,
    });
  }
}

/** A weak source describes series of `{"time": "<RFC 3339 date>", "value": 5.2}`: no unit, and no name of what it measures. */
function reportUndocumentedSeries(exchanges: readonly Exchange[], find: ReportFinding): void {
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
  const seen = `${[...operations].join(', ')}: the records have a date in time and their number in value`;
  find('failure', 'operations', 'series-value', seen, {
    expected: 'records with epoch milliseconds in time and one field for each measured value',
    advice: 'report it with the file of --doctor --report: the exporter reads no value from such records',
  });
}

const ADDRESS = 'check PORTAL_URL: the base address of the account’s own region, without a path';

function adviceOnOperation(error: Error, operation: string, isAddressRight: boolean): string {
  const { reason, action } = policyForError(error, 'series');
  if (reason === 'forbidden')
    return `give the role of this key the right to read ${operation}, or remove its collector from PORTAL_COLLECTORS`;
  if (reason === 'not_found' && isAddressRight)
    return `the portal has no ${operation} for this account: remove its collector from PORTAL_COLLECTORS`;
  if (action === 'shrink') return 'shorten PORTAL_LOOKBACK';
  return adviceFor(error, ADDRESS);
}

function tellInventory(gaps: readonly InventoryGap[], exchanges: readonly Exchange[], find: ReportFinding): void {
  const check = 'inventory';
  for (const { list, reason, message } of gaps) {
    const isMild = reason === 'other_ids' || (reason === 'empty' && list !== 'all');
    const code = `${list}-${reason}`.replaceAll('_', '-');
    find(isMild ? 'warning' : 'failure', check, code, message, { expected: 'every list with the same appliances' });
  }
  if (gaps.length > 0) return;
  const serials = idsOf(exchanges, 'serials', 'id');
  const edges = idsOf(exchanges, 'edges', 'serial');
  const both = [...edges].filter((serial) => serials.has(serial)).length;
  const seen = `${serials.size} serials, ${edges.size} edges, ${both} in both`;
  if (edges.size > both && serials.size > 0) {
    const advice = 'check in the portal that these appliances are in use; the exporter does not poll them';
    find('warning', check, 'partial-match', seen, { advice });
  } else find('ok', check, 'match', seen);
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
  const answered = exchanges.find(({ operation, status }) => operation === 'token' && status === 200);
  if (answered === undefined) return {};
  const { seconds, toldBy } = lifetimeOf(parseToken(answered.body), now);
  const usual = seconds <= 3600 ? 'up_to_an_hour' : seconds <= 86_400 ? 'up_to_a_day' : 'more_than_a_day';
  return { token_lifetime: seconds < 600 ? 'below_10_minutes' : usual, token_lifetime_told_by: toldBy };
}

/** Of appliances whose memory does not tell, as it does from build 10.0.4. */
function ratiosByShares(exchanges: readonly Exchange[]): readonly UnitEvidence[] {
  const shares = [...itemsOf(exchanges, 'cpu_utilization'), ...itemsOf(exchanges, 'cache_utilization')]
    .flatMap(({ cpu_usage, cache_utilization }) => parseDecimal(cpu_usage) ?? parseDecimal(cache_utilization) ?? [])
    .filter((share) => share > 0);
  if (shares.some((share) => share > 1)) return [{ question: 'ratio_unit', answer: 'percent', isProof: true }];
  return shares.length < MIN_SHARES ? [] : [{ question: 'ratio_unit', answer: 'ratio', isProof: false }];
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
  const spelt = (pattern: RegExp) => [...names].some((name) => pattern.test(name));
  if (names.size === 0) return undefined;
  if (spelt(/longterm/i)) return 'longterm';
  if (spelt(/fifteen/i)) return 'minutes_in_words';
  return spelt(/15/) ? 'minutes_in_digits' : 'other';
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

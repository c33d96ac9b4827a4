import { explainFor } from '../../../contract/causes.ts';
import type { ReportFinding } from '../../../doctor/finding.ts';
import { ages } from '../../../doctor/plausible.ts';
import { answersTo, type CheckResult, type ServiceCheck } from '../../../doctor/service-check.ts';
import { isJsonObject, type JsonObject } from '../../../metrics/family.ts';
import { labelValue } from '../../../metrics/samples.ts';
import { parseDateSeconds, parseDecimal } from '../../../metrics/units.ts';
import { asError, httpStatusOf, RequestError } from '../../../runtime/errors.ts';
import { meaningOf } from '../../../runtime/failures.ts';
import { Secret } from '../../../runtime/secret.ts';
import type { DoctorCheckDependencies } from '../../service.ts';
import { gfaCauses } from '../causes.ts';
import { dataRequest, type GfaClientSettings, temporaryClientKey } from '../client.ts';
import { parseDataResponse } from '../data-response.ts';
import { GROUPS } from '../families.ts';
import { gfaQuestions } from './questions.ts';

/** The header names that deployments of the service are known to use. */
const HEADERS = ['X-Service-client-key', 'X-Nasuni-client-key'] as const;

/** The time between two requests with one client key, so short that few events happen in it. */
const PAUSE_MS = 2_000;

/** Sends every request with client keys of the doctor's own, so that the exporter loses no event. */
export function createGfaCheck(
  settings: GfaClientSettings,
  { client, environment: { clock } }: DoctorCheckDependencies,
): ServiceCheck {
  const key = temporaryClientKey(settings, 'doctor', clock.now());
  const run = async (reportFinding: ReportFinding, signal: AbortSignal): Promise<CheckResult> => {
    const sendWithKey = (suffix: string, change: Partial<GfaClientSettings> = {}) => {
      const request = dataRequest({ ...settings, ...change, clientKey: `${key}${suffix}` });
      // Each request may move a bookmark.
      return resultOf(client.send({ ...request, onlyOnce: true }, signal));
    };
    const { body: first, error } = await sendWithKey('-a');
    if (error !== undefined) {
      const token = Secret.of(`Bearer ${settings.token.reveal()}`);
      await reportFailure(error, reportFinding, () => sendWithKey('-a', { token }));
      return { answers: [], filers: [], volumes: [] };
    }
    reportFinding('ok', 'credentials', 'accepted', 'GFA_TOKEN is accepted');
    await clock.sleep(PAUSE_MS, signal);
    const again = await sendWithKey('-a');
    const otherKey = await sendWithKey('-b');
    const reduced = await sendWithKey('-b', { groups: ['filers', 'volumes'] });
    const events = eventsIn(first);
    if (otherKey.error !== undefined) {
      const observed = `${settings.clientKeyHeader} could not be checked: ${otherKey.error.message}`;
      reportFinding('unknown', 'client-key', 'failed', observed);
    } else {
      await checkHeader(settings, events, eventsIn(otherKey.body), reportFinding, (clientKeyHeader) =>
        sendWithKey('-c', { clientKeyHeader }),
      );
    }
    checkContents(first, reportFinding);
    const hasDelivery = again.error === undefined && otherKey.error === undefined;
    const answers = answersTo({
      metrics_shape: formatOfMetrics(first),
      delivery: hasDelivery ? deliveryOf(events, eventsIn(again.body), eventsIn(otherKey.body)) : undefined,
      new_key_reach: reachOf(first),
      switched_off_group: switchedOffGroup(reduced.body),
    });
    return { answers, ...namesIn(first) };
  };
  return {
    requests: 6,
    questions: gfaQuestions,
    run,
  };
}

interface RequestResult {
  readonly body?: unknown;
  readonly error?: Error;
}

async function resultOf(request: Promise<unknown>): Promise<RequestResult> {
  try {
    return { body: await request };
  } catch (thrown) {
    const error = asError(thrown);
    if (error instanceof RequestError && error.reason === 'aborted') throw error;
    return { error };
  }
}

const explain = explainFor(gfaCauses, true);

/** Reports why the first request failed. After a rejected token, the other form of the token is tried first. */
async function reportFailure(
  error: Error,
  reportFinding: ReportFinding,
  sendWithBearer: () => Promise<RequestResult>,
): Promise<void> {
  const { message: observed } = error;
  const status = httpStatusOf(error);
  const { advice } = explain(error);
  if (meaningOf(error).action === 'renew') {
    const acceptsBearer = (await sendWithBearer()).error === undefined;
    reportFinding('failure', 'credentials', acceptsBearer ? 'other-form' : 'rejected', observed, {
      expected: '200',
      advice: acceptsBearer
        ? 'put the word Bearer and a space before the key in GFA_TOKEN: the service accepts that'
        : advice,
    });
  } else {
    reportFinding('failure', 'data', `status-${status ?? 'none'}`, observed, { expected: '200', advice });
  }
}

/** Checks that each client key receives all events. If a second key receives none of the first key's events, the service ignores the header, and other header names are tried. */
async function checkHeader(
  { clientKeyHeader }: GfaClientSettings,
  events: ReadonlySet<string>,
  otherEvents: ReadonlySet<string>,
  reportFinding: ReportFinding,
  sendWithHeader: (header: string) => Promise<RequestResult>,
): Promise<void> {
  const check = 'client-key';
  // Only earlier events count, because new ones are delivered to any key.
  const hasEarlierEvent = (received: ReadonlySet<string>) => [...received].some((event) => events.has(event));
  if (events.size === 0) {
    const observed = `${clientKeyHeader} could not be checked: no event shows whether it is the right header`;
    const advice = 'run the doctor again once files of an accelerated volume have changed';
    reportFinding('unknown', check, 'no-events', observed, { advice });
    return;
  }
  if (hasEarlierEvent(otherEvents)) {
    reportFinding('ok', check, 'honoured', `${clientKeyHeader} gives each key its own events`);
    return;
  }
  const observed = `two keys in ${clientKeyHeader} share one bookmark: the second received 0 of ${events.size} events`;
  const expected = 'each client key receives all events';
  for (const header of HEADERS) {
    if (header.toLowerCase() === clientKeyHeader.toLowerCase()) continue;
    const { body, error } = await sendWithHeader(header);
    if (error !== undefined) {
      reportFinding('unknown', check, 'failed', `${header} could not be checked: ${error.message}`);
      return;
    }
    if (!hasEarlierEvent(eventsIn(body))) continue;
    const advice = `set GFA_CLIENT_KEY_HEADER=${header}: with it a new key receives all events`;
    reportFinding('failure', check, 'other-header', observed, { expected, advice });
    return;
  }
  const advice =
    'request the name of the client key header from the operator of the service, and set GFA_CLIENT_KEY_HEADER to it';
  reportFinding('failure', check, 'ignored', observed, { expected, advice });
}

function checkContents(body: unknown, reportFinding: ReportFinding): void {
  const { groups } = parseDataResponse(body, () => {});
  const counts = GROUPS.map((group) => `${groups[group].length} ${group}`).join(', ');
  if (groups.filers.length === 0) {
    const advice = 'check that filers are connected to an accelerated volume, and that GFA_METRICS contains filers';
    reportFinding('warning', 'data', 'no-filers', counts, { expected: 'records of filers', advice });
  } else reportFinding('ok', 'data', 'records', counts);
  const valuesOf = (records: readonly JsonObject[], field: string) =>
    records.flatMap((record) => parseDecimal(record[field]) ?? []);
  // A filer that works contacts the service every few minutes. Its records on volumes tell how long it was idle there.
  const ownRecords = groups.filers.filter(({ volume_guid }) => !volume_guid);
  const found = [
    ages('last_checkin', valuesOf(ownRecords, 'last_checkin'), 3_600),
    ages('oldest_unprotected_data', valuesOf(groups.filers, 'oldest_unprotected_data'), 7 * 86_400),
  ];
  for (const { level, code, observed, ...more } of found) reportFinding(level, 'ages', code, observed, more);
}

function formatOfMetrics(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  if (Array.isArray(body.metrics)) return body.metrics.length > 1 ? 'several_objects' : 'array';
  return isJsonObject(body.metrics) ? 'object' : undefined;
}

function deliveryOf(
  first: ReadonlySet<string>,
  again: ReadonlySet<string>,
  otherKey: ReadonlySet<string>,
): string | undefined {
  if (first.size === 0) return undefined;
  const repeated = [...first].filter((event) => again.has(event)).length;
  if (repeated === 0) return [...first].some((event) => otherKey.has(event)) ? 'bookmark' : 'bookmark_shared';
  // A few events leave the window while the doctor runs.
  return repeated > 0.8 * first.size ? 'window' : 'overlapping';
}

function reachOf(body: unknown): string | undefined {
  if (!isJsonObject(body) || !isJsonObject(body.info)) return undefined;
  const requestedAt = parseDateSeconds(body.info.request_time);
  const times = eventRecords(body).flatMap(({ timestamp }) => parseDateSeconds(timestamp) ?? []);
  if (requestedAt === undefined || times.length === 0) return undefined;
  const oldest = times.reduce((least, time) => Math.min(least, time));
  const hours = (requestedAt - oldest) / 3600;
  if (hours <= 0.1) return 'minutes';
  return hours <= 1.1 ? 'an_hour' : hours <= 25 ? 'a_day' : 'more_than_a_day';
}

function switchedOffGroup(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  const part: unknown = Array.isArray(body.metrics) ? body.metrics[0] : body.metrics;
  if (!isJsonObject(part)) return undefined;
  if (part.locks === undefined) return 'missing';
  return Array.isArray(part.locks) && part.locks.length === 0 ? 'empty' : 'ignored';
}

function eventRecords(body: unknown): readonly JsonObject[] {
  if (body === undefined) return [];
  const { groups } = parseDataResponse(body, () => {});
  return [...groups.locks, ...groups.propagation];
}

function eventsIn(body: unknown): ReadonlySet<string> {
  return new Set(eventRecords(body).map((record) => JSON.stringify(record)));
}

function namesIn(body: unknown): Pick<CheckResult, 'filers' | 'volumes'> {
  const { groups } = parseDataResponse(body, () => {});
  const named = (records: readonly JsonObject[], id: string, title: string) => {
    const names = new Map(records.map((record) => [labelValue(record[id]), labelValue(record[title])]));
    return [...names].filter(([recordId]) => recordId !== '').map(([recordId, name]) => ({ id: recordId, name }));
  };
  return {
    filers: named(groups.filers, 'filer_guid', 'filer_title'),
    volumes: named([...groups.volumes, ...groups.filers], 'volume_guid', 'volume_title'),
  };
}

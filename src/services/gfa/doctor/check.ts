import { explainFor } from '../../../contract/causes.ts';
import type { ReportFinding } from '../../../doctor/finding.ts';
import {
  type NamesOfService,
  type Outcome,
  outcomeOf,
  reportAnswers,
  type ServiceCheck,
} from '../../../doctor/service-check.ts';
import type { JsonObject } from '../../../metrics/family.ts';
import { labelValue } from '../../../metrics/samples.ts';
import { medianOf, parseDecimal } from '../../../metrics/units.ts';
import { httpStatusOf } from '../../../runtime/errors.ts';
import { meaningOf } from '../../../runtime/failures.ts';
import { Secret } from '../../../runtime/secret.ts';
import type { DoctorCheckDependencies } from '../../service.ts';
import { gfaCauses } from '../causes.ts';
import { dataRequest, type GfaClientSettings, temporaryClientKey } from '../client.ts';
import { type DataResponse, parseDataResponse } from '../data-response.ts';
import { GROUPS } from '../families.ts';
import { deliveryOf, eventsIn, gfaReadings, reachOf, shapeOf, switchedOffGroup } from './answers.ts';

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
  const run = async (reportFinding: ReportFinding, signal: AbortSignal): Promise<NamesOfService> => {
    const sendWithKey = (suffix: string, change: Partial<GfaClientSettings> = {}) => {
      const request = dataRequest({ ...settings, ...change, clientKey: `${key}${suffix}` });
      // Each request may move a bookmark.
      return outcomeOf(client.send({ ...request, onlyOnce: true }, signal), signal);
    };
    const { result: first, error } = await sendWithKey('-a');
    if (error !== undefined) {
      const token = new Secret(`Bearer ${settings.token.reveal()}`);
      await reportFailure(error, reportFinding, () => sendWithKey('-a', { token }));
      return { filers: [], volumes: [] };
    }
    reportFinding('ok', 'credentials', 'accepted', 'GFA_TOKEN is accepted');
    await clock.sleep(PAUSE_MS, signal);
    const again = await sendWithKey('-a');
    const otherKey = await sendWithKey('-b');
    const reduced = await sendWithKey('-b', { groups: ['filers', 'volumes'] });
    await checkHeader(settings, first, otherKey, reportFinding, (clientKeyHeader) =>
      sendWithKey('-c', { clientKeyHeader }),
    );
    const response = parseDataResponse(first, () => {});
    checkContents(response, reportFinding);
    const answers = {
      metrics_shape: shapeOf(first),
      delivery: deliveryOf(first, again.result, otherKey.result),
      new_key_reach: reachOf(first),
      switched_off_group: switchedOffGroup(reduced.result),
    };
    reportAnswers(gfaReadings, answers, reportFinding);
    return namesIn(response);
  };
  return { requests: 6, run };
}

const explain = explainFor(gfaCauses, true);

/** Reports why the first request failed. After a rejected token, the other form of the token is tried first. */
async function reportFailure(
  error: Error,
  reportFinding: ReportFinding,
  sendWithBearer: () => Promise<Outcome<unknown>>,
): Promise<void> {
  const { message: observed } = error;
  const { advice } = explain(error);
  const expected = '200';
  if (meaningOf(error).action !== 'renew') {
    reportFinding('failure', 'data', `status-${httpStatusOf(error) ?? 'none'}`, observed, { expected, advice });
  } else if ((await sendWithBearer()).error !== undefined) {
    reportFinding('failure', 'credentials', 'rejected', observed, { expected, advice });
  } else {
    const otherForm = 'put the word Bearer and a space before the key in GFA_TOKEN: the service accepts that';
    reportFinding('failure', 'credentials', 'other-form', observed, { expected, advice: otherForm });
  }
}

/** Checks that each client key receives all events. If a second key receives none of the first key's events, the service ignores the header, and other header names are tried. */
async function checkHeader(
  { clientKeyHeader }: GfaClientSettings,
  first: unknown,
  otherKey: Outcome<unknown>,
  reportFinding: ReportFinding,
  sendWithHeader: (header: string) => Promise<Outcome<unknown>>,
): Promise<void> {
  const check = 'client-key';
  const events = eventsIn(first);
  // Only earlier events count, because new ones are delivered to any key.
  const hasEarlierEvent = (body: unknown) => [...eventsIn(body)].some((event) => events.has(event));
  const reportUnknown = (header: string, { message }: Error) =>
    reportFinding('unknown', check, 'failed', `${header} could not be checked: ${message}`);
  if (otherKey.error !== undefined) {
    reportUnknown(clientKeyHeader, otherKey.error);
    return;
  }
  if (events.size === 0) {
    const observed = `${clientKeyHeader} could not be checked: no event shows whether it is the right header`;
    const advice = 'run the doctor again once files of an accelerated volume have changed';
    reportFinding('unknown', check, 'no-events', observed, { advice });
    return;
  }
  if (hasEarlierEvent(otherKey.result)) {
    reportFinding('ok', check, 'honoured', `${clientKeyHeader} gives each key its own events`);
    return;
  }
  const observed = `two keys in ${clientKeyHeader} share one bookmark: the second received 0 of ${events.size} events`;
  const expected = 'each client key receives all events';
  for (const header of HEADERS) {
    if (header.toLowerCase() === clientKeyHeader.toLowerCase()) continue;
    const { result, error } = await sendWithHeader(header);
    if (error !== undefined) {
      reportUnknown(header, error);
      return;
    }
    if (!hasEarlierEvent(result)) continue;
    const advice = `set GFA_CLIENT_KEY_HEADER=${header}: with it a new key receives all events`;
    reportFinding('failure', check, 'other-header', observed, { expected, advice });
    return;
  }
  const advice =
    'request the name of the client key header from the operator of the service, and set GFA_CLIENT_KEY_HEADER to it';
  reportFinding('failure', check, 'ignored', observed, { expected, advice });
}

function checkContents({ groups }: DataResponse, reportFinding: ReportFinding): void {
  const counts = GROUPS.map((group) => `${groups[group].length} ${group}`).join(', ');
  if (groups.filers.length === 0) {
    const advice = 'check that filers are connected to an accelerated volume, and that GFA_METRICS contains filers';
    reportFinding('warning', 'data', 'no-filers', counts, { expected: 'records of filers', advice });
  } else reportFinding('ok', 'data', 'records', counts);
  // A filer that works contacts the service every few minutes. Its records on volumes tell how long it was idle there.
  const ownRecords = groups.filers.filter(({ volume_guid }) => !volume_guid);
  checkAges('last_checkin', ownRecords, 3_600, reportFinding);
  checkAges('oldest_unprotected_data', groups.filers, 7 * 86_400, reportFinding);
}

/** A number above this cannot be an age, in seconds, because the services are younger. */
const MAX_AGE_S = 10 * 365 * 86_400;

/**
 * Checks whether the values of a field can be ages in seconds. `usualS` is the most that the median of a healthy account
 * has: milliseconds of minutes look like seconds of days, so only a limit that is near the usual values finds them.
 */
function checkAges(field: string, records: readonly JsonObject[], usualS: number, reportFinding: ReportFinding): void {
  const values = records.flatMap((record) => parseDecimal(record[field]) ?? []);
  const median = medianOf(values);
  if (median === undefined) {
    reportFinding('unknown', 'ages', 'no-values', `${field} could not be checked: no record has a value`);
    return;
  }
  const impossible = values.filter((value) => value < 0 || value > MAX_AGE_S).length;
  const observed = `${field}: median ${Math.round(median)}, ${impossible} of ${values.length} impossible`;
  if (impossible === 0 && median <= usualS) {
    reportFinding('ok', 'ages', 'ages', observed);
    return;
  }
  const advice =
    'compare one value with the portal: if the unit is another one, the critical alerts about it are wrong; report it to the maintainers';
  const expected = `ages in seconds, usually below ${usualS}`;
  reportFinding('warning', 'ages', 'no-ages', observed, { expected, advice });
}

function namesIn({ groups }: DataResponse): NamesOfService {
  const named = (records: readonly JsonObject[], id: string, title: string) => {
    const names = new Map(records.map((record) => [labelValue(record[id]), labelValue(record[title])]));
    return [...names].filter(([recordId]) => recordId !== '').map(([recordId, name]) => ({ id: recordId, name }));
  };
  return {
    filers: named(groups.filers, 'filer_guid', 'filer_title'),
    volumes: named([...groups.volumes, ...groups.filers], 'volume_guid', 'volume_title'),
  };
}

import { variantsOf } from '../../contract/variant.ts';
import { adviceFor, describeFailure } from '../../doctor/advice.ts';
import type { ReportFinding } from '../../doctor/finding.ts';
import type { ServiceAnswers, ServiceCheck } from '../../doctor/service-check.ts';
import { isJsonObject, type JsonObject } from '../../metrics/family.ts';
import { labelValue } from '../../metrics/samples.ts';
import { parseDateSeconds } from '../../metrics/units.ts';
import { policyForError } from '../../runtime/error-policy.ts';
import { asError, httpStatusOf, RequestError } from '../../runtime/errors.ts';
import { Secret } from '../../runtime/secret.ts';
import type { DoctorCheckDependencies } from '../service.ts';
import { dataRequest, type GfaOptions, temporaryClientKey } from './client.ts';
import { parseDataResponse } from './data-response.ts';
import { documentedData } from './documented.ts';
import { GROUPS } from './families.ts';
import { ENUM_FIELDS } from './label-value-limits.ts';
import { gfaQuestions } from './questions.ts';

/** Header names that deployments of the service are known to use. */
const HEADERS = ['X-Service-client-key', 'X-Nasuni-client-key'] as const;

/** Time between two calls with one key, in milliseconds: few events happen meanwhile. */
const PAUSE_MS = 2_000;

/** Every call has a client key of the doctor's own, so that the exporter loses no event. */
export function gfaExamination(
  settings: GfaOptions,
  { client, environment: { clock }, exchanges }: DoctorCheckDependencies,
): ServiceCheck {
  const key = temporaryClientKey(settings, 'doctor', clock.now());
  const run = async (find: ReportFinding, signal: AbortSignal): Promise<ServiceAnswers> => {
    // Without retries: each call may move a bookmark.
    const ask = (suffix: string, change: Partial<GfaOptions> = {}) =>
      attempted(client.send(dataRequest({ ...settings, ...change, clientKey: `${key}${suffix}` }), signal));
    const { body: first, error } = await ask('-a');
    if (error !== undefined) {
      const token = Secret.of(`Bearer ${settings.token.reveal()}`);
      await explain(error, describeFailure(error, exchanges), find, () => ask('-a', { token }));
      return { variants: [], filers: [], volumes: [] };
    }
    find('ok', 'credentials', 'accepted', 'GFA_TOKEN is accepted');
    await clock.sleep(PAUSE_MS, signal);
    const { body: again } = await ask('-a');
    const { body: other } = await ask('-b');
    const { body: reduced } = await ask('-b', { groups: ['filers', 'volumes'] });
    const [events, repeated, others] = [eventsIn(first), eventsIn(again), eventsIn(other)];
    await checkHeader(settings, events, others, find, (clientKeyHeader) => ask('-c', { clientKeyHeader }));
    checkContents(first, find);
    const variants = variantsOf({
      metrics_shape: shapeOf(first),
      delivery: deliveryOf(events, repeated, others),
      new_key_reach: reachOf(first),
      switched_off_group: switchedOff(reduced),
    });
    return { variants, ...namesIn(first) };
  };
  return {
    requests: 6,
    questions: gfaQuestions,
    run,
    documented: (operation, body) => (operation === 'data' ? documentedData(body) : undefined),
    wordFields: new Set(['metric_type', ...ENUM_FIELDS]),
  };
}

interface Tried {
  readonly body?: unknown;
  readonly error?: Error;
}

async function attempted(asked: Promise<unknown>): Promise<Tried> {
  try {
    return { body: await asked };
  } catch (thrown) {
    const error = asError(thrown);
    if (error instanceof RequestError && error.reason === 'aborted') throw error;
    return { error };
  }
}

/** Explains why there was no answer, after a try with the other form of the credential. */
async function explain(
  error: Error,
  seen: string,
  find: ReportFinding,
  withBearer: () => Promise<Tried>,
): Promise<void> {
  const status = httpStatusOf(error);
  if (policyForError(error, 'events').action === 'renew') {
    const takesBearer = (await withBearer()).error === undefined;
    const advice = takesBearer
      ? 'put the word Bearer and a space before the key in GFA_TOKEN: the service accepts that'
      : 'check GFA_TOKEN: it must be the complete key that the portal issued, not revoked';
    find('failure', 'credentials', takesBearer ? 'other-form' : 'refused', seen, { expected: '200', advice });
  } else if (status === 406) {
    const advice =
      'check in the portal that the account has the acceleration add-on and a volume in mode Active or Observation';
    find('failure', 'data', 'no-volumes', seen, { expected: 'information about a volume', advice });
  } else {
    const advice = adviceFor(error, 'check GFA_URL: the path ends in /v1');
    find('failure', 'data', `status-${status ?? 'none'}`, seen, { expected: '200', advice });
  }
}

/** If a second key gets none of the first one's events, the service ignores the header: other names are tried. */
async function checkHeader(
  { clientKeyHeader }: GfaOptions,
  events: ReadonlySet<string>,
  others: ReadonlySet<string>,
  find: ReportFinding,
  askWith: (header: string) => Promise<Tried>,
): Promise<void> {
  const check = 'client-key';
  // Events that happen meanwhile are delivered to any key.
  const hasOld = (some: ReadonlySet<string>) => [...some].some((event) => events.has(event));
  if (events.size === 0) {
    find('ok', check, 'untold', `no events to tell whether ${clientKeyHeader} is the right header`);
    return;
  }
  if (hasOld(others)) {
    find('ok', check, 'honoured', `${clientKeyHeader} gives each key its own events`);
    return;
  }
  const seen = `two keys in ${clientKeyHeader} share one bookmark: the second got 0 of ${events.size} events`;
  const expected = 'each client key receives all events';
  for (const header of HEADERS) {
    if (header.toLowerCase() === clientKeyHeader.toLowerCase()) continue;
    if (!hasOld(eventsIn((await askWith(header)).body))) continue;
    const advice = `set GFA_CLIENT_KEY_HEADER=${header}: with it a new key receives all events`;
    find('failure', check, 'other-header', seen, { expected, advice });
    return;
  }
  const advice = 'ask the operator of the service for the name of the client key header, and set GFA_CLIENT_KEY_HEADER';
  find('failure', check, 'ignored', seen, { expected, advice });
}

function checkContents(body: unknown, find: ReportFinding): void {
  const { groups } = parseDataResponse(body, () => {});
  const counts = GROUPS.map((group) => `${groups[group].length} ${group}`).join(', ');
  if (groups.filers.length === 0) {
    const advice = 'check that filers are connected to an accelerated volume, and that GFA_METRICS holds filers';
    find('warning', 'data', 'no-filers', counts, { expected: 'records of filers', advice });
  } else find('ok', 'data', 'records', counts);
}

function shapeOf(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  if (Array.isArray(body.metrics)) return body.metrics.length > 1 ? 'several_objects' : 'array';
  return isJsonObject(body.metrics) ? 'object' : undefined;
}

function deliveryOf(
  first: ReadonlySet<string>,
  again: ReadonlySet<string>,
  other: ReadonlySet<string>,
): string | undefined {
  if (first.size === 0) return undefined;
  const repeated = [...first].filter((event) => again.has(event)).length;
  if (repeated === 0) return [...first].some((event) => other.has(event)) ? 'bookmark' : 'bookmark_shared';
  // The oldest events leave a window while the doctor runs.
  return repeated > 0.8 * first.size ? 'window' : 'overlapping';
}

function reachOf(body: unknown): string | undefined {
  if (!isJsonObject(body) || !isJsonObject(body.info)) return undefined;
  const asked = parseDateSeconds(body.info.request_time);
  const times = eventRecords(body).flatMap(({ timestamp }) => parseDateSeconds(timestamp) ?? []);
  if (asked === undefined || times.length === 0) return undefined;
  const oldest = times.reduce((least, time) => Math.min(least, time));
  const hours = (asked - oldest) / 3600;
  if (hours <= 0.1) return 'minutes';
  return hours <= 1.1 ? 'an_hour' : hours <= 25 ? 'a_day' : 'more_than_a_day';
}

function switchedOff(body: unknown): string | undefined {
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

function namesIn(body: unknown): Pick<ServiceAnswers, 'filers' | 'volumes'> {
  const { groups } = parseDataResponse(body, () => {});
  const named = (records: readonly JsonObject[], id: string, title: string) => {
    const names = new Map(records.map((record) => [labelValue(record[id]), labelValue(record[title])]));
    return [...names].filter(([one]) => one !== '').map(([one, name]) => ({ id: one, name }));
  };
  return {
    filers: named(groups.filers, 'filer_guid', 'filer_title'),
    volumes: named([...groups.volumes, ...groups.filers], 'volume_guid', 'volume_title'),
  };
}

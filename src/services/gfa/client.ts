import { meaningOf } from '../../runtime/failures.ts';
import type { Secret } from '../../runtime/secret.ts';
import type { JsonClient, ServiceRequest } from '../../transport/json-client.ts';
import { requireEnvelope } from './data-response.ts';
import { GROUPS, type Group } from './families.ts';

export interface GfaClientSettings {
  readonly token: Secret;
  /** The name of this client. The service keeps a bookmark for each client of a token. */
  readonly clientKey: string;
  readonly clientKeyHeader: string;
  readonly groups: readonly Group[];
}

const GROUP_PARAMETERS = {
  filers: 'filer_metrics',
  volumes: 'volume_metrics',
  locks: 'lock_metrics',
  propagation: 'propagation_metrics',
} as const satisfies Record<Group, string>;

/** Requests `GET /data` and returns the parsed body. If the token is rejected and its file has changed, it is requested once more with the new token. */
export async function requestData(
  client: Pick<JsonClient, 'send'>,
  settings: GfaClientSettings,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await client.send(dataRequest(settings), signal);
  } catch (error) {
    if (meaningOf(error).action !== 'renew' || !(await settings.token.reload())) throw error;
    return client.send(dataRequest(settings), signal);
  }
}

/** A client key for a process that runs next to an exporter and must not take its events. */
export function temporaryClientKey({ clientKey }: GfaClientSettings, purpose: string, now: number): string {
  return `${clientKey}-${purpose}-${new Date(now).toISOString().replaceAll(/\D/g, '').slice(0, 14)}`;
}

export function dataRequest({ token, clientKey, clientKeyHeader, groups }: GfaClientSettings): ServiceRequest {
  const query = Object.fromEntries(GROUPS.map((group) => [GROUP_PARAMETERS[group], String(groups.includes(group))]));
  // The key is sent as issued: the service uses no scheme such as Bearer.
  const headers = { authorization: token.reveal(), [clientKeyHeader]: clientKey };
  return {
    method: 'GET',
    path: '/data',
    operation: 'data',
    purpose: 'events',
    query,
    headers,
    read(body) {
      requireEnvelope(body);
      return body;
    },
  };
}

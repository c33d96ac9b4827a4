import { policyForError } from '../../runtime/error-policy.ts';
import type { Secret } from '../../runtime/secret.ts';
import type { JsonClient, ServiceRequest } from '../../transport/json-client.ts';
import { RetryBudget, type RetryDependencies, withRetries } from '../../transport/retry.ts';
import { validateEnvelope } from './data-response.ts';
import { GROUPS, type Group } from './families.ts';

export interface GfaOptions {
  readonly token: Secret;
  /** Names this client within the token; the service keeps a bookmark for each. */
  readonly clientKey: string;
  readonly clientKeyHeader: string;
  readonly groups: readonly Group[];
}

const SWITCHES = {
  filers: 'filer_metrics',
  volumes: 'volume_metrics',
  locks: 'lock_metrics',
  propagation: 'propagation_metrics',
} as const satisfies Record<Group, string>;

export class GfaClient {
  readonly #client: JsonClient;
  readonly #settings: GfaOptions;
  readonly #retryParts: RetryDependencies;
  #attempts = 0;

  constructor(client: JsonClient, settings: GfaOptions, retryParts: RetryDependencies) {
    this.#client = client;
    this.#settings = settings;
    this.#retryParts = { ...retryParts, budget: new RetryBudget() };
  }

  /** The number of requests sent: each may have moved the bookmark, whether its response arrived or not. */
  get attempts(): number {
    return this.#attempts;
  }

  /** The parsed body of `GET /data`. After a rejected token, reads it again and retries once if it has changed. */
  data(signal: AbortSignal): Promise<unknown> {
    return withRetries(() => this.#ask(signal), 'events', this.#retryParts, signal);
  }

  async #ask(signal: AbortSignal): Promise<unknown> {
    const { token } = this.#settings;
    const send = () => {
      this.#attempts += 1;
      return this.#client.send(dataRequest(this.#settings), signal);
    };
    try {
      return await send();
    } catch (error) {
      if (policyForError(error, 'events').action !== 'renew' || !(await token.reload())) throw error;
      return send();
    }
  }
}

/** A client key of its own for a process beside a running exporter, which must not take its events. */
export function temporaryClientKey({ clientKey }: GfaOptions, use: string, now: number): string {
  return `${clientKey}-${use}-${new Date(now).toISOString().replaceAll(/\D/g, '').slice(0, 14)}`;
}

export function dataRequest({ token, clientKey, clientKeyHeader, groups }: GfaOptions): ServiceRequest {
  const query = Object.fromEntries(GROUPS.map((group) => [SWITCHES[group], String(groups.includes(group))]));
  // The key is sent as issued: the service uses no scheme such as Bearer.
  const headers = { authorization: token.reveal(), [clientKeyHeader]: clientKey };
  return {
    method: 'GET',
    path: '/data',
    operation: 'data',
    size: 'account',
    query,
    headers,
    validate: validateEnvelope,
  };
}

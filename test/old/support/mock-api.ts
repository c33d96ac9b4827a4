import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import { type Dispatcher, type Interceptable, MockAgent } from 'undici';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Log } from '../../src/runtime/log.ts';
import { createLog } from '../../src/runtime/log.ts';
import { portalRequests } from '../../src/services/portal/allowed-requests.ts';
import { type ClientOptions, JsonClient } from '../../src/transport/json-client.ts';
import type { RequestQueue } from '../../src/transport/rate/request-queue.ts';
import { ManualClock } from './manual-clock.ts';

/** A request as it left, with the base URL's path still in front. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * What a service answers: a status and a body that becomes JSON, sent once `after` resolves, or an error in the place of
 * an answer.
 */
export type Reply = readonly [status: number, body: unknown, after?: Promise<void>] | Error;

/** One HTTP API that answers what it is told, in order, and nothing else. */
export interface MockApi {
  readonly client: JsonClient;
  readonly clock: ManualClock;
  /** Every request, in order of leaving. */
  readonly sent: Sent[];
  /** Answers the next requests of this method and path, queries left aside, one reply after the other. */
  answer(method: string, path: string, ...replies: readonly Reply[]): void;
}

/** A log that nobody reads. */
export const noLog: Log = createLog('silent', { write: () => {} });

/** Never held up, and never aborted. */
export const going = new AbortController().signal;
setMaxListeners(0, going);

/** An API below `http://api.test/v1` until the test ends; by then every reply must have been asked for. */
export function mockApi(clock = new ManualClock()): MockApi {
  const agent = new MockAgent();
  agent.disableNetConnect();
  onTestFinished(async () => {
    agent.assertNoPendingInterceptors();
    await agent.close();
  });
  const pool = agent.get('http://api.test');
  const sent: Sent[] = [];
  const client = clientOf('http://api.test/v1', agent, clock);
  return {
    client,
    clock,
    sent,
    answer: (method, path, ...replies) => {
      for (const reply of replies) intercept(pool, method, path, reply, sent);
    },
  };
}

/** A client without any limit but those in `more`. */
export function clientOf(
  baseUrl: string,
  dispatcher: Dispatcher,
  clock: Clock,
  more: Partial<ClientOptions> = {},
): JsonClient {
  return new JsonClient({
    secrets: () => [],
    baseUrl,
    userAgent: 'filer-exporter/test',
    dispatcher,
    clock,
    requestQueue: unpaced,
    limit: pLimit(100),
    observer: { onStart: () => {}, onEnd: () => {}, onThrottle: () => {} },
    timeoutMs: 30_000,
    allowed: portalRequests,
    limitsOf: () => ({ bytes: 1_000_000, isByMemory: false, parsedBytes: Number.POSITIVE_INFINITY }),
    ...more,
  });
}

/** Everyone's turn is now: pacing has tests of its own. */
const unpaced = {
  acquire: () => Promise.resolve({ startedAt: 0, endedAt: undefined }),
  recordEnd: () => {},
} as unknown as RequestQueue;

function intercept(pool: Interceptable, method: string, path: string, reply: Reply, sent: Sent[]): void {
  const whole = `/v1${path}`;
  const matching = pool.intercept({ method, path: (asked) => asked.split('?')[0] === whole });
  if (reply instanceof Error) {
    matching.replyWithError(reply);
    return;
  }
  const [statusCode, body, after] = reply;
  matching.reply((options) => {
    const headers = options.headers as Readonly<Record<string, string>>;
    sent.push({ method, path: options.path, headers, body: String(options.body ?? '') });
    const data = body === undefined ? '' : JSON.stringify(body);
    return { statusCode, data: after === undefined ? data : () => after.then(() => data) };
  });
}

/** A token answer. */
export function token(access: string, more: Readonly<Record<string, unknown>> = {}): Reply {
  return [200, { access_token: access, refresh_token: `${access}-refresh`, expires_in: 3600, ...more }];
}

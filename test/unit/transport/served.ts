import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import type { Dispatcher } from 'undici';
import { onTestFinished } from 'vitest';
import { RequestError } from '../../../src/runtime/errors.ts';
import { createDispatcher } from '../../../src/transport/dispatcher.ts';
import { type Exchange, JsonClient, type ServiceRequest } from '../../../src/transport/json-client.ts';
import { ServiceLimits } from '../../../src/transport/rate/limits.ts';
import type { ResponseLimits } from '../../../src/transport/response-body.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

/** A request that is not repeated. */
export const listing: ServiceRequest = { method: 'GET', path: '/serials', operation: 'serials', onlyOnce: true };

/** A signal that never aborts. */
export const running = new AbortController().signal;

const NO_LIMIT = { limit: { requests: 1e9, windowMs: 1 }, dailyLimit: undefined, maxPerMs: 1e9, concurrency: 2 };

/** The port of a server that ends with the test. */
export async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    if ('closeAllConnections' in server) (server as ReturnType<typeof createServer>).closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A client of this URL with a manual clock. `exchanges` are the requests that have ended. */
export async function clientOf(
  baseUrl: string,
  dispatcher: Dispatcher = createDispatcher(undefined),
  given: Partial<ResponseLimits> = {},
) {
  onTestFinished(() => dispatcher.destroy());
  const clock = new ManualClock();
  const exchanges: Exchange[] = [];
  const limits = new ServiceLimits(NO_LIMIT, { clock, random: () => 0 });
  // After a quiet second requests leave at once.
  await clock.advance(1_000);
  const client = new JsonClient({
    baseUrl,
    userAgent: 'filer-exporter/test',
    dispatcher,
    clock,
    timeoutMs: 30_000,
    limits,
    responseLimits: { bytes: 1_000_000, values: 100_000, isByMemory: false, ...given },
    allowed: [{ method: 'POST', path: /^\/auth\/token$/ }],
    secrets: () => ['configured-secret-1'],
    onEnd: (exchange) => exchanges.push(exchange),
  });
  /** Resolves with the error of a request that has to fail. */
  const failure = (request: Partial<ServiceRequest> = {}, signal = running): Promise<RequestError> =>
    client.send({ ...listing, ...request }, signal).then(
      (body) => Promise.reject(new Error(`the request succeeded with ${JSON.stringify(body)}`)),
      (error: unknown) => (error instanceof RequestError ? error : Promise.reject(error)),
    );
  const codes = () => exchanges.map(({ code }) => code);
  return { client, clock, limits, exchanges, codes, failure };
}

/** A client of a real server on this machine. */
export async function served(listener: RequestListener, given: Partial<ResponseLimits> = {}) {
  const server = createServer(listener);
  const url = `http://127.0.0.1:${await portOf(server)}`;
  return { ...(await clientOf(`${url}/v1`, undefined, given)), server, url };
}

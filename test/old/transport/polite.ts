import { createServer, type RequestListener, type Server } from 'node:http';
import pLimit from 'p-limit';
import { type Dispatcher, MockAgent } from 'undici';
import { onTestFinished } from 'vitest';
import { RequestError } from '../../src/runtime/errors.ts';
import { createDispatcher } from '../../src/transport/dispatcher.ts';
import type { JsonClient, RequestObserver, ServiceRequest } from '../../src/transport/json-client.ts';
import type { RequestQueue } from '../../src/transport/rate/request-queue.ts';
import type { ResponseLimits } from '../../src/transport/response-limits.ts';
import { servedPort } from '../support/listening.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { clientOf } from '../support/mock-api.ts';

/** What an observer heard, in order, and how many requests it believes to be on their way. */
export class Ears implements RequestObserver {
  readonly ends: { readonly operation: string; readonly code: string; readonly seconds: number }[] = [];
  starts = 0;
  refusals = 0;

  get inFlight(): number {
    return this.starts - this.ends.length;
  }

  get codes(): readonly string[] {
    return this.ends.map(({ code }) => code);
  }

  onStart(): void {
    this.starts += 1;
  }

  onEnd(operation: string, code: string, seconds: number): void {
    this.ends.push({ operation, code, seconds });
  }

  onThrottle(): void {
    this.refusals += 1;
  }
}

/** Lets everything leave at once, or nothing; notes what it is told of the ends. The real one has tests of its own. */
export class OpenPacer {
  readonly told: unknown[] = [];
  holds = false;

  acquire(signal: AbortSignal): Promise<object | undefined> {
    if (!this.holds) return Promise.resolve({});
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
  }

  recordEnd(_departure: object, verdict: unknown): void {
    this.told.push(verdict);
  }
}

/** A client with everything around it at hand. */
export interface Bench {
  readonly client: JsonClient;
  readonly clock: ManualClock;
  readonly ears: Ears;
  readonly pacer: OpenPacer;
  /** Sends, and gives the RequestError that came of it. */
  readonly failure: (request?: Partial<ServiceRequest>, signal?: AbortSignal) => Promise<RequestError>;
}

/** A read of the portal's inventory. */
export const listing: ServiceRequest = { method: 'GET', path: '/serials', operation: 'serials' };

/** Never aborted. */
export const onwards = new AbortController().signal;

/** A client of `baseUrl` through a dispatcher. Every answer has the same limits; those that are not given are wide. */
export function bench(baseUrl: string, dispatcher: Dispatcher, given: Partial<ResponseLimits> = {}): Bench {
  const limits = { bytes: 1_000_000, isByMemory: false, parsedBytes: Number.POSITIVE_INFINITY, ...given };
  const clock = new ManualClock();
  const ears = new Ears();
  const pacer = new OpenPacer();
  const client = clientOf(baseUrl, dispatcher, clock, {
    requestQueue: pacer as unknown as RequestQueue,
    limit: pLimit(2),
    observer: ears,
    limitsOf: () => limits,
  });
  const failure = async (request: Partial<ServiceRequest> = {}, signal = onwards) => {
    const thrown = await client.send({ ...listing, ...request }, signal).then(
      (body) => new Error(`there was an answer: ${JSON.stringify(body)}`),
      (error: unknown) => error,
    );
    if (thrown instanceof RequestError) return thrown;
    throw thrown;
  };
  return { client, clock, ears, pacer, failure };
}

/** A client whose answers are made up, with the network off. By the end of the test each must have been asked for. */
export function mocked(limits?: Partial<ResponseLimits>) {
  const agent = new MockAgent();
  agent.disableNetConnect();
  onTestFinished(async () => {
    agent.assertNoPendingInterceptors();
    await agent.close();
  });
  return { ...bench('https://portal.test/v1/', agent, limits), api: agent.get('https://portal.test') };
}

/** A client of a real server on this machine, for what no mock can show. */
export async function served(listener: RequestListener, limits?: Partial<ResponseLimits>) {
  const server = createServer(listener);
  const url = await listening(server);
  const dispatcher = createDispatcher(undefined);
  onTestFinished(() => dispatcher.destroy());
  return { ...bench(url, dispatcher, limits), server, url };
}

/** The address of a server that ends with the test. */
export async function listening(server: Server): Promise<string> {
  return `http://127.0.0.1:${await servedPort(server)}`;
}

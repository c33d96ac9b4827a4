import type { Clock } from '../runtime/clock.ts';
import { type DemoRequest, type DemoResponse, errorResponse, type ServiceName } from './exchange.ts';
import { Fleet } from './fleet.ts';
import { Gfa } from './gfa.ts';
import { Portal, type PortalOptions } from './portal.ts';
import { HOUR_MS } from './values.ts';

export type { DemoRequest, ServiceName } from './exchange.ts';
export { credentials } from './tokens.ts';

/**
 * How a response is sent: the connection ends before it or in its middle, nothing is sent, nothing after its middle, or
 * one byte a second.
 */
type Sending = 'reset' | 'cut' | 'hang' | 'hang-half' | 'drip';

/** What goes wrong with requests, until it is ended. Without `status` and `text` the response itself is right. */
export interface Fault {
  readonly service?: ServiceName;
  /** Compared with the path and its query, without the prefix of the service. */
  readonly path?: RegExp;
  /** The number of requests after which the fault ends by itself. */
  readonly times?: number;
  /** The status of the response; by default 200 with a `text`. */
  readonly status?: number;
  /** The message of the error; the name of the status if not given. */
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text that is sent in place of the body. */
  readonly text?: string;
  readonly how?: Sending;
}

/** What can be changed while the services run. */
export interface Options extends PortalOptions {
  /** The header that names the client of `GET /data`. */
  readonly clientKeyHeader: string;
  /** How far back the first `GET /data` of a client reaches. */
  readonly historyMs: number;
  /** How far the clock of both services is ahead of the clock given. */
  readonly clockAheadMs: number;
}

export interface SeenRequest extends DemoRequest {
  readonly service: ServiceName;
  /** When the request arrived, by the clock given. */
  readonly at: number;
  /** Undefined if the connection ended, or nothing was sent. */
  readonly status: number | undefined;
}

/** What a connection sends, and how; for `reset` and `hang` it sends nothing. */
export interface SentResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly how: Sending | undefined;
}

interface Edit {
  readonly path: RegExp;
  readonly change: (body: unknown, request: DemoRequest) => unknown;
}

const DEFAULTS: Options = {
  limits: { burst: { requests: 500, windowMs: 30_000 }, daily: 1_000_000, retryAfter: 'seconds' },
  tokenLifetimeMs: HOUR_MS / 4,
  signIns: ['oauth2', 'service_key', 'user_key'],
  jobsFail: false,
  clientKeyHeader: 'X-Service-client-key',
  historyMs: HOUR_MS,
  clockAheadMs: 0,
};

/** More requests are not remembered. */
const MAX_SEEN = 10_000;

/** Both services, without a network. A response depends on the clock, the options and earlier requests alone. */
export class SimulatedServices {
  readonly fleet: Fleet;
  readonly portal: Portal;
  readonly #gfa: Gfa;
  readonly #clock: Clock;
  /** How many more requests each fault applies to. */
  readonly #faults = new Map<Fault, number>();
  readonly #edits = new Set<Edit>();
  readonly #seen: SeenRequest[] = [];
  #options: Options;

  constructor(clock: Clock, { appliances = 12, ...options }: Partial<Options> & { readonly appliances?: number } = {}) {
    this.#clock = clock;
    this.#options = { ...DEFAULTS, ...options };
    this.fleet = new Fleet(appliances, clock.now());
    this.portal = new Portal(this.fleet);
    this.#gfa = new Gfa(this.fleet);
  }

  /** Changes options from the next request on. */
  set(options: Partial<Options>): void {
    this.#options = { ...this.#options, ...options };
  }

  /** Begins a fault; returns the function that ends it. */
  fail(fault: Fault): () => void {
    // A copy, so that the same fault can begin twice.
    const own = { ...fault };
    this.#faults.set(own, fault.times ?? Number.POSITIVE_INFINITY);
    return () => {
      this.#faults.delete(own);
    };
  }

  /** Changes the bodies of responses with 200 to requests whose path and query fit; returns the function that ends it. */
  edit(path: RegExp, change: Edit['change']): () => void {
    const edit = { path, change };
    this.#edits.add(edit);
    return () => {
      this.#edits.delete(edit);
    };
  }

  /** The newest 10,000 requests whose path and query fit, oldest first. */
  requests(path = /^/): readonly SeenRequest[] {
    return this.#seen.filter((request) => path.test(request.path));
  }

  /** The response to a request that has arrived whole. */
  respond(service: ServiceName, request: DemoRequest): SentResponse {
    const fault = this.#takeFault(service, request.path);
    const isSilent = fault?.how === 'reset' || fault?.how === 'hang';
    const reply = isSilent ? undefined : this.#reply(service, request, fault);
    this.#seen.push({ ...request, service, at: this.#clock.now(), status: reply?.status });
    if (this.#seen.length > MAX_SEEN) this.#seen.splice(0, MAX_SEEN / 10);
    const text = fault?.text ?? (reply?.body === undefined ? '' : JSON.stringify(reply.body));
    return {
      status: reply?.status ?? 0,
      headers: {
        date: new Date(this.#now()).toUTCString(),
        ...(text !== '' && { 'content-type': 'application/json' }),
        ...reply?.headers,
        ...fault?.headers,
      },
      body: text,
      how: fault?.how,
    };
  }

  /** The oldest fault that fits a request, which counts as one of its times. */
  #takeFault(service: ServiceName, path: string): Fault | undefined {
    for (const [fault, left] of this.#faults) {
      // `search` instead of `test`: a pattern with the flag `g` would remember where it stopped.
      const fits = (fault.service ?? service) === service && path.search(fault.path ?? '') !== -1;
      if (!fits) continue;
      if (left > 1) this.#faults.set(fault, left - 1);
      else this.#faults.delete(fault);
      return fault;
    }
    return undefined;
  }

  #reply(service: ServiceName, request: DemoRequest, fault: Fault | undefined): DemoResponse {
    if (fault?.text !== undefined) return { status: fault.status ?? 200 };
    if (fault?.status !== undefined) return errorResponse(service, fault.status, fault.message);
    const now = this.#now();
    const reply =
      service === 'gfa'
        ? this.#gfa.respond(request, now, this.#options)
        : this.portal.respond(request, now, this.#clock.monotonic(), this.#options);
    if (reply.status !== 200) return reply;
    const edits = [...this.#edits].filter(({ path }) => path.test(request.path));
    return { ...reply, body: edits.reduce((body, { change }) => change(body, request), reply.body) };
  }

  #now(): number {
    return this.#clock.now() + this.#options.clockAheadMs;
  }
}

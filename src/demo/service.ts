import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import type { DemoCredentials } from './credentials.ts';
import type { DemoRequest, DemoResponse, Scene } from './exchange.ts';
import { empty, portalError } from './exchange.ts';
import { Faults } from './faults.ts';
import { Gfa } from './gfa/service.ts';
import { Cursors } from './portal/pages.ts';
import { Portal } from './portal/service.ts';
import type { Route } from './routes.ts';
import { routeOf } from './routes.ts';
import { SeenRequests } from './seen-requests.ts';
import { isSilence, replacement, sendCorrupted, sendSilence, sendWhole } from './sending.ts';
import type { Variations } from './variations.ts';
import type { SimulatedFleet } from './world/world.ts';

/** The maximum size of a request body. */
const MAX_BODY = 1_048_576;

/** Both services behind one listener: it reads a request, records it, applies faults, and responds. */
export class MockService {
  readonly faults = new Faults();
  readonly seen = new SeenRequests();
  variations: Variations;
  readonly #clock: Clock;
  readonly #world: SimulatedFleet;
  readonly #cursors: Cursors;
  readonly #gfa: Gfa;
  readonly #portal: Portal;

  constructor(clock: Clock, world: SimulatedFleet, credentials: DemoCredentials, variations: Variations) {
    this.#clock = clock;
    this.#world = world;
    this.variations = variations;
    this.#gfa = new Gfa(credentials.gfaToken);
    this.#cursors = new Cursors(world.seed);
    this.#portal = new Portal(credentials, world.seed);
  }

  /** The number of token families of the portal that are alive. */
  get tokenFamilies(): number {
    return this.#portal.families(this.#clock.now());
  }

  /** Serves one request; never rejects. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client may disconnect at any time; that is no failure of the mock services.
    response.on('error', () => {});
    try {
      await this.#serve(request, response);
    } catch (thrown) {
      if (response.headersSent || response.destroyed) response.destroy();
      else sendWhole(response, portalError(500, `The mock services failed: ${String(thrown)}`));
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://mock.test');
    const route = routeOf(request.method ?? '', url.pathname);
    const body = await bodyOf(request);
    const received = toDemoRequest(request, route.path, url.searchParams, body ?? '');
    const { method, path, headers } = received;
    const { service, operation } = route;
    const recordStatus = this.seen.add({
      at: this.#clock.now(),
      method,
      path,
      query: url.search.slice(1),
      service,
      operation,
      headers: Object.fromEntries(headers),
      body: received.body,
    });
    const gone = new AbortController();
    const { signal } = gone;
    response.once('close', () => gone.abort('the client is gone'));
    if (this.variations.latencyMs > 0) await this.#clock.sleep(this.variations.latencyMs, signal);
    if (signal.aborted) return;

    const fault = this.faults.take(operation, route.serial);
    if (fault !== undefined && isSilence(fault)) {
      sendSilence(response, fault);
      return;
    }
    const replaced = fault === undefined ? undefined : replacement(fault, service);
    const result =
      replaced ?? (body === undefined ? portalError(413, 'Body too long') : this.#respond(received, route));
    recordStatus(result.status);
    const dated = { ...result, headers: { ...this.#gatewayHeaders(), ...result.headers } };
    if (fault === undefined) sendWhole(response, dated);
    else await sendCorrupted(response, fault, dated, this.#clock, signal);
  }

  /** The headers that the gateway adds to every response. */
  #gatewayHeaders(): Readonly<Record<string, string>> {
    return { date: new Date(this.#clock.now() + this.variations.clockAheadMs).toUTCString() };
  }

  #respond(request: DemoRequest, route: Route): DemoResponse {
    const { variations } = this;
    const scene: Scene = { request, world: this.#world, variations, now: this.#clock.now(), cursors: this.#cursors };
    if (route.service === 'portal') return this.#portal.respond(scene, route);
    return route.rejection === undefined ? this.#gfa.data(scene) : empty(route.rejection);
  }
}

function toDemoRequest(request: IncomingMessage, path: string, query: URLSearchParams, body: string): DemoRequest {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return { method: request.method ?? '', path, query, headers, body };
}

/** The body as text; undefined if it is too long, in which case it is read to the end and dropped. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY) chunks.push(chunk);
  }
  return length <= MAX_BODY ? Buffer.concat(chunks).toString('utf8') : undefined;
}

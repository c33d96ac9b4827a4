import { Gfa } from '../../src/demo/gfa/service.ts';
import { defaultVariations, type Variations } from '../../src/demo/variations.ts';
import { SimulatedFleet } from '../../src/demo/world/world.ts';
import { parseDateSeconds } from '../../src/metrics/units.ts';
import { type DataResponse, parseDataResponse } from '../../src/services/gfa/data-response.ts';

/** The mock file acceleration service without a socket: asked at any moment, in any order of moments. */
export interface GfaService {
  variations: Variations;
  /** Asks as a client, at a moment in epoch milliseconds; moves that client's bookmark. */
  ask(client: string, now: number): unknown;
  /** Every event that the service has known of by a moment, read, of the two hours before it. */
  history(now: number): DataResponse;
}

/** A service whose world begins at a moment. */
export function gfaService(begun: number, variations: Partial<Variations> = {}, appliances = 12): GfaService {
  const world = new SimulatedFleet(1, { appliances, volumes: 5 }, begun);
  const gfa = new Gfa('key');
  const service: GfaService = {
    variations: { ...defaultVariations, ...variations },
    ask: (client, now) => answer(gfa, client, now, service.variations),
    history: (now) => {
      const whole = { ...service.variations, freshHistoryMs: 7_200_000 };
      return parseDataResponse(answer(new Gfa('key'), 'historian', now, whole), () => {});
    },
  };
  const answer = (from: Gfa, client: string, now: number, varied: Variations): unknown => {
    const headers = new Map([
      ['authorization', 'key'],
      ['x-service-client-key', client],
    ]);
    const request = { method: 'GET', path: '/data', query: new URLSearchParams(), headers, body: '' };
    return JSON.parse(String(from.data({ request, world, variations: varied, now }).body));
  };
  return service;
}

/** The times of some records, in Unix seconds. */
export function timesOf(records: readonly { readonly timestamp?: unknown }[]): readonly number[] {
  return records.map(({ timestamp }) => parseDateSeconds(timestamp) ?? 0);
}

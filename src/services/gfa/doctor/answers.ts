import type { Readings } from '../../../doctor/service-check.ts';
import { isJsonObject, type JsonObject } from '../../../metrics/family.ts';
import { date } from '../../../metrics/units.ts';
import { parseDataResponse } from '../data-response.ts';

/** The properties that the documentation of `GET /data` leaves open and an account shows, each with its alternatives and their effect. */
export const gfaReadings: Readings = {
  metrics_shape: {
    array: 'read as documented',
    object: 'read as an array of one',
    several_objects: 'their records are merged',
  },
  delivery: {
    bookmark: 'each event is counted once',
    bookmark_shared: 'each event is counted once; another client with this token may receive some of them instead',
    overlapping: 'each event is counted once, however often it is delivered',
    window: 'each event is counted once, however often it is delivered',
  },
  new_key_reach: {
    minutes: 'counting begins with these events',
    an_hour: 'counting begins with these events',
    a_day: 'counting begins with these events',
    more_than_a_day: 'counting begins with these events; the first response is large',
  },
  switched_off_group: {
    empty: 'read as no new records',
    missing: 'read as no new records',
    ignored: 'its records are read too',
  },
};

/** `body`: a response of `GET /data`, as in all functions here; undefined after a failure. */
export function shapeOf(body: unknown): string {
  const { metrics } = body as JsonObject;
  if (Array.isArray(metrics)) return metrics.length > 1 ? 'several_objects' : 'array';
  return 'object';
}

/** `again` and `otherKey`: the second response to the same client key, and the first one to another key. */
export function deliveryOf(first: unknown, again: unknown, otherKey: unknown): string | undefined {
  const [events, repeated, received] = [eventsIn(first), eventsIn(again), eventsIn(otherKey)];
  if (events.size === 0 || again === undefined || otherKey === undefined) return undefined;
  const count = [...events].filter((event) => repeated.has(event)).length;
  if (count === 0) return [...events].some((event) => received.has(event)) ? 'bookmark' : 'bookmark_shared';
  // A few events leave the window while the doctor runs.
  return count > 0.8 * events.size ? 'window' : 'overlapping';
}

/** How far back the first response to a new client key reaches. */
export function reachOf(body: unknown): string | undefined {
  const { at } = parseDataResponse(body, () => {});
  const times = eventRecords(body).flatMap(({ timestamp }) => date.read(timestamp) ?? []);
  if (at === undefined || times.length === 0) return undefined;
  const hours = (at - times.reduce((least, time) => Math.min(least, time))) / 3600;
  if (hours <= 0.1) return 'minutes';
  return hours <= 1.1 ? 'an_hour' : hours <= 25 ? 'a_day' : 'more_than_a_day';
}

/** `body`: a response to a request in which locks are switched off. */
export function switchedOffGroup(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  const [part]: readonly unknown[] = [body.metrics].flat();
  if (!isJsonObject(part)) return undefined;
  if (part.locks === undefined) return 'missing';
  const isEmpty = part.locks === null || (Array.isArray(part.locks) && part.locks.length === 0);
  return isEmpty ? 'empty' : 'ignored';
}

export function eventsIn(body: unknown): ReadonlySet<string> {
  return new Set(eventRecords(body).map((record) => JSON.stringify(record)));
}

function eventRecords(body: unknown): readonly JsonObject[] {
  if (body === undefined) return [];
  const { groups } = parseDataResponse(body, () => {});
  return [...groups.locks, ...groups.propagation];
}

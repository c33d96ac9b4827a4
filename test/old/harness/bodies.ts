import type { JsonObject } from '../../src/metrics/family.ts';

/** An answer of `GET /data` with each of its parts changed. */
export function parts(body: unknown, change: (part: JsonObject) => JsonObject): JsonObject {
  const { metrics, ...rest } = body as { metrics: JsonObject | readonly JsonObject[] };
  return { ...rest, metrics: Array.isArray(metrics) ? metrics.map(change) : change(metrics as JsonObject) };
}

/** The same with the records of one group changed. */
export function records(
  body: unknown,
  group: string,
  change: (records: readonly JsonObject[]) => readonly JsonObject[],
): JsonObject {
  return parts(body, (part) => ({ ...part, [group]: change((part[group] ?? []) as readonly JsonObject[]) }));
}

/** A record dated by so many seconds ahead. */
export function ahead(record: JsonObject, seconds: number): JsonObject {
  return { ...record, timestamp: new Date(Date.parse(String(record.timestamp)) + seconds * 1000).toISOString() };
}

/** Of the filers in the answers, one in each. */
export function oneByOne(): (filers: readonly JsonObject[]) => readonly JsonObject[] {
  let answers = 0;
  return (filers) => {
    answers += 1;
    const guids = [...new Set(filers.map(({ filer_guid }) => filer_guid))];
    return filers.filter(({ filer_guid }) => filer_guid === guids[answers % guids.length]);
  };
}

/** The first part of a list. */
export function shortened(body: unknown, share: number): JsonObject {
  const { items, ...rest } = body as { readonly items: readonly unknown[] };
  return { ...rest, items: items.slice(0, Math.floor(items.length * share)) };
}

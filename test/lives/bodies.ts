import type { Fields } from '../../src/metrics/family.ts';

/** An answer of `GET /data` with each of its parts changed. */
export function parts(body: unknown, change: (part: Fields) => Fields): Fields {
  const { metrics, ...rest } = body as { metrics: Fields | readonly Fields[] };
  return { ...rest, metrics: Array.isArray(metrics) ? metrics.map(change) : change(metrics as Fields) };
}

/** The same with the records of one group changed. */
export function records(
  body: unknown,
  group: string,
  change: (records: readonly Fields[]) => readonly Fields[],
): Fields {
  return parts(body, (part) => ({ ...part, [group]: change((part[group] ?? []) as readonly Fields[]) }));
}

/** A record dated by so many seconds ahead. */
export function ahead(record: Fields, seconds: number): Fields {
  return { ...record, timestamp: new Date(Date.parse(String(record.timestamp)) + seconds * 1000).toISOString() };
}

/** Of the filers in the answers, one in each. */
export function oneByOne(): (filers: readonly Fields[]) => readonly Fields[] {
  let answers = 0;
  return (filers) => {
    answers += 1;
    const guids = [...new Set(filers.map(({ filer_guid }) => filer_guid))];
    return filers.filter(({ filer_guid }) => filer_guid === guids[answers % guids.length]);
  };
}

/** The first part of a list. */
export function shortened(body: unknown, share: number): Fields {
  const { items, ...rest } = body as { readonly items: readonly unknown[] };
  return { ...rest, items: items.slice(0, Math.floor(items.length * share)) };
}

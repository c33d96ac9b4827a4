/** What the answer of one series says: when the newest record with a value was taken, in Unix seconds. */
export interface SeriesAnswer {
  readonly newest: number | undefined;
}

/** What an answer of `GET /data` says: when it was asked, in Unix seconds, and which filers there are. */
export interface DataAnswer {
  readonly requestedAt: number;
  readonly filers: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads the answer of a series as its documentation has it; undefined for what is none, however well it arrived. */
export function seriesAnswer(body: unknown): SeriesAnswer | undefined {
  if (!isFields(body) || !Array.isArray(body.items)) return undefined;
  const times = body.items.flatMap((item: unknown) => {
    if (!isFields(item) || typeof item.time !== 'number') return [];
    const { time, ...values } = item;
    return Object.values(values).some((value) => value !== null) ? [time] : [];
  });
  return { newest: times.length === 0 ? undefined : Math.max(...times) / 1000 };
}

/** Reads the answer of `GET /data`; undefined for what is none. */
export function dataAnswer(body: unknown): DataAnswer | undefined {
  if (!isFields(body) || !isFields(body.info) || typeof body.info.request_time !== 'string') return undefined;
  const parts: readonly unknown[] = Array.isArray(body.metrics) ? body.metrics : [body.metrics];
  const records = parts.flatMap((part) => (isFields(part) && Array.isArray(part.filers) ? part.filers : []));
  const filers = records.flatMap((record: unknown) => (isFields(record) ? String(record.filer_guid) : []));
  return { requestedAt: Date.parse(body.info.request_time) / 1000, filers: [...new Set(filers)] };
}

/** Whether a body is an object with a list `items`, or with none: what any list of the portal may be. */
export function isList(body: unknown): boolean {
  return isFields(body) && (body.items === undefined || body.items === null || Array.isArray(body.items));
}

/** A body as JSON; undefined for what is none. */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

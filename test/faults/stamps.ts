import type { WholeAnswer } from '../support/front.ts';
import type { Scrape } from '../support/scrape.ts';

/** The two series that are polled of every appliance. */
export const SERIES = ['cpu_utilization', 'load_average'] as const;

type Body = Readonly<Record<string, unknown>>;

/** Where a stamp stands in the answers of an operation: in what the exposition shows of them again. */
const places: ReadonlyMap<string, (body: Body, stamp: number) => Body> = new Map([
  ...SERIES.map((series) => [series, newestAt] as const),
  [
    'data',
    (body, stamp) => ({ ...body, info: { ...(body.info as Body), request_time: new Date(stamp).toISOString() } }),
  ],
  ['serials', (body, stamp) => eachItem(body, { available_build: wordOf(stamp) })],
  ['edges', (body, stamp) => eachItem(body, { build: wordOf(stamp) })],
]);

/**
 * Makes every answer of the services say which one it is, in a place that the exposition shows again: so a scrape tells
 * whether what an answer brought was used. A stamp is a moment in epoch milliseconds, and none is given twice.
 */
export class Stamps {
  #last = 0;
  readonly #issued = new Map<string, string>();

  /** A stamp behind all before it. */
  next(): number {
    this.#last = Math.max(Date.now(), this.#last + 1);
    return this.#last;
  }

  /** An answer with its stamp. Those with a token have none: their token says which one it is. */
  put(operation: string, answer: WholeAnswer): WholeAnswer {
    const place = places.get(operation);
    const isToken = operation === 'token';
    if (answer.status !== 200 || (place === undefined && !isToken)) return answer;
    const body = JSON.parse(answer.body.toString('utf8')) as Body;
    if (isToken) this.#issued.set(operation, String(body.access_token));
    if (place === undefined) return answer;
    const bytes = Buffer.from(JSON.stringify(place(body, this.next())));
    return { ...answer, headers: { ...answer.headers, 'content-length': String(bytes.length) }, body: bytes };
  }

  /** The access token that an operation gave last; undefined before the first. */
  issuedBy(operation: string): string | undefined {
    return this.#issued.get(operation);
  }

  /** Forgets which tokens were given. */
  forget(): void {
    this.#issued.clear();
  }
}

/** The stamp of the answer that is shown of a series of an appliance; undefined when none is. */
export function seriesStamp(scrape: Scrape, serial: string, series: string): number | undefined {
  return milliseconds(scrape.value('filer_appliance_series_timestamp_seconds', { serial, series }));
}

/** The stamp of the answer of `GET /data` that is shown; undefined when none is. */
export function dataStamp(scrape: Scrape): number | undefined {
  return milliseconds(scrape.value('filer_gfa_request_timestamp_seconds'));
}

/** The oldest stamp that is shown of a list of the inventory; undefined when one of its appliances shows none. */
export function listStamp(scrape: Scrape, list: 'serials' | 'edges'): number | undefined {
  const label = list === 'serials' ? 'available_build' : 'build';
  const stamps = scrape.all('filer_appliance_info').map(({ labels }) => stampIn(labels[label] ?? ''));
  return stamps.length === 0 || stamps.includes(undefined) ? undefined : Math.min(...stamps.map(Number));
}

function newestAt(body: Body, stamp: number): Body {
  const items = body.items as readonly { readonly time: number }[];
  const newest = Math.max(...items.map(({ time }) => time));
  return { ...body, items: items.map((item) => (item.time === newest ? { ...item, time: stamp } : item)) };
}

function eachItem(body: Body, change: Body): Body {
  return { ...body, items: (body.items as readonly Body[]).map((item) => ({ ...item, ...change })) };
}

function wordOf(stamp: number): string {
  return `stamp ${stamp}`;
}

function stampIn(word: string): number | undefined {
  const digits = /^stamp (\d+)$/.exec(word)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}

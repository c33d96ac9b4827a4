import type { Coding } from '../exposition/compression.ts';
import type { Format } from '../exposition/format.ts';

/** The `Content-Type` of each format. */
export const CONTENT_TYPES = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const satisfies Record<Format, string>;

interface Range {
  /** `type/subtype` or a coding, in lower case. */
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** From 0 (rejected) to 1; 1 if it is missing, 0 if it cannot be read. */
  readonly quality: number;
}

/**
 * The format for an `Accept` header, by RFC 9110 12.5.1: for each format, the most specific matching range gives its
 * quality. OpenMetrics has to be named and wanted at least as much as text; without a match the answer is text, which
 * every scraper reads. The library `negotiator` cannot be used: it treats the `escaping` that Prometheus adds to each
 * range as a parameter of the type and answers text, and it does not know `x-gzip`.
 */
export function chooseFormat(accept: string | undefined): Format {
  const ranges = parseRanges(accept);
  const openMetrics = best(ranges, (range) => openMetricsRank(range));
  if (openMetrics === undefined || openMetrics.quality === 0 || openMetrics.rank < 2) return 'text';
  const text = best(ranges, (range) => textRank(range));
  if (text === undefined || openMetrics.quality !== text.quality) {
    return text === undefined || openMetrics.quality > text.quality ? 'openmetrics' : 'text';
  }
  // For equal quality the one named first wins; a wildcard does not outweigh a name.
  return text.rank < 2 || openMetrics.index < text.index ? 'openmetrics' : 'text';
}

/** Whether an `Accept-Encoding` header accepts gzip: named or by `*`, and not with `q=0`. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const ranges = parseRanges(acceptEncoding);
  const named = ranges.find((range) => range.name === 'gzip' || range.name === 'x-gzip');
  return ((named ?? ranges.find((range) => range.name === '*'))?.quality ?? 0) > 0;
}

/**
 * The coding for an `Accept-Encoding` header: the one with the highest quality, of equals the one named first, and gzip
 * for a wildcard. Undefined if none is accepted.
 */
export function chooseCoding(acceptEncoding: string | undefined, codings: readonly Coding[]): Coding | undefined {
  const ranges = parseRanges(acceptEncoding);
  const wanted = ranges
    .flatMap(({ name, quality }) => {
      const coding = codings.find((each) => each === name.replace(/^x-(?=gzip$)/, ''));
      return coding === undefined ? [] : [{ coding, quality }];
    })
    .filter(({ quality }) => quality > 0)
    // Stable: codings of equal quality stay in order.
    .sort((a, b) => b.quality - a.quality)[0];
  return wanted?.coding ?? (acceptsGzip(acceptEncoding) ? 'gzip' : undefined);
}

interface Match {
  readonly quality: number;
  readonly rank: number;
  readonly index: number;
}

function best(ranges: readonly Range[], rankOf: (range: Range) => number | undefined): Match | undefined {
  let found: Match | undefined;
  ranges.forEach((range, index) => {
    const rank = rankOf(range);
    if (rank === undefined) return;
    if (found === undefined || rank > found.rank || (rank === found.rank && range.quality > found.quality)) {
      found = { quality: range.quality, rank, index };
    }
  });
  return found;
}

function openMetricsRank({ name, parameters }: Range): number | undefined {
  if (name === 'application/openmetrics-text') {
    const version = parameters.get('version');
    if (version === undefined) return 2;
    return version === '1.0.0' ? 3 : undefined;
  }
  if (name === 'application/*') return 1;
  return name === '*/*' ? 0 : undefined;
}

function textRank({ name, parameters }: Range): number | undefined {
  if (name === 'text/plain') {
    const version = parameters.get('version');
    if (version === undefined) return 2;
    return version === '0.0.4' ? 3 : undefined;
  }
  if (name === 'text/*') return 1;
  return name === '*/*' ? 0 : undefined;
}

function parseRanges(header: string | undefined): Range[] {
  if (header === undefined) return [];
  return header
    .split(',')
    .map((part) => {
      const [name = '', ...pairs] = part.split(';').map((piece) => piece.trim().toLowerCase());
      const parameters = new Map<string, string>();
      for (const pair of pairs) {
        const [key = '', value = ''] = pair.split('=', 2).map((piece) => piece.trim());
        parameters.set(key, value.replace(/^"(.*)"$/, '$1'));
      }
      return { name, parameters, quality: quality(parameters.get('q')) };
    })
    .filter((range) => range.name !== '');
}

function quality(text: string | undefined): number {
  if (text === undefined) return 1;
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}

import type { Format } from '../exposition/format.ts';

export const CONTENT_TYPES = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const satisfies Record<Format, string>;

interface Range {
  /** `type/subtype` or a coding, in lower case. */
  readonly name: string;
  /** Such as `version=1.0.0`. */
  readonly parameters: readonly string[];
  /** From 0 (rejected) to 1; 1 if it is missing, 0 if it cannot be read. */
  readonly quality: number;
}

/**
 * Chooses the format for an `Accept` header, by RFC 9110 12.5.1. OpenMetrics has to be named, with at least the quality of
 * text; of equal qualities the format named first is chosen, and a wildcard does not override a name. Without a match the
 * format is text, which every scraper reads. The library `negotiator` cannot be used: it treats the `escaping` that Prometheus adds to each
 * range as a parameter of the type and chooses text, and it does not know `x-gzip`.
 */
export function chooseFormat(accept: string | undefined): Format {
  const ranges = parseRanges(accept);
  const openMetrics = ranges.find((range) => isOf(range, 'application/openmetrics-text', '1.0.0'));
  if (openMetrics === undefined || openMetrics.quality === 0) return 'text';
  const text = ranges.find((range) => isOf(range, 'text/plain', '0.0.4'));
  if (text !== undefined) return ranges.indexOf(openMetrics) < ranges.indexOf(text) ? 'openmetrics' : 'text';
  const wildcard = ranges.find(({ name }) => name === 'text/*') ?? ranges.find(({ name }) => name === '*/*');
  return openMetrics.quality >= (wildcard?.quality ?? 0) ? 'openmetrics' : 'text';
}

function isOf({ name, parameters }: Range, type: string, version: string): boolean {
  return name === type && !parameters.some((text) => text.startsWith('version=') && text !== `version=${version}`);
}

/** Returns whether an `Accept-Encoding` header accepts gzip, by its name or by `*`, and not with `q=0`. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const ranges = parseRanges(acceptEncoding);
  const named = ranges.find(({ name }) => name === 'gzip');
  return ((named ?? ranges.find(({ name }) => name === '*'))?.quality ?? 0) > 0;
}

/** Returns the ranges of a header, the highest quality first; equal ones in the order of the header. */
function parseRanges(header = ''): Range[] {
  const parts = header.toLowerCase().replaceAll(/[\s"]/g, '').split(',');
  const ranges = parts.map((part) => {
    const [name = '', ...parameters] = part.split(';');
    const quality = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1';
    return {
      name: name === 'x-gzip' ? 'gzip' : name,
      parameters,
      quality: QUALITY.test(quality) ? Number(quality) : 0,
    };
  });
  return ranges.sort((a, b) => b.quality - a.quality);
}

const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

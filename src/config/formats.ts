import { Secret } from '../runtime/secret.ts';
import { likelyTypo } from '../runtime/suggest.ts';
import { parseDuration } from './duration.ts';
import { entriesOf, type Format, headerError, invalid, quoted, secretError, type ValueError, valid } from './format.ts';

export const boolean: Format<boolean> = {
  label: 'true or false',
  expects: 'true or false',
  parse: (text) => {
    if (text === 'true' || text === 'false') return valid(text === 'true');
    return invalid(`${quoted(text)} is neither`);
  },
};

/** One of these words. */
export function oneOf<const Word extends string>(words: readonly Word[]): Format<Word> {
  return {
    label: words.join(', '),
    expects: `one of ${words.join(', ')}`,
    parse: (text) => {
      const word = words.find((known) => known === text);
      if (word !== undefined) return valid(word);
      return {
        state: 'invalid',
        errors: [{ what: `${quoted(text)} is not a known word`, meant: likelyTypo(text, words) }],
      };
    },
  };
}

/** Entries separated by commas, each once. `noun` is their name in `list of …`; `flaw` says what is wrong with valid entries together. */
export function listOf<Entry>(
  entry: Format<Entry>,
  noun = entry.label,
  flaw: (entries: readonly Entry[]) => string | undefined = () => undefined,
): Format<readonly Entry[]> {
  return {
    label: `list of ${noun}`,
    expects: `a comma-separated list of ${entry.expects.replace(/^one of /, '')}`,
    parse: (text) => {
      const values = new Set<Entry>();
      const errors: ValueError[] = [];
      for (const part of entriesOf(text)) {
        const parsed = entry.parse(part);
        if (parsed.state === 'valid') values.add(parsed.value);
        else errors.push(...parsed.errors);
      }
      if (errors.length > 0) return { state: 'invalid', errors };
      const what = values.size === 0 ? 'is an empty list' : flaw([...values]);
      return what === undefined ? valid([...values]) : invalid(what);
    },
  };
}

/** A number format with bounds, which are written as in the environment. */
export function within(format: Format<number>, least: string, most?: string): Format<number> {
  const range = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
  const minimum = boundOf(format, least);
  const maximum = most === undefined ? Number.POSITIVE_INFINITY : boundOf(format, most);
  return {
    ...format,
    label: `${format.label} ${range}`,
    expects: `${format.expects} ${range}`,
    parse: (text) => {
      const parsed = format.parse(text);
      if (parsed.state === 'invalid') return parsed;
      if (parsed.value < minimum) return invalid(`${quoted(text)} is below ${least}`);
      return parsed.value > maximum ? invalid(`${quoted(text)} is above ${most}`) : parsed;
    },
  };
}

function boundOf(format: Format<number>, text: string): number {
  const parsed = format.parse(text);
  if (parsed.state === 'invalid') throw new Error(`"${text}" is no ${format.label}`);
  return parsed.value;
}

/** A Prometheus duration, in milliseconds. */
export const duration: Format<number> = {
  label: 'duration',
  expects: 'a Prometheus duration',
  parse: (text) => {
    const valueMs = parseDuration(text);
    return valueMs === undefined ? invalid(`${quoted(text)} is not a duration`) : valid(valueMs);
  },
};

/** Decimal digits only: `1e3` and ` 4` are rejected. */
export const wholeNumber: Format<number> = {
  label: 'number',
  expects: 'a whole number',
  parse: (text) => {
    const value = Number(text);
    return /^\d+$/.test(text) && Number.isSafeInteger(value)
      ? valid(value)
      : invalid(`${quoted(text)} is not a whole number`);
  },
};

/** Requests per window: `500/30s`. Neither may be zero: a limit of zero would block every request. */
export const rateLimit: Format<{ readonly requests: number; readonly windowMs: number }> = {
  label: 'requests per duration',
  expects: 'a number of requests and a window, both above 0, such as 500/30s',
  parse: (text) => {
    const [, requestsText, windowText] = /^(\d+)\/(.+)$/.exec(text) ?? [];
    const requests = Number(requestsText);
    const windowMs = parseDuration(windowText ?? '');
    if (!Number.isSafeInteger(requests) || requests < 1 || windowMs === undefined || windowMs < 1) {
      return invalid(`${quoted(text)} is not a rate`);
    }
    return valid({ requests, windowMs });
  },
};

/** A text that is sent in a header and may be shown. */
export const headerValue: Format<string> = {
  label: 'text',
  expects: 'a text of printable ASCII characters',
  parse: (text) => {
    const error = headerError(text);
    return error === undefined ? valid(text) : invalid(`${quoted(text)} ${error}`);
  },
};

/** A text that is sent in a header and is never shown, not even if it is invalid. */
export const secret: Format<Secret> = {
  isSecret: true,
  label: 'secret',
  expects: 'the secret as issued, in printable ASCII characters',
  parse: (text) => {
    const error = secretError(text);
    return error === undefined ? valid(new Secret(text)) : invalid(`the value ${error}`);
  },
};

export const filePath: Format<string> = {
  label: 'path of a file',
  expects: 'the path of a file',
  parse: (text) => (/\p{Cc}/u.test(text) ? invalid(`${quoted(text)} contains a control character`) : valid(text)),
};

export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

export const uuid: Format<string> = {
  label: 'uuids',
  expects: 'uuids, such as 0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f',
  parse: (text) => (UUID.test(text) ? valid(text.toLowerCase()) : invalid(`${quoted(text)} is not a uuid`)),
};

// Above this bound, milliseconds are not exact.
const MAX_BUCKET_SECONDS = Number.MAX_SAFE_INTEGER / 1000;

/** The upper bound of a bucket of a histogram, in seconds. */
const bucket: Format<number> = {
  label: 'durations',
  expects: 'ascending durations or seconds of at least 1ms, such as 10s,1m,1h',
  parse: (text) => {
    const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : (parseDuration(text) ?? 0) / 1000;
    return seconds >= 0.001 && seconds <= MAX_BUCKET_SECONDS
      ? valid(seconds)
      : invalid(`${quoted(text)} is not a bucket`);
  },
};

/** The buckets of a histogram in ascending order. */
export const buckets = listOf(bucket, bucket.label, (bounds) =>
  bounds.every((bound, place) => place === 0 || bound > (bounds[place - 1] ?? 0))
    ? undefined
    : 'is not in ascending order',
);

export interface FilerAlias {
  /** The guid or serial of a filer, in lower case. */
  readonly id: string;
  /** The id of the same filer in the other service, in lower case, or else the filer's name. */
  readonly target: string;
}

/** A pair that joins two ids to one filer, or names a filer; uuids in lower case. */
const alias: Format<FilerAlias> = {
  label: 'pairs',
  expects: 'filer_guid=serial or filer_guid=name',
  parse: (text) => {
    const [, left = '', right = ''] = /^([^=]*)=(.*)$/su.exec(text) ?? [];
    const id = left.trim().toLowerCase();
    const named = right.trim();
    const target = UUID.test(named) ? named.toLowerCase() : named;
    if (!UUID.test(id)) return invalid(`${quoted(text)} does not begin with a uuid and an equals sign`);
    if (target === '') return invalid(`${quoted(text)} has nothing after the equals sign`);
    if (target === id) return invalid(`${quoted(text)} has the same id on both sides`);
    return valid({ id, target });
  },
};

/** Pairs of which no two begin with the same id. */
export const aliases = listOf(alias, alias.label, (pairs) => {
  const ids = pairs.map(({ id }) => id);
  const repeated = ids.find((id, place) => ids.indexOf(id) < place);
  return repeated === undefined ? undefined : `${JSON.stringify(repeated)} is listed twice`;
});

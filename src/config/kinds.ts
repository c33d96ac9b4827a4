import { Secret } from '../runtime/secret.ts';
import { near } from '../runtime/suggest.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { bad, good, headerFlaw, type Kind, quoted, secretFlaw } from './kind.ts';

export const SHORTEST_INTERVAL_MS = 1000;

interface Bounds {
  readonly least: number;
  readonly most?: number;
}

interface DurationBounds extends Bounds {
  /** The API accepts only whole seconds. */
  readonly inSeconds?: true;
}

function rangePhrase({ least, most }: Bounds, format: (bound: number) => string): string {
  return most === undefined ? `of at least ${format(least)}` : `from ${format(least)} to ${format(most)}`;
}

function boundFlaw(value: number, { least, most }: Bounds, format: (bound: number) => string): string | undefined {
  if (value < least) return `is below ${format(least)}`;
  if (most !== undefined && value > most) return `is above ${format(most)}`;
  return undefined;
}

/** A Prometheus duration within bounds, in milliseconds; `examples` complete the line about a fault. */
export function duration(boundsMs: DurationBounds, examples: string): Kind<number> {
  const range = rangePhrase(boundsMs, formatDuration);
  return {
    label: `duration ${range}`,
    expects: `a Prometheus duration ${range}, such as ${examples}`,
    parse: (text) => {
      const valueMs = parseDuration(text);
      if (valueMs === undefined) return bad(`${quoted(text)} is not a duration`);
      const flaw = boundFlaw(valueMs, boundsMs, formatDuration);
      if (flaw !== undefined) return bad(`${quoted(text)} ${flaw}`);
      const isFraction = boundsMs.inSeconds && valueMs % 1000 !== 0;
      return isFraction ? bad(`${quoted(text)} is not a whole number of seconds`) : good(valueMs);
    },
    show: formatDuration,
  };
}

export function count(bounds: Bounds): Kind<number> {
  const range = rangePhrase(bounds, String);
  return {
    label: `number ${range}`,
    expects: `a whole number ${range}`,
    parse: (text) => {
      const value = Number(text);
      if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) return bad(`${quoted(text)} is not a whole number`);
      const flaw = boundFlaw(value, bounds, String);
      return flaw === undefined ? good(value) : bad(`${quoted(text)} ${flaw}`);
    },
  };
}

/**
 * A number from zero on, alone or at the end of the name of a StatefulSet's pod (`exporter-2`), because every
 * Kubernetes version can pass a pod's name.
 */
export const ordinal: Kind<number> = {
  label: 'number, or a name that ends in -number',
  expects: 'a whole number of at least 0, or the name of a StatefulSet pod such as filer-exporter-2',
  parse: (text) => {
    const value = Number(/^(?:[a-z0-9][a-z0-9.-]*-)?(\d+)$/.exec(text)?.[1]);
    return Number.isSafeInteger(value) ? good(value) : bad(`${quoted(text)} is not a number and does not end in one`);
  },
};

/** Requests per window: `500/30s`. Neither may be zero: a limit of zero would block every request. */
export const rate: Kind<{ readonly requests: number; readonly windowMs: number }> = {
  label: 'requests per duration',
  expects: 'a number of requests and a window, both above 0, such as 500/30s',
  parse: (text) => {
    const [, requestsText, windowText] = /^(\d+)\/(.+)$/.exec(text) ?? [];
    const requests = Number(requestsText);
    const windowMs = parseDuration(windowText ?? '');
    if (!Number.isSafeInteger(requests) || requests < 1 || windowMs === undefined || windowMs < 1) {
      return bad(`${quoted(text)} is not a rate`);
    }
    return good({ requests, windowMs });
  },
  show: ({ requests, windowMs }) => `${requests}/${formatDuration(windowMs)}`,
};

export function choice<const Word extends string>(words: readonly Word[]): Kind<Word> {
  return {
    label: words.join(', '),
    expects: `one of ${words.join(', ')}`,
    parse: (text) => {
      const word = words.find((candidate) => candidate === text);
      return word === undefined ? bad(`${quoted(text)} is not a known word`, near(text, words)) : good(word);
    },
  };
}

/** `true` or `false` only: `yes` and `1` have different meanings in different formats. */
export const truth: Kind<boolean> = {
  label: 'true or false',
  expects: 'true or false',
  parse: (text) => {
    if (text === 'true') return good(true);
    if (text === 'false') return good(false);
    return bad(`${quoted(text)} is neither`);
  },
};

/** A text that is sent in a header and may be shown. */
export const headerValue: Kind<string> = {
  label: 'text',
  expects: 'a text of printable ASCII characters',
  parse: (text) => {
    const flaw = headerFlaw(text);
    return flaw === undefined ? good(text) : bad(`${quoted(text)} ${flaw}`);
  },
};

/** A text that is sent in a header and is never shown, not even if it is invalid. */
export const secret: Kind<Secret> = {
  isSecret: true,
  label: 'secret',
  expects: 'the secret as issued, in printable ASCII characters',
  parse: (text) => {
    const flaw = secretFlaw(text);
    return flaw === undefined ? good(Secret.of(text)) : bad(`the value ${flaw}`);
  },
};

export const filePath: Kind<string> = {
  label: 'path of a file',
  expects: 'the path of a file',
  parse: (text) => (/\p{Cc}/u.test(text) ? bad(`${quoted(text)} contains a control character`) : good(text)),
};

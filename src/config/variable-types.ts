import { Secret } from '../runtime/secret.ts';
import { likelyTypo } from '../runtime/suggest.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { headerError, invalid, quoted, secretError, type VariableType, valid } from './variable-type.ts';

export const MIN_INTERVAL_MS = 1000;

interface Bounds {
  readonly least: number;
  readonly most?: number;
}

interface DurationBounds extends Bounds {
  /** Only whole seconds are valid, because the service accepts nothing else. */
  readonly inSeconds?: true;
}

function rangePhrase({ least, most }: Bounds, format: (bound: number) => string): string {
  return most === undefined ? `of at least ${format(least)}` : `from ${format(least)} to ${format(most)}`;
}

function boundError(value: number, { least, most }: Bounds, format: (bound: number) => string): string | undefined {
  if (value < least) return `is below ${format(least)}`;
  if (most !== undefined && value > most) return `is above ${format(most)}`;
  return undefined;
}

/** A Prometheus duration within bounds, in milliseconds. `examples` complete the error line. */
export function durationType(boundsMs: DurationBounds, examples: string): VariableType<number> {
  const range = rangePhrase(boundsMs, formatDuration);
  return {
    label: `duration ${range}`,
    expects: `a Prometheus duration ${range}, such as ${examples}`,
    parse: (text) => {
      const valueMs = parseDuration(text);
      if (valueMs === undefined) return invalid(`${quoted(text)} is not a duration`);
      const error = boundError(valueMs, boundsMs, formatDuration);
      if (error !== undefined) return invalid(`${quoted(text)} ${error}`);
      const isFraction = boundsMs.inSeconds && valueMs % 1000 !== 0;
      return isFraction ? invalid(`${quoted(text)} is not a whole number of seconds`) : valid(valueMs);
    },
    show: formatDuration,
  };
}

export function integerType(bounds: Bounds): VariableType<number> {
  const range = rangePhrase(bounds, String);
  return {
    label: `number ${range}`,
    expects: `a whole number ${range}`,
    parse: (text) => {
      const value = Number(text);
      if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) return invalid(`${quoted(text)} is not a whole number`);
      const error = boundError(value, bounds, String);
      return error === undefined ? valid(value) : invalid(`${quoted(text)} ${error}`);
    },
  };
}

/**
 * A number from zero on, alone or at the end of the name of a StatefulSet's pod (`exporter-2`), because every
 * Kubernetes version can pass the name of a pod.
 */
export const ordinal: VariableType<number> = {
  label: 'number, or a name that ends in -number',
  expects: 'a whole number of at least 0, or the name of a StatefulSet pod such as filer-exporter-2',
  parse: (text) => {
    const value = Number(/^(?:[a-z0-9][a-z0-9.-]*-)?(\d+)$/.exec(text)?.[1]);
    return Number.isSafeInteger(value)
      ? valid(value)
      : invalid(`${quoted(text)} is not a number and does not end in one`);
  },
};

/** Requests per window: `500/30s`. Neither may be zero: a limit of zero would block every request. */
export const rateLimitType: VariableType<{ readonly requests: number; readonly windowMs: number }> = {
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
  show: ({ requests, windowMs }) => `${requests}/${formatDuration(windowMs)}`,
};

export function enumType<const Word extends string>(words: readonly Word[]): VariableType<Word> {
  return {
    label: words.join(', '),
    expects: `one of ${words.join(', ')}`,
    parse: (text) => {
      const word = words.find((candidate) => candidate === text);
      return word === undefined ? invalid(`${quoted(text)} is not a known word`, likelyTypo(text, words)) : valid(word);
    },
  };
}

/** Accepts only `true` and `false`, because `yes` and `1` mean different things in different formats. */
export const booleanType: VariableType<boolean> = {
  label: 'true or false',
  expects: 'true or false',
  parse: (text) => {
    if (text === 'true') return valid(true);
    if (text === 'false') return valid(false);
    return invalid(`${quoted(text)} is neither`);
  },
};

/** A text that is sent in a header and may be shown. */
export const headerValue: VariableType<string> = {
  label: 'text',
  expects: 'a text of printable ASCII characters',
  parse: (text) => {
    const error = headerError(text);
    return error === undefined ? valid(text) : invalid(`${quoted(text)} ${error}`);
  },
};

/** A text that is sent in a header and is never shown, not even if it is invalid. */
export const secret: VariableType<Secret> = {
  isSecret: true,
  label: 'secret',
  expects: 'the secret as issued, in printable ASCII characters',
  parse: (text) => {
    const error = secretError(text);
    return error === undefined ? valid(Secret.of(text)) : invalid(`the value ${error}`);
  },
};

export const filePath: VariableType<string> = {
  label: 'path of a file',
  expects: 'the path of a file',
  parse: (text) => (/\p{Cc}/u.test(text) ? invalid(`${quoted(text)} contains a control character`) : valid(text)),
};

import { Secret } from '../runtime/secret.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { type Format, headerError, invalid, quoted, secretError, valid } from './format.ts';

/** A Prometheus duration, in milliseconds. */
export const duration: Format<number> = {
  label: 'duration',
  expects: 'a Prometheus duration',
  parse: (text) => {
    const valueMs = parseDuration(text);
    return valueMs === undefined ? invalid(`${quoted(text)} is not a duration`) : valid(valueMs);
  },
  show: formatDuration,
};

/** A duration for a service that accepts nothing but whole seconds. */
export const wholeSeconds: Format<number> = {
  ...duration,
  label: 'duration in whole seconds',
  expects: 'a Prometheus duration in whole seconds',
  parse: (text) => {
    const parsed = duration.parse(text);
    const isFraction = parsed.state === 'valid' && parsed.value % 1000 !== 0;
    return isFraction ? invalid(`${quoted(text)} is not a whole number of seconds`) : parsed;
  },
};

/** `integer` of JSON Schema is not used, because the text of a variable may be `1e3` or ` 4` there. */
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
  show: ({ requests, windowMs }) => `${requests}/${formatDuration(windowMs)}`,
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
    return error === undefined ? valid(Secret.of(text)) : invalid(`the value ${error}`);
  },
};

export const filePath: Format<string> = {
  label: 'path of a file',
  expects: 'the path of a file',
  parse: (text) => (/\p{Cc}/u.test(text) ? invalid(`${quoted(text)} contains a control character`) : valid(text)),
};

export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** An entry of a list. */
export const uuid: Format<string> = {
  label: 'uuids',
  expects: 'uuids, such as 0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f',
  parse: (text) => (UUID.test(text) ? valid(text.toLowerCase()) : invalid(`${quoted(text)} is not a uuid`)),
};

// Above this bound, milliseconds are not exact.
const MAX_BUCKET_SECONDS = Number.MAX_SAFE_INTEGER / 1000;

/** The upper bound of a bucket of a histogram in seconds, as an entry of a list. */
export const bucket: Format<number> = {
  label: 'durations',
  expects: 'ascending durations or seconds of at least 1ms, such as 10s,1m,1h',
  parse: (text) => {
    const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : (parseDuration(text) ?? 0) / 1000;
    return seconds >= 0.001 && seconds <= MAX_BUCKET_SECONDS
      ? valid(seconds)
      : invalid(`${quoted(text)} is not a bucket`);
  },
  // A bound finer than a millisecond cannot be a duration, so it is shown in seconds.
  show: (seconds) => (Number.isSafeInteger(seconds * 1000) ? formatDuration(seconds * 1000) : String(seconds)),
};

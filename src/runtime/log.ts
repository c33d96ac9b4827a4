import { type DestinationStream, type Logger, pino } from 'pino';
import { printable, printableLines } from './printable.ts';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** The length to which strings in a log line are cut, because services choose some of them. */
const MAX_LENGTH = { text: 1_000, stack: 8_000 } as const;

/** So many characters may wait for a reader of the log, because they occupy memory. */
const MAX_UNREAD = 1_000_000;

/** A stream that takes log lines, and may report how many characters wait and when they have been read. */
export type LogDestination = DestinationStream &
  Partial<Pick<NodeJS.WritableStream, 'once'>> & {
    readonly writableLength?: number;
  };

/**
 * Creates a log that writes one line of JSON for each entry. `level` is one of pino's, including `silent`. Strings are
 * shortened and made printable, so that a service cannot control a terminal. `mask` hides the secrets in each string
 * before it is shortened, because the beginning of a secret would not be recognized, and again in the whole line, because
 * names of fields may contain secrets too. While too much waits to be read, lines are dropped and counted.
 */
export function createLog(level: string, destination: LogDestination, mask: Masker = (text) => text): Logger {
  let dropped = 0;
  const write = (line: string) => {
    if (dropped === 0 && (destination.writableLength ?? 0) <= MAX_UNREAD) {
      destination.write(mask(line));
      return;
    }
    if (dropped === 0) destination.once?.('drain', reportDropped);
    dropped += 1;
  };
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error) => errorFields(error, mask) },
      formatters: { level: (label) => ({ level: label }), log: (fields) => shortenFields(fields, mask) },
    },
    { write },
  );
  const reportDropped = () => {
    const lines = dropped;
    dropped = 0;
    log.warn({ lines }, 'Log lines were dropped because nothing read them.');
  };
  return log;
}

type Masker = (text: string) => string;

function shortenFields(fields: Readonly<Record<string, unknown>>, mask: Masker): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shortenValue(value, mask)]));
}

/** Masks and shortens strings and lists of strings and makes them printable; returns other values unchanged. */
function shortenValue(value: unknown, mask: Masker): unknown {
  if (Array.isArray(value)) return value.map((element) => shortenValue(element, mask));
  return typeof value === 'string' ? printable(cut(mask(value), MAX_LENGTH.text)) : value;
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/**
 * Returns an error as log fields: type, message, and the messages of its causes. The stack is added unless the error is of
 * one of the program's own classes, because any other error is a bug.
 */
function errorFields(error: unknown, mask: Masker): unknown {
  if (!(error instanceof Error)) return error;
  const causes: string[] = [];
  for (let { cause } = error; cause instanceof Error && causes.length < 5; { cause } = cause)
    causes.push(messageOf(cause));
  const stack = EXPECTED_ERRORS.has(error.name)
    ? undefined
    : printableLines(cut(mask(error.stack ?? ''), MAX_LENGTH.stack));
  return {
    type: error.name,
    message: shortenValue(error.message, mask),
    ...(causes.length === 0 ? {} : { causes: shortenValue(causes, mask) }),
    ...(stack === undefined ? {} : { stack }),
  };
}

/** Node's error for several addresses has no message of its own. */
function messageOf(error: Error): string {
  const parts = error instanceof AggregateError && error.message === '' ? error.errors : [error];
  return parts.map(({ message }) => message).join(', ');
}

const EXPECTED_ERRORS = new Set(['RequestError', 'SchemaError', 'CredentialError', 'ConfigError', 'StateFileError']);

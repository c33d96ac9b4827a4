import { type DestinationStream, type Logger, pino } from 'pino';
import { printable, printableLines } from './printable.ts';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** Longer texts in a log line are cut to this many characters: services choose some of them. */
const LONGEST = { text: 1_000, stack: 8_000 } as const;

/** Characters that may wait for a reader of the log: what waits takes memory. */
const MAX_WAITING = 1_000_000;

/** Where log lines go: a stream that tells how much waits, and when it has been read; tests have simpler ones. */
export type LogDestination = DestinationStream &
  Partial<Pick<NodeJS.WritableStream, 'once'>> & {
    readonly writableLength?: number;
  };

/**
 * A log with one line an entry: JSON, or what `destination` makes of it. `level` is one of pino's, including `silent`.
 * Texts from services are shortened and made printable, so that a line cannot control a terminal; `masked` hides the
 * secrets in a text before it is shortened, because the beginning of a secret is not recognized, and in the whole line,
 * which has names of fields too. While too much waits to be read, lines are dropped and counted.
 */
export function createLog(level: string, destination: LogDestination, masked: Masker = (text) => text): Logger {
  let dropped = 0;
  const write = (line: string) => {
    if (dropped === 0 && (destination.writableLength ?? 0) <= MAX_WAITING) {
      destination.write(masked(line));
      return;
    }
    if (dropped === 0) destination.once?.('drain', tellDropped);
    dropped += 1;
  };
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error) => errorFields(error, masked) },
      formatters: { level: (label) => ({ level: label }), log: (fields) => shortened(fields, masked) },
    },
    { write },
  );
  const tellDropped = () => {
    const lines = dropped;
    dropped = 0;
    log.warn({ lines }, 'log lines dropped because nothing read them');
  };
  return log;
}

type Masker = (text: string) => string;

function shortened(fields: Readonly<Record<string, unknown>>, masked: Masker): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shortenedValue(value, masked)]));
}

/** Masks and shortens texts and lists of texts and makes them printable; returns other values unchanged. */
function shortenedValue(value: unknown, masked: Masker): unknown {
  if (Array.isArray(value)) return value.map((each) => shortenedValue(each, masked));
  return typeof value === 'string' ? printable(cut(masked(value), LONGEST.text)) : value;
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/**
 * An error as log fields: type, message, and the messages of its causes. The stack is logged only for errors of other
 * classes than the program's own, because those are bugs.
 */
function errorFields(error: unknown, masked: Masker): unknown {
  if (!(error instanceof Error)) return error;
  const causes: string[] = [];
  for (let { cause } = error; cause instanceof Error && causes.length < 5; { cause } = cause)
    causes.push(cause.message);
  const stack = OUR_OWN.has(error.name) ? undefined : printableLines(cut(masked(error.stack ?? ''), LONGEST.stack));
  return {
    type: error.name,
    message: shortenedValue(error.message, masked),
    ...(causes.length === 0 ? {} : { causes: shortenedValue(causes, masked) }),
    ...(stack === undefined ? {} : { stack }),
  };
}

const OUR_OWN = new Set([
  'RequestError',
  'ShapeError',
  'CredentialError',
  'ConfigError',
  'LateError',
  'StateFileError',
]);

import { type DestinationStream, type Logger, pino } from 'pino';
import { printable, printableLines } from './printable.ts';

/** The logger that every part takes as an argument. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** Longer texts in a line are cut to so many characters, and stacks to the second: services choose some of them. */
const LONGEST = { text: 1_000, stack: 8_000 } as const;

/**
 * A log of one line an entry: JSON, or whatever `destination` makes of it. `level` is one of pino's, `silent` among them.
 * Whatever text a service sends, a line stays short and does nothing to a terminal.
 */
export function createLog(level: string, destination: DestinationStream): Logger {
  return pino(
    {
      ...{ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: errorFields } },
      formatters: { level: (label) => ({ level: label }), log: shortened },
    },
    destination,
  );
}

function shortened(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, cut(value, LONGEST.text)]));
}

/** A text cut and printable, as are those of a list; anything else as it is. */
function cut(value: unknown, length: number): unknown {
  if (Array.isArray(value)) return value.map((each) => cut(each, length));
  if (typeof value !== 'string') return value;
  return printable(value.length > length ? `${value.slice(0, length)}…` : value);
}

/** A stack has a line for each call. */
function cutStack(stack: string | undefined): string | undefined {
  return stack && printableLines(stack.slice(0, LONGEST.stack));
}

/**
 * An error as log fields: type, message, the messages of its causes. The stack only of errors that are not our own, for
 * those are defects; a failed request is told by its message.
 */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const causes: string[] = [];
  for (let { cause } = error; cause instanceof Error && causes.length < 5; { cause } = cause)
    causes.push(String(cut(cause.message, LONGEST.text)));
  return {
    type: error.name,
    message: cut(error.message, LONGEST.text),
    ...(causes.length === 0 ? {} : { causes }),
    ...(OUR_OWN.has(error.name) ? {} : { stack: cutStack(error.stack) }),
  };
}

const OUR_OWN = new Set(['RequestError', 'ShapeError', 'CredentialError', 'ConfigError', 'LateError']);

import { type DestinationStream, type Logger, pino } from 'pino';

/** The logger that every part takes as an argument. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** A log of one line an entry: JSON, or whatever `destination` makes of it. `level` is one of pino's, `silent` among them. */
export function createLog(level: string, destination: DestinationStream): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: errorFields } },
    destination,
  );
}

/**
 * An error as log fields: type, message, the messages of its causes. The stack only of errors that are not our own, for
 * those are defects; a failed request is told by its message.
 */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const causes: string[] = [];
  for (let { cause } = error; cause instanceof Error && causes.length < 5; { cause } = cause)
    causes.push(cause.message);
  return {
    type: error.name,
    message: error.message,
    ...(causes.length === 0 ? {} : { causes }),
    ...(OUR_OWN.has(error.name) ? {} : { stack: error.stack }),
  };
}

const OUR_OWN = new Set(['RequestError', 'ShapeError', 'CredentialError', 'ConfigError']);

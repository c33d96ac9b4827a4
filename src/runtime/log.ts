import type { Logger } from 'pino';

/** The logger that every part takes as an argument; pino's own type, so that its bindings and levels hold. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

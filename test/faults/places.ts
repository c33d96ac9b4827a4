import type { Setup } from './instance.ts';
import { LINES, type Lines, type OperationName, type Row } from './row.ts';

/** A row with what it runs on. */
export interface Placed {
  readonly row: Row;
  readonly setup: Setup;
  /** It is only found out by waiting. */
  readonly isSilent?: boolean;
  /** It is a 429, and behind it the pace is lower for a while: no other row is played after it on the same. */
  readonly isHeld?: boolean;
}

/** What one operation's rows have in common. */
export interface Place {
  readonly setup: Setup;
  /** What the log says when it fails. */
  readonly lines: Lines | undefined;
  /** How many say so; one unless told. */
  readonly speakers?: number;
  /** Back within so many seconds: two intervals, or longer for a reason. */
  readonly withinSeconds: number;
  readonly because?: string;
}

/** About ten intervals: so long what lasts does, that long back-offs grow and what is said twice is heard. In seconds. */
export const LASTING_SECONDS = 9;

/** REQUEST_TIMEOUT, in seconds. What hangs does so for several intervals: whoever waits for it is missed long before it ends. */
export const HANGING_SECONDS = 4;

/** Everything every second. */
export const QUICK: Setup = {
  reach: 'address',
  portalSeconds: 1,
  discoverySeconds: 1,
  tokenSeconds: 900,
  timeoutSeconds: HANGING_SECONDS,
};

/** Refused credentials are left alone for five seconds, and a portal that is down is asked every few: two intervals of four are longer. */
export const SLOW: Setup = { ...QUICK, portalSeconds: 4, discoverySeconds: 4 };

/** What each operation's rows run on, and what they say. */
export const places: Readonly<Record<OperationName, Place>> = {
  token: { setup: SLOW, lines: LINES.api, withinSeconds: 8 },
  // Two lists of one operation: those of edges and of file_iq.
  serials: { setup: QUICK, lines: LINES.list, speakers: 2, withinSeconds: 2 },
  edges: { setup: QUICK, lines: LINES.list, withinSeconds: 2 },
  data: { setup: QUICK, lines: LINES.api, withinSeconds: 2 },
  series: { setup: QUICK, lines: LINES.task, withinSeconds: 2 },
};

import { printable } from '../runtime/printable.ts';

/** An error in a value. `what` continues the line `NAME: …` and quotes no secret. */
export interface ValueError {
  readonly what: string;
  /** The documented value that was probably meant; it is shown instead of what is expected. */
  readonly meant?: string | undefined;
}

export type Parsed<Value> =
  | { readonly state: 'valid'; readonly value: Value }
  | { readonly state: 'invalid'; readonly errors: readonly ValueError[] };

/** What the text of a variable may be: a format checks it, converts it, and says what is wrong with it. */
export interface Format<Value> {
  /** A short name of the type, for `--help` and the reference. */
  readonly label: string;
  /** Completes the error line: `expected …`. */
  readonly expects: string;
  /** Values of this format are never shown, and `NAME_FILE` may be the path of a file with one. */
  readonly isSecret?: true;
  readonly parse: (text: string) => Parsed<Value>;
}

export function valid<Value>(value: Value): Parsed<Value> {
  return { state: 'valid', value };
}

export function invalid(what: string): Parsed<never> {
  return { state: 'invalid', errors: [{ what }] };
}

export function errorLine(name: string, error: ValueError, expects: string): string {
  const hint = error.meant === undefined ? `expected ${expects}` : `did you mean ${error.meant}?`;
  return `${name}: ${error.what}; ${hint}`;
}

const MAX_QUOTE = 80;

/** Matches keys and tokens, which may be in the wrong variable: no blank, no address, letters and digits mixed. */
const LIKE_SECRET = /^(?=.*\d)(?=.*[a-z])[\w+/=.~-]{16,}$/i;

/**
 * A value in quotes, shortened if long, without characters that break the line or control a terminal. A value that may be
 * a secret of another variable is not quoted.
 */
export function quoted(text: string): string {
  if (LIKE_SECRET.test(text)) return 'the value';
  const shown = text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text;
  return printable(JSON.stringify(shown));
}

/** Matches how paths begin. Any other text may be the secret itself in the wrong variable, so it is not quoted. */
const PATH = /^(?:\.{1,2}\/|secrets\/|\/(?:etc|home|mnt|opt|root|run|srv|tmp|usr|var)\/)/;

/** A path in quotes, not shortened, because its end identifies it best. */
export function quotedPath(path: string): string {
  return PATH.test(path) ? printable(`"${path}"`) : 'the file';
}

/**
 * Why a text cannot be sent in an HTTP header; undefined if it can. Only printable ASCII is allowed; a line break would
 * let a value start another header. Blanks at either end would be removed on the way.
 */
export function headerError(text: string): string | undefined {
  if (/[\r\n]/.test(text)) return 'contains a line break';
  if (/\p{Cc}/u.test(text)) return 'contains a control character';
  if (/[^ -~]/.test(text)) return 'contains a character outside ASCII';
  if (text.trim() !== text) return 'begins or ends with a space';
  return undefined;
}

/** No service issues a longer secret, and web servers accept no longer header. */
const MAX_SECRET_CHARACTERS = 8 * 1024;

/** Why a text cannot be a secret; undefined if it can. */
export function secretError(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text.length > MAX_SECRET_CHARACTERS) return 'is longer than 8 KiB';
  if (/^(["']).*\1$/.test(text)) return 'is in quotes';
  return headerError(text);
}

export function entriesOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

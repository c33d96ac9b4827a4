/** Something wrong with a value. `what` continues the line `NAME: …` and quotes no secret. */
export interface Flaw {
  readonly what: string;
  /** The known word that was probably meant; shown in the place of what the kind expects. */
  readonly meant?: string | undefined;
}

/** A text read as its kind. */
export type Parsed<Value> =
  | { readonly state: 'good'; readonly value: Value }
  | { readonly state: 'bad'; readonly flaws: readonly Flaw[] };

/** What a variable's text must look like, and what it means. */
export interface Kind<Value> {
  /** A few words for `--help` and the README table. */
  readonly label: string;
  /** Ends the line about a flaw: `expected …`. */
  readonly expects: string;
  readonly parse: (text: string) => Parsed<Value>;
}

/** The text has a meaning. */
export function good<Value>(value: Value): Parsed<Value> {
  return { state: 'good', value };
}

/** The text has none, for this one reason. */
export function bad(what: string, meant?: string): Parsed<never> {
  return { state: 'bad', flaws: [{ what, meant }] };
}

/** A line about a flaw, as the operator reads it. */
export function faultLine(name: string, flaw: Flaw, expects: string): string {
  const hint = flaw.meant === undefined ? `expected ${expects}` : `did you mean ${flaw.meant}?`;
  return `${name}: ${flaw.what}; ${hint}`;
}

const LONGEST_QUOTE = 80;

/** A value as it may stand in a line: in quotes, cut when long, and with nothing that breaks the line or a terminal. */
export function quoted(text: string): string {
  const shown = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
  return JSON.stringify(shown).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/**
 * What keeps a text out of an HTTP header, or undefined: everything beyond printable ASCII, above all line breaks, which
 * would let a value start a header of its own. Blanks at either end are taken off on the way and would not match there.
 */
export function headerFlaw(text: string): string | undefined {
  if (/[\r\n]/.test(text)) return 'contains a line break';
  if (/\p{Cc}/u.test(text)) return 'contains a control character';
  if (/[^ -~]/.test(text)) return 'contains a character outside ASCII';
  if (text.trim() !== text) return 'begins or ends with a blank';
  return undefined;
}

/** The entries of a comma-separated list; blanks around them and empty ones count for nothing. */
export function entriesOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

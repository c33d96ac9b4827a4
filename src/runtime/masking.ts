/**
 * Hides secrets in the lines that the program writes, in every form in which they are sent. `secrets`: all that are
 * known now, with those that a rotation has replaced.
 */
export function lineMasker(secrets: () => readonly string[]): (line: string) => string {
  let known = '';
  let pattern: RegExp | undefined;
  return (line) => {
    const texts = secrets().filter(({ length }) => length > SHORTEST);
    const now = JSON.stringify(texts);
    if (now !== known) pattern = patternOf(formsOf(texts));
    known = now;
    return pattern === undefined ? line : line.replace(pattern, MASK);
  };
}

/** A form with a bare quotation mark is left out: a line of the log is JSON, in which it has none. */
function patternOf(forms: readonly string[]): RegExp | undefined {
  const sent = forms.filter((form) => !/(?<!\\)"/.test(form)).map((form) => form.replaceAll(/[^\w ]/g, '\\$&'));
  return sent.length === 0 ? undefined : new RegExp(sent.join('|'), 'gi');
}

/**
 * Removes secrets from a text of a service, which may echo the request. Removed are: the texts in `sent`, in any case,
 * as sent and as encoded in URLs, forms, JSON, HTML and base64; the beginnings of those that may be keys, because
 * services show beginnings to tell keys apart; and every text that is long enough for a key, a token or a uuid. Texts
 * of up to three characters stay: they are no secrets, and occur in words.
 */
export function masked(text: string, sent: unknown): string {
  // An `Authorization` may be a scheme and a token, and a service may echo the token alone.
  const parts = textsIn(sent).flatMap((whole) => [whole, ...whole.split(' ')]);
  const texts = [...new Set(parts)].filter(({ length }) => length > SHORTEST);
  const keys = texts.filter((part) => !part.includes(' ') && !IS_WORDS.test(part));
  const whole = without(withoutEntities(text), formsOf(texts));
  return without(whole, formsOf(keys), BEGINNING).replaceAll(LOOKS_LIKE_A_KEY, MASK);
}

const MASK = '[…]';
const SHORTEST = 3;
/** The length from which the beginning of a key is removed. */
const BEGINNING = 4;
/** Names and words, such as `Bearer` and `client_credentials`: other words begin alike. */
const IS_WORDS = /^[A-Z]?[a-z]+(?:[-_/.][a-z]+)*$/;
const LOOKS_LIKE_A_KEY = /[\w+/=.~%-]{16,}/g;

function textsIn(sent: unknown): readonly string[] {
  if (typeof sent === 'string') return [sent];
  return typeof sent === 'object' && sent !== null ? Object.values(sent).flatMap(textsIn) : [];
}

/** The longest first: after a shorter one is removed, the rest of a longer one would not be recognized. */
function formsOf(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap(formsOfOne).map(withoutEntities))].toSorted(
    (one, other) => other.length - one.length,
  );
}

function formsOfOne(text: string): readonly string[] {
  const inUrls = [encodeURIComponent(text.toWellFormed()), String(new URLSearchParams([['', text]])).slice(1)];
  const inJson = JSON.stringify(text).slice(1, -1);
  return [
    text,
    ...inUrls,
    ...[inJson, inJson.replaceAll('/', '\\/')],
    // Without the padding, which may be missing and reveals nothing.
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
    Buffer.from(text).toString('base64url'),
  ];
}

/** In any case; with `least`, also their beginnings from this length on. */
function without(text: string, forms: readonly string[], least?: number): string {
  return forms.reduce((shown, form) => withoutForm(shown, form, Math.min(least ?? form.length, form.length)), text);
}

function withoutForm(text: string, form: string, least: number): string {
  let shown = '';
  let end = 0;
  const beginning = form.slice(0, least).replaceAll(/[^\w ]/g, '\\$&');
  for (const { index } of text.matchAll(new RegExp(beginning, 'gi'))) {
    if (index < end) continue;
    shown += text.slice(end, index) + MASK;
    end = index + least;
    while (end - index < form.length && isSame(text[end], form[end - index])) end += 1;
  }
  return shown + text.slice(end);
}

function isSame(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one.toLowerCase() === other?.toLowerCase();
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text as a browser shows it. */
function withoutEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

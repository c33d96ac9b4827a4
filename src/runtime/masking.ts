import { printable } from './printable.ts';

const MASK = '[…]';

/** Shorter secrets and beginnings stay, because they occur in words. */
const MIN_LENGTH = 4;

const NOTHING = /(?!)/g;

/**
 * Returns a function that hides the secrets of the program in a text that it writes: in any letter case, and as JSON, URLs,
 * forms and base64 contain them.
 */
export function createMasker(secrets: () => readonly string[]): (text: string) => string {
  let known = '';
  let pattern = NOTHING;
  return (text) => {
    const present = secrets();
    if (present.join('\n') !== known) {
      known = present.join('\n');
      pattern = patternOf(present);
    }
    return text.replaceAll(pattern, MASK);
  };
}

function patternOf(secrets: readonly string[]): RegExp {
  const forms = secrets.filter(({ length }) => length >= MIN_LENGTH).flatMap(formsOf);
  // The longest first: one secret may begin with another.
  const sources = [...new Set(forms)].sort((one, other) => other.length - one.length);
  return sources.length === 0 ? NOTHING : new RegExp(sources.join('|'), 'gi');
}

/** The forms of a secret as parts of a regular expression. */
function formsOf(secret: string): readonly string[] {
  const inForm = String(new URLSearchParams([['', secret]])).slice(1);
  const texts = [secret, JSON.stringify(secret).slice(1, -1), inForm, inForm.replaceAll('+', '%20')];
  // The text behind the secret changes the last character, and pads the end.
  const inBase64 = base64Of(secret).map((form) => `${form.replaceAll('-', '[-+]').replaceAll('_', '[_/]')}[\\w+/=-]*`);
  return [...texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)), ...inBase64];
}

/** The part of the secret's base64 that does not depend on the text around it, behind none, one and two bytes. */
function base64Of(secret: string): readonly string[] {
  return ['', '-', '--'].flatMap((before) => {
    const coded = Buffer.from(before + secret).toString('base64url');
    const form = coded.slice(
      Math.ceil((4 * before.length) / 3),
      Math.floor((4 * Buffer.byteLength(before + secret)) / 3),
    );
    return form.length < MIN_LENGTH ? [] : [form];
  });
}

/** At most so many characters of a message of a service are read, and at most so many are shown. */
const MAX_READ = 2_000;
const MAX_SHOWN = 200;

/** What HTML, URLs, forms, and JSON in JSON write in the place of a character. */
const ENCODED = /\\|&(?:#\w+|[a-z]+);|%[\da-f]{2}|\w\+\w/i;

/** Names such as `Bearer` and `client_credentials` are hidden only as a whole, because other words begin like them. */
const NAME = /^[A-Z]?[a-z]+(?:[-_/.][a-z]+)*$/;

/**
 * Returns in one line what a service says, which may repeat what it was sent; undefined if it is encoded, because a secret
 * would not be found. Hidden are `secrets`, words that contain the beginning of one, because services tell keys apart by
 * beginnings, and everything that is long enough for a key, a token or a UUID and does not consist of words.
 */
export function shownWords(text: string | undefined, secrets: readonly string[]): string | undefined {
  const read = text?.slice(0, MAX_READ);
  if (read === undefined || ENCODED.test(read)) return undefined;
  // `Authorization` is a scheme and a token, and a service may repeat the token alone.
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(' ')]);
  const keys = parts.filter((part) => part.length >= MIN_LENGTH && !part.includes(' ') && !NAME.test(part));
  const beginnings = keys
    .flatMap((key) => [key, ...base64Of(key)])
    .map((form) => form.slice(0, MIN_LENGTH).toLowerCase());
  const hasBeginning = (word: string) => beginnings.some((beginning) => word.toLowerCase().includes(beginning));
  const words = createMasker(() => parts)(read).split(/\s+/);
  const shown = words.map((word) => (hasBeginning(word) ? MASK : maskKeys(word))).join(' ');
  return printable(shown.slice(0, MAX_SHOWN));
}

const LONG_ENOUGH_FOR_A_KEY = /[\w+/=.~%-]{16,}/g;

function maskKeys(word: string): string {
  return word.replaceAll(LONG_ENOUGH_FOR_A_KEY, (run) => (consistsOfWords(run) ? run : MASK));
}

/** Words in one case, or in camel case with at least three letters in each further word; digits may follow. */
const WORD = /^(?:[A-Z]?[a-z]{1,15}(?:[A-Z][a-z]{2,14})*|[A-Z]{1,15})?\d*$/;

/** Returns true for `can_view_dashboard`, `CanViewDashboard`, `nas1.example.com` and the like, with at most three digits. */
function consistsOfWords(run: string): boolean {
  return run.replaceAll(/\D/g, '').length <= 3 && run.split(/[^A-Za-z\d]+/).every((word) => WORD.test(word));
}

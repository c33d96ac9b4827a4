/** Hides the secrets of the program in a line that it writes. At the end of a line, part of a secret may have been cut off. */
export function createMasker(secrets: () => readonly string[]): (line: string) => string {
  return (line) => (line === '' ? line : hide(line, secrets(), (_, isAtEnd) => isAtEnd));
}

/**
 * Hides secrets in a text of a service, which may echo the request: the strings in `sent`, and the beginnings of those that
 * may be keys, because services show beginnings to distinguish keys. It also hides every other string that is long enough
 * for a key, a token or a UUID, unless the string consists of words.
 */
export function maskSecrets(text: string, sent: unknown): string {
  // `Authorization` is a scheme and a token, and a service may echo the token alone.
  const parts = stringsIn(sent).flatMap((value) => [value, ...value.split(' ')]);
  const shown = hide(text, parts, (part) => !part.includes(' ') && !NAME.test(part));
  return shown.replaceAll(LONG_ENOUGH_FOR_A_KEY, (run) => (consistsOfWords(run) ? run : MASK));
}

const MASK = '[…]';
/** Shorter secrets and beginnings stay, because they occur in words. */
const MIN_LENGTH = 4;
/** Names such as `Bearer` and `client_credentials` are hidden only as a whole, because other words begin like them. */
const NAME = /^[A-Z]?[a-z]+(?:[-_/.][a-z]+)*$/;
const LONG_ENOUGH_FOR_A_KEY = /[\w+/=.~%-]{16,}/g;
/** Words in one case, or in camel case with at least three letters in each further word; digits may follow. */
const WORD = /^(?:[A-Z]?[a-z]{1,15}(?:[A-Z][a-z]{2,14})*|[A-Z]{1,15})?\d*$/;

/** Returns true for `can_view_dashboard`, `CanViewDashboard`, `nas1.example.com` and the like, with at most three digits. */
function consistsOfWords(run: string): boolean {
  return run.replaceAll(/\D/g, '').length <= 3 && run.split(/[^A-Za-z\d]+/).every((word) => WORD.test(word));
}

function stringsIn(sent: unknown): readonly string[] {
  if (typeof sent === 'string') return [sent];
  return typeof sent === 'object' && sent !== null ? Object.values(sent).flatMap(stringsIn) : [];
}

/**
 * Hides each secret in any encoding and letter case, and the beginnings of it that `hidesBeginning` admits. The time for a
 * secret is linear in the length of the text.
 */
function hide(
  text: string,
  secrets: readonly string[],
  hidesBeginning: (secret: string, isAtEnd: boolean) => boolean,
): string {
  const { plain, starts } = decode(text);
  const isHidden: boolean[] = [];
  for (const secret of new Set(secrets)) {
    for (const form of secret.length < MIN_LENGTH ? [] : formsOf(secret)) {
      if (form.length < MIN_LENGTH || !plain.includes(form.slice(0, MIN_LENGTH))) continue;
      let end = 0;
      beginnings(form, plain).forEach((length, index) => {
        const hides = () => length === form.length || hidesBeginning(secret, index + length === plain.length);
        if (length >= MIN_LENGTH && hides()) end = Math.max(end, index + length);
        if (index < end) isHidden[index] = true;
      });
    }
  }
  const shown = starts.map((start, index) => (isHidden[index] ? MASK : text.slice(start, starts[index + 1])));
  return shown.filter((_, index) => !(isHidden[index - 1] && isHidden[index])).join('');
}

/**
 * Returns the secret, and its base64 as a part of a longer text: the text before and after the secret changes its first and
 * its last character.
 */
function formsOf(secret: string): readonly string[] {
  const coded = ['', '-', '--'].flatMap((before) => {
    const base64 = Buffer.from(before + secret)
      .toString('base64url')
      .slice(Math.ceil((4 * before.length) / 3));
    return [base64, base64.replaceAll('-', '+').replaceAll('_', '/')];
  });
  return [secret, ...coded, ...coded.map((form) => form.slice(0, -1))].map((form) => decode(form).plain);
}

/** Returns the length of the longest beginning of `form` at each index of `text`, by the Z algorithm. */
function beginnings(form: string, text: string): Uint32Array {
  const whole = `${form}\0${text}`;
  const lengths = new Uint32Array(whole.length);
  // Of the parts of `whole` that equal its beginning, the one that ends last: inside it, the lengths are known.
  let [from, to] = [0, 0];
  for (let index = 1; index < whole.length; index += 1) {
    let length = index < to ? Math.min(to - index, lengths[index - from] ?? 0) : 0;
    while (length < form.length && whole.charCodeAt(length) === whole.charCodeAt(index + length)) length += 1;
    lengths[index] = length;
    if (index + length > to) [from, to] = [index, index + length];
  }
  return lengths.subarray(form.length + 1);
}

/** How many nested encodings are undone: JSON in HTML in a URL in JSON has four. */
const MAX_ENCODINGS = 4;
/** What JSON, URLs and HTML write for one character, and escaped backslashes. */
const ENCODED =
  /((?<!\\)\\+u[\da-f]{4}|(?:\\\\)+|\\["/bfnrt]?|%[\da-f]{2}|&#x[\da-f]{1,6};|&#\d{1,7};|&(?:amp|lt|gt|quot|apos);)/i;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Returns the decoded text in a form for comparison, without backslashes, and where in `text` each character starts. */
function decode(text: string): { readonly plain: string; readonly starts: readonly number[] } {
  let plain = text;
  let starts = Array.from({ length: text.length }, (_, index) => index);
  for (let encodings = 0; encodings < MAX_ENCODINGS && ENCODED.test(plain); encodings += 1) {
    const outer = starts;
    let from = 0;
    starts = [];
    // Because the expression has a group, every second part is encoded.
    const parts = plain.split(ENCODED).map((part, index) => {
      const characters = index % 2 === 0 ? part : decoded(part);
      for (let each = from; each < from + characters.length; each += 1) starts.push(outer[each] ?? 0);
      from += part.length;
      return characters;
    });
    plain = parts.join('');
  }
  // What is left out belongs to the character before it, or to the first one.
  starts[0] = 0;
  return { plain: plain.replaceAll(/[A-Z+]/g, (one) => (one === '+' ? ' ' : one.toLowerCase())), starts };
}

function decoded(written: string): string {
  const [, hex, decimal, entity = ''] = /^(?:\\+u|%|&#x)([\da-f]+)|^&#(\d+)|^&(\w+)/i.exec(written) ?? [];
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
  if (decimal !== undefined) return String.fromCharCode(Number(decimal));
  return ENTITIES[entity.toLowerCase()] ?? written.replaceAll('\\', '');
}

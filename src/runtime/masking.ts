/**
 * Creates a function that hides secrets in a line that the program writes. The line is decoded first, so that it is searched
 * for one form of each secret only; then one pass for each secret finds all its occurrences. The time for a secret is
 * linear in the length of the line.
 */
export function createMasker(secrets: () => readonly string[]): (line: string) => string {
  // At the end of a line, the remaining characters of a secret may have been cut off.
  return (line) => hide(line, secrets(), (_, isAtEnd) => isAtEnd);
}

/**
 * Hides secrets in a text of a service, which may echo the request. It hides the strings in `sent`, in any letter case, as
 * they were sent and as encoded in URLs, forms, JSON, HTML and base64. It hides the beginnings of those strings that may be
 * keys, because services show beginnings to distinguish keys. It hides every other string that is long enough for a key, a
 * token or a UUID, unless the string consists of words. Strings of up to three characters stay, because they occur in words.
 */
export function maskSecrets(text: string, sent: unknown): string {
  // `Authorization` is a scheme and a token, and a service may echo the token alone.
  const parts = stringsIn(sent).flatMap((value) => [value, ...value.split(' ')]);
  const shown = hide(text, parts, (part) => !part.includes(' ') && !NAME.test(part));
  return shown.replaceAll(LONG_ENOUGH_FOR_A_KEY, (run) => (WORDS.test(run) ? run : MASK));
}

const MASK = '[…]';
/** A string of at least this length may be a secret, and a beginning of a key of at least this length is hidden. */
const MIN_LENGTH = 4;
/** Names such as `Bearer` and `client_credentials` are hidden only as a whole, because other words begin like them. */
const NAME = /^[A-Z]?[a-z]+(?:[-_/.][a-z]+)*$/;
const LONG_ENOUGH_FOR_A_KEY = /[\w+/=.~%-]{16,}/g;
/** Matches words as in `can_view_dashboard`, `CanViewDashboard` and `nas1.example.com`: with at most three digits, each at the end of a word. */
const WORDS =
  /^(?!(?:\D*\d){4})[^A-Za-z\d]*(?:(?:[A-Z]?[a-z]{1,15}(?:[A-Z][a-z]{2,14})*|[A-Z]{1,15}|(?=\d))\d*(?:[^A-Za-z\d]+|$))+$/;

function stringsIn(sent: unknown): readonly string[] {
  if (typeof sent === 'string') return [sent];
  return typeof sent === 'object' && sent !== null ? Object.values(sent).flatMap(stringsIn) : [];
}

/** `hidesBeginning` decides whether a beginning of the secret is hidden too, at the end of the text or elsewhere. */
function hide(
  text: string,
  secrets: readonly string[],
  hidesBeginning: (secret: string, isAtEnd: boolean) => boolean,
): string {
  if (text.length < MIN_LENGTH) return text;
  const { plain, starts } = decode(text);
  const isHidden = new Uint8Array(text.length);
  for (const secret of new Set(secrets)) {
    for (const form of secret.length < MIN_LENGTH ? [] : formsOf(secret)) {
      if (form.length < MIN_LENGTH || !plain.includes(form.slice(0, MIN_LENGTH))) continue;
      const lengths = beginnings(form, plain);
      let hiddenTo = 0;
      for (let index = 0; index < plain.length; index += 1) {
        const length = lengths[index] ?? 0;
        const end = index + length;
        if (length < MIN_LENGTH || (length < form.length && !hidesBeginning(secret, end === plain.length))) continue;
        isHidden.fill(1, Math.max(starts[index] ?? 0, hiddenTo), starts[end]);
        hiddenTo = Math.max(hiddenTo, starts[end] ?? 0);
      }
    }
  }
  return text.replaceAll(/./gs, (character, index: number) => {
    if (isHidden[index] === 0) return character;
    return isHidden[index - 1] === 1 ? '' : MASK;
  });
}

/** Returns the secret as it is and in base64, without what depends on the text before and behind it, or on the padding. */
function formsOf(secret: string): readonly string[] {
  const forms = ['', '-', '--'].flatMap((before) => {
    const bytes = Buffer.from(before + secret);
    const from = Math.ceil((4 * before.length) / 3);
    const coded = [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
    return coded.flatMap((form) => [form.slice(from), form.slice(from, (4 * bytes.length) / 3)]);
  });
  return [...new Set([secret, ...forms])].map((form) => decode(form).plain);
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

/** So many nested encodings are decoded: JSON in HTML in a URL in JSON has four. */
const ENCODINGS = 4;
const ENCODED =
  /\\+u([\da-f]{4})|%([\da-f]{2})|&#x0*([\da-f]{1,4});|&#0*(\d{1,5});|&(amp|lt|gt|quot|apos);|(?:\\\\)+|\\(["/bfnrt])?/gi;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Returns the text with all encodings decoded, without backslashes and in lower case, and where in `text` each of its
 * characters starts. Characters that are left out belong to the character before them. Secrets are ASCII, so each decoded
 * byte is a character.
 */
function decode(text: string): { readonly plain: string; readonly starts: readonly number[] } {
  let plain = text;
  let starts = Array.from({ length: text.length + 1 }, (_, index) => index);
  for (let encoding = 0; encoding < ENCODINGS; encoding += 1) {
    const [source, sourceStarts] = [plain, starts];
    let kept = 0;
    starts = [];
    plain = source.replaceAll(ENCODED, (coded, unit, byte, hex, decimal, entity, escaped, index: number) => {
      for (; kept < index; kept += 1) starts.push(sourceStarts[kept] ?? 0);
      kept += coded.length;
      const digits = unit ?? byte ?? hex;
      const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16);
      const character = code > 0 ? String.fromCharCode(code) : (ENTITIES[entity?.toLowerCase()] ?? escaped ?? '');
      if (character !== '') starts.push(sourceStarts[index] ?? 0);
      return character;
    });
    starts = starts.concat(sourceStarts.slice(kept));
    if (kept === 0) break;
  }
  return { plain: plain.replaceAll(/[A-Z+]/g, (letter) => (letter === '+' ? ' ' : letter.toLowerCase())), starts };
}

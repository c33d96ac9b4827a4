/**
 * Hides secrets in texts from outside and in the lines that the program writes, in every form in which they are sent or
 * may be repeated. `secrets`: all that are known now, with those that a rotation has replaced.
 */
export function lineMasker(secrets: () => readonly string[]): (line: string) => string {
  let known = '';
  let forms: readonly Form[] = [];
  return (line) => {
    const texts = secrets().filter(({ length }) => length > SHORTEST);
    const now = JSON.stringify(texts);
    if (now !== known) forms = formsOf(texts);
    known = now;
    return without(line, forms);
  };
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
  return without(without(text, formsOf(texts)), formsOf(keys), BEGINNING).replaceAll(LOOKS_LIKE_A_KEY, MASK);
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

/** A text to hide, character by character. */
interface Form {
  /** Finds where it may begin. */
  readonly start: RegExp;
  readonly characters: readonly RegExp[];
}

/**
 * As they are and in base64, without the padding, which may be missing and reveals nothing. The longest first: after a
 * shorter one is removed, the rest of a longer one would not be recognized.
 */
function formsOf(texts: readonly string[]): readonly Form[] {
  const forms = texts.flatMap((text) => {
    const bytes = Buffer.from(text);
    return [text, bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
  });
  const longestFirst = [...new Set(forms)].toSorted((one, other) => other.length - one.length);
  // `&amp;` may be a secret's own text, or one character of it.
  return longestFirst.flatMap((form) => {
    const pieces = form.match(/\\+|[^\\]/gu) ?? [];
    return [false, true].map((isCoded) => {
      const characters = pieces.map((piece) => inAnyForm(piece, isCoded));
      const beginning = characters.slice(0, BEGINNING).map(({ source }) => source);
      return { start: new RegExp(`(?=${beginning.join('')})`, 'gi'), characters };
    });
  });
}

const inAnyForms = new Map<string, RegExp>();

/**
 * Finds a character, or some backslashes, in any case: as it is, or encoded as in URLs, forms, quoted headers, JSON and
 * HTML, or in two of these. `isCoded`: encoded rather than as it is, where it could be either.
 */
function inAnyForm(text: string, isCoded: boolean): RegExp {
  const known = inAnyForms.get(`${isCoded}${text}`);
  if (known !== undefined) return known;
  const [character = ''] = text;
  const code = character.codePointAt(0) ?? 0;
  const bytes = [...Buffer.from(character)].map((byte) => `%${inHex(byte, 2)}`).join('');
  const units = character.split('').map((unit) => `${BACKSLASHES}u${inHex(unit.charCodeAt(0), 4)}`);
  const entity = `&(?:#0*${code}|#x0*${inHex(code, 1)}${ENTITIES[character] ?? ''});`;
  const plain = /\w/.test(character) ? character : `\\${character}`;
  const coded = [bytes, units.join(''), entity, ...(character === ' ' ? ['\\+'] : [])];
  const any = `(?:${(isCoded ? [...coded, plain] : [plain, ...coded]).join('|')})`;
  const source = character === '\\' ? `${any}{${text.length},${8 * text.length}}` : any;
  const pattern = new RegExp(/[\w \\]/.test(character) ? source : `(?:${BACKSLASHES})?${source}`, 'iy');
  inAnyForms.set(`${isCoded}${text}`, pattern);
  return pattern;
}

/** JSON in JSON in JSON has seven before a quotation mark. */
const BACKSLASHES = '\\\\{1,7}';
const ENTITIES: Readonly<Record<string, string>> = { '&': '|amp', '<': '|lt', '>': '|gt', '"': '|quot', "'": '|apos' };

function inHex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** Removes as many characters of each form as are there, where these are all or at least `least`. */
function without(text: string, forms: readonly Form[], least = Number.POSITIVE_INFINITY): string {
  return forms.reduce((shown, form) => withoutOne(shown, form, Math.min(least, form.characters.length)), text);
}

function withoutOne(text: string, { start, characters }: Form, least: number): string {
  let shown = '';
  let end = 0;
  for (const { index } of text.matchAll(start)) {
    if (index < end) continue;
    let [found, to] = [0, index];
    for (const character of characters) {
      character.lastIndex = to;
      if (!character.test(text)) break;
      to = character.lastIndex;
      found += 1;
    }
    if (found < least) continue;
    shown += text.slice(end, index) + MASK;
    end = to;
  }
  return shown + text.slice(end);
}

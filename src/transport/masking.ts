/**
 * A text of a service, which may echo what it was sent, without it: left out are the texts in `sent` themselves, as they
 * were and in the forms that they have in URLs, forms, JSON and base64, and whatever is long enough for a key, a token or
 * a uuid. Texts of up to three characters stay: they are no secrets, and occur in words.
 */
export function masked(text: string, sent: unknown): string {
  // An `Authorization` may be a scheme and a token, and the token alone may be echoed.
  const parts = textsIn(sent).flatMap((whole) => [whole, ...whole.split(' ')]);
  const forms = new Set(parts.filter(({ length }) => length > SHORTEST).flatMap(formsOf));
  // The longest first: what is left of one when a shorter one has gone would not be known again.
  const longestFirst = [...forms].toSorted((one, other) => other.length - one.length);
  return longestFirst.reduce((shown, form) => shown.replaceAll(form, MASK), text).replaceAll(LOOKS_LIKE_A_KEY, MASK);
}

const MASK = '[…]';
const SHORTEST = 3;
const LOOKS_LIKE_A_KEY = /[\w+/=.~%-]{16,}/g;

function textsIn(sent: unknown): readonly string[] {
  if (typeof sent === 'string') return [sent];
  return typeof sent === 'object' && sent !== null ? Object.values(sent).flatMap(textsIn) : [];
}

function formsOf(text: string): readonly string[] {
  const inUrls = [encodeURIComponent(text.toWellFormed()), String(new URLSearchParams([['', text]])).slice(1)];
  const inJson = JSON.stringify(text).slice(1, -1);
  return [
    text,
    ...inUrls,
    ...inUrls.map((form) => form.replaceAll(/%[\dA-F]{2}/g, (code) => code.toLowerCase())),
    ...[inJson, inJson.replaceAll('/', '\\/')],
    // Without its filling, which may be left out, and says nothing where it stays behind.
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
    Buffer.from(text).toString('base64url'),
  ];
}

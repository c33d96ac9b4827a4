import { createHash } from 'node:crypto';

/** Longer label values are cut: titles are free text without a limit upstream. */
export const MAX_LABEL = 1024;

/**
 * A text of a service as it is kept in memory: a longer one is cut, with a hash behind it that tells it apart from others.
 * It is a copy, because a part of a string keeps the whole one in memory.
 */
export function boundedText(text: string): string {
  if (text.length <= MAX_LABEL) return text;
  return Buffer.from(`${text.slice(0, MAX_LABEL)}…${hashOf(text).slice(0, 16)}`).toString();
}

const MAX_ID = 128;

/** A key that is only compared, as it is kept in memory: a longer one is replaced by its hash. */
export function boundedId(id: string): string {
  return id.length <= MAX_ID ? id : hashOf(id);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

const NEEDS_CARE = /[\0\ud800-\udfff]/;

/**
 * A label value as it is exposed and sent: at most 1,024 characters in valid UTF-8. Half a surrogate pair becomes U+FFFD,
 * as does NUL, at which Prometheus' text parser stops. `onCut` is called if the value was too long.
 */
export function shortenLabel(value: string, onCut?: () => void): string {
  let text = value;
  if (text.length > MAX_LABEL) {
    // A character has at most two UTF-16 units; one unit more shows whether the text is longer.
    const characters = Array.from(text.slice(0, 2 * MAX_LABEL + 1));
    if (characters.length > MAX_LABEL) {
      text = characters.slice(0, MAX_LABEL).join('');
      onCut?.();
    }
  }
  return NEEDS_CARE.test(text) ? text.toWellFormed().replaceAll('\0', '\ufffd') : text;
}

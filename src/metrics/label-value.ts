import { createHash } from 'node:crypto';

/** Longer label values are cut, because services do not limit titles. */
export const MAX_LABEL = 1024;

/**
 * Returns a text as it is kept in memory. A longer text is cut, and a hash at its end distinguishes it from others. The
 * result is a copy, because a part of a string keeps the whole string in memory.
 */
export function boundedText(text: string): string {
  if (text.length <= MAX_LABEL) return text;
  return Buffer.from(`${text.slice(0, MAX_LABEL)}…${hashOf(text).slice(0, 16)}`).toString();
}

const MAX_ID = 128;

/** Returns an id as it is kept in memory. A longer id is replaced by its hash, because ids are only compared. */
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

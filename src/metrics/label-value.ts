/** Longer label values are cut: titles are free text without a limit upstream. */
export const MAX_LABEL = 1024;

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

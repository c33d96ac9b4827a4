/**
 * Escapes every character that is invisible or changes how others are shown: control characters, which control a
 * terminal, characters that change the direction of a line, and lone surrogates.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

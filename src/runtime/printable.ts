/**
 * A text with every character escaped that shows as none or changes how others show: control characters, which a terminal
 * obeys, those that turn the direction of a line, halves of a character.
 */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The same of a text of several lines, which stay lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

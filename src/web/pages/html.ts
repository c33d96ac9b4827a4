/** A piece of HTML. Only {@link html} makes it, from such pieces and from escaped texts. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The parts of a template: pieces unchanged, texts and numbers escaped, nothing for undefined. */
export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

/** HTML from a template: every part is escaped, unless it is HTML already. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlValue[]): Html {
  let text = strings[0] ?? '';
  parts.forEach((part, index) => {
    text += textOf(part) + (strings[index + 1] ?? '');
  });
  return new Html(text);
}

function textOf(part: HtmlValue): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'number') return String(part);
  return typeof part === 'string' ? escaped(part) : part.map(textOf).join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

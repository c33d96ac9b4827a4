/** A piece of HTML; {@link html} makes it, and only of such pieces and of texts that it escapes. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What may stand in a template: pieces as they are, texts and numbers escaped, nothing for undefined. */
export type Part = Html | string | number | undefined | readonly Part[];

/** HTML of a template: whatever is put into it is escaped, unless it is HTML already. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? '';
  parts.forEach((part, index) => {
    text += textOf(part) + (strings[index + 1] ?? '');
  });
  return new Html(text);
}

function textOf(part: Part): string {
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

/** Line breaks too: the script of the status page takes each row of the table for one line. */
function escaped(text: string): string {
  return /[&<>"'\r\n]/.test(text)
    ? text.replaceAll(/[&<>"']|[\r\n]+/g, (character) => ESCAPES[character] ?? ' ')
    : text;
}

import { type Html, html } from './html.ts';

/** A notice at the top of every page; code is in backticks. */
export interface PageNotice {
  readonly title: string;
  readonly paragraphs: readonly string[];
}

export function noticeHtml({ title, paragraphs }: PageNotice): Html {
  const [first = '', ...others] = paragraphs;
  return html`<aside class="card notice"><p><strong>${title}</strong> ${withCode(first)}</p>
${others.map((text) => html`<p>${withCode(text)}</p>\n`)}</aside>
`;
}

function withCode(text: string): readonly (Html | string)[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`));
}

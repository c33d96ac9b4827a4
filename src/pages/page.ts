import { createHash } from 'node:crypto';
import { Page } from '../web/responses.ts';
import { Html, html } from './html.ts';
import { STYLE } from './style.ts';

interface PageContent {
  readonly title: string;
  readonly version: string;
  /** Additional elements of the head: a refresh for browsers without scripts. */
  readonly head?: Html;
  /** The text of a script that runs after the page is loaded; such a page may also send its forms to the exporter. */
  readonly script?: string;
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' " +
  "fill='%230969da'/%3E%3Cpath d='M3 11l3-4 3 2 4-5' fill='none' stroke='white' stroke-width='2'/%3E%3C/svg%3E";

/** A page around its content. It loads nothing, and allows only its own script and style: the policy has their hashes. */
export function pageDocument({ title, version, head, script }: PageContent, content: Html): Page {
  const begin = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="icon" href="${new Html(ICON)}">
${head}
<title>${title} · filer-exporter</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><a class="brand" href="./">filer-exporter</a> <span class="version">${version}</span></header>
<main id="main" tabindex="-1">
`;
  const end = html`</main>
${script === undefined ? undefined : html`<script type="module">${new Html(script)}</script>\n`}</body>
</html>
`;
  const own =
    script === undefined
      ? `; form-action 'none'`
      : `; script-src ${hashOf(script)}; connect-src 'self'; form-action 'self'`;
  return new Page(
    {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        `default-src 'none'; style-src ${hashOf(STYLE)}; img-src data:${own}; ` +
        "base-uri 'none'; frame-ancestors 'none'",
    },
    `${begin}${content}${end}`,
  );
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

import { createHash } from 'node:crypto';
import { Page } from '../responses.ts';
import { Html, html } from './html.ts';
import { STYLE } from './style.ts';

interface PageContent {
  readonly title: string;
  readonly version: string;
  /** The browser loads the page again after this many seconds; undefined for never. */
  readonly reloadSeconds?: number | undefined;
  readonly content: Html;
}

/** The page loads nothing, runs nothing, and may only be sent back to the exporter; its style is allowed by its hash. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' " +
  "fill='%230969da'/%3E%3Cpath d='M3 11l3-4 3 2 4-5' fill='none' stroke='white' stroke-width='2'/%3E%3C/svg%3E";

/** A page around its content. */
export function htmlPage({ title, version, reloadSeconds, content }: PageContent): Page {
  const reload = reloadSeconds && html`<meta http-equiv="refresh" content="${reloadSeconds}">\n`;
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${reload}<link rel="icon" href="${new Html(ICON)}">
<title>${title} · filer-exporter</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header><a href="./">filer-exporter</a> <span class="muted">${version}</span></header>
<main>
${content}</main>
</body>
</html>
`;
  return new Page({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY }, text);
}

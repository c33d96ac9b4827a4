import { createHash } from 'node:crypto';
import type { Page } from '../responses.ts';
import { Html, type HtmlValue, html } from './html.ts';
import { STYLE } from './style.ts';

/** The paragraphs of a notice at the top of every page; code is in backticks. */
export type PageNotice = readonly string[];

interface PageContent {
  readonly title: string;
  readonly version: string;
  readonly notice: PageNotice | undefined;
  /** The browser loads the page again after this many seconds; undefined for never. */
  readonly reloadSeconds?: number | undefined;
  readonly content: Html;
}

/** The page loads nothing, runs nothing, and may only be sent back to the exporter; its style is allowed by its hash. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A page around its content. */
export function htmlPage({ title, version, notice, reloadSeconds, content }: PageContent): Page {
  const reload = reloadSeconds && html`<meta http-equiv="refresh" content="${reloadSeconds}">\n`;
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${reload}<title>${title} · filer-exporter</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header><a href="./">filer-exporter</a> <span class="muted">${version}</span></header>
<main>
${notice && noticeHtml(notice)}${content}</main>
</body>
</html>
`;
  return { headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY }, text };
}

function noticeHtml(paragraphs: PageNotice): Html {
  return html`<aside class="card notice">
${paragraphs.map((text) => html`<p>${withCode(text)}</p>\n`)}</aside>
`;
}

function withCode(text: string): HtmlValue {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`));
}

/** The first page, like that of the Prometheus exporter toolkit: what this is, with links to the other pages. */
export function landingPage(version: string, metricsPath: string, notice?: PageNotice): Page {
  const links = [
    ['/status', 'Status', 'each service and each appliance, for people'],
    [metricsPath, 'Metrics', 'the exposition, for Prometheus'],
    ['/api/v1/status', 'Status as JSON', 'the same as the status page, for scripts'],
    ['/healthz', 'Health', '200 while the process responds'],
    ['/readyz', 'Readiness', '200 after the first poll of each service'],
  ] as const;
  const list = links.map(
    // Relative, so that the links work behind a proxy that serves the pages under another path.
    ([path, name, what]) => html`<li><a href=".${path}">${name}</a> <span class="muted">${what}</span></li>\n`,
  );
  const content = html`<h1>filer-exporter</h1>
<p>Prometheus exporter for the cloud services of a global file system.</p>
<ul class="card">
${list}</ul>
<p class="muted">The documents are in the folder <code>docs</code> of the source and of each package.</p>
`;
  return htmlPage({ title: 'Start', version, notice, content });
}

import type { Page } from '../responses.ts';
import { type Html, html } from './html.ts';
import { htmlPage } from './page.ts';

/** The first page, like that of the Prometheus exporter toolkit: what this is, with links to the other pages. */
export function landingPage(version: string, metricsPath: string, notice?: Html): Page {
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
${notice}<ul class="card">
${list}</ul>
<p class="muted">The documents are in the folder <code>docs</code> of the source and of each package.</p>
`;
  return htmlPage({ title: 'Start', version, content });
}

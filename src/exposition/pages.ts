/** One API, for people. */
export interface ApiStatus {
  readonly name: string;
  readonly up: boolean;
  /** What is known, label and text, in the order shown. */
  readonly facts: readonly (readonly [label: string, text: string])[];
}

/** One appliance, for people. */
export interface ApplianceRow {
  readonly name: string;
  readonly serial: string;
  /** Undefined before its first poll. */
  readonly up: boolean | undefined;
  readonly lastPoll: string;
  readonly lastSuccess: string;
  readonly lastError: string;
}

/** All that the status page shows. */
export interface StatusReport {
  readonly version: string;
  readonly apis: readonly ApiStatus[];
  readonly appliances: readonly ApplianceRow[];
}

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { color: GrayText; } dd { margin: 0; }
section { margin-bottom: 2rem; }
.up { color: #1a7f37; } .down { color: #cf222e; } .unknown { color: GrayText; }
code { font-size: .9em; }
`;

/** The page that says how each API and each appliance is doing. It works without scripts and loads nothing. */
export function statusPage({ version, apis, appliances }: StatusReport): string {
  const sections = apis.map(
    ({ name, up, facts }) =>
      `<section><h2>${escapeHtml(name)} ${badge(up)}</h2><dl>${facts
        .map(([label, text]) => `<dt>${escapeHtml(label)}</dt><dd>${escapeHtml(text)}</dd>`)
        .join('')}</dl></section>`,
  );
  const rows = appliances.map(
    (row) =>
      `<tr><td>${escapeHtml(row.name)}</td><td><code>${escapeHtml(row.serial)}</code></td><td>${badge(row.up)}</td>` +
      `<td>${escapeHtml(row.lastPoll)}</td><td>${escapeHtml(row.lastSuccess)}</td><td>${escapeHtml(row.lastError)}</td></tr>`,
  );
  const table =
    rows.length === 0
      ? ''
      : `<section><h2>Appliances (${rows.length})</h2><table><thead><tr><th scope="col">Appliance</th>` +
        '<th scope="col">Serial</th><th scope="col">State</th><th scope="col">Last poll</th>' +
        `<th scope="col">Last success</th><th scope="col">Last error</th></tr></thead><tbody>${rows.join('')}</tbody></table></section>`;
  return page('Status', version, `${sections.join('')}${table}`, '<meta http-equiv="refresh" content="15">');
}

/** The first page: what this is, and where everything else is. */
export function landingPage(version: string, metricsPath: string): string {
  const links = [
    [metricsPath, 'Metrics'],
    ['/status', 'Status'],
    ['/healthz', 'Health'],
    ['/readyz', 'Readiness'],
  ] as const;
  const list = links.map(([path, name]) => `<li><a href="${escapeHtml(path)}">${name}</a></li>`).join('');
  return page(
    'filer-exporter',
    version,
    `<p>Prometheus exporter for a global file system’s cloud services.</p><ul>${list}</ul>`,
  );
}

function page(title: string, version: string, body: string, head = ''): string {
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${head}` +
    `<title>${escapeHtml(title)} · filer-exporter</title><style>${STYLE}</style></head>` +
    `<body><header><h1>${escapeHtml(title)}</h1></header><main>${body}</main>` +
    `<footer><p><a href="/">filer-exporter</a> ${escapeHtml(version)}</p></footer></body></html>\n`
  );
}

function badge(up: boolean | undefined): string {
  if (up === undefined) return '<span class="unknown">not polled yet</span>';
  return up ? '<span class="up">up</span>' : '<span class="down">down</span>';
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

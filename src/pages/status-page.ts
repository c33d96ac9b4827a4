import type { CachedDocument } from '../http/cached-document.ts';
import type { StatusReport } from '../status/model.ts';
import { apiCard } from './api-card.ts';
import { applianceRow, tableEnd, tableHead } from './fleet-table.ts';
import { formatCount, formatSeconds, formatTimestamp } from './format.ts';
import { type Html, html } from './html.ts';
import { pageDocument } from './page.ts';

/** Browsers without scripts reload the page after this many seconds. */
const RELOAD_SECONDS = 30;

/** Rows in one buffer, written in one step. */
const ROWS_A_STEP = 100;

/** Yields where it may be interrupted. `script` keeps the page up to date in a browser; `notice` comes first on it. */
export function* statusPage(report: StatusReport, script: string, notice?: Html): Generator<void, CachedDocument> {
  const { appliances, time, version } = report;
  const content = [Buffer.from(`${notice ?? ''}${summary(report)}${tableHead(appliances.length)}`)];
  for (let index = 0; index < appliances.length; index += ROWS_A_STEP) {
    const rows = appliances.slice(index, index + ROWS_A_STEP).map((appliance) => `${applianceRow(appliance, time)}\n`);
    content.push(Buffer.from(rows.join('')));
    yield;
  }
  content.push(Buffer.from(tableEnd(appliances.length).text));
  const head = html`<noscript><meta http-equiv="refresh" content="${RELOAD_SECONDS}"></noscript>`;
  return pageDocument({ title: 'Status', version, head, script }, content);
}

function summary({ time, version, revision, shard, apis, appliances }: StatusReport) {
  const states = { up: 0, no_records: 0, down: 0, waiting: 0 };
  for (const { state } of appliances) states[state] += 1;
  const ages = appliances.flatMap(({ dataAgeSeconds }) => dataAgeSeconds ?? []);
  const oldest = ages.reduce((worst, age) => Math.max(worst, age), 0);
  const tiles: readonly (readonly [label: string, text: string, kind?: string])[] = [
    ['Appliances', formatCount(appliances.length)],
    ['Up', formatCount(states.up), 'up'],
    ['Without records', formatCount(states.no_records)],
    ['Down', formatCount(states.down), states.down > 0 ? 'down' : ''],
    ['Waiting', formatCount(states.waiting)],
    ['Oldest data', ages.length === 0 ? '–' : formatSeconds(oldest)],
  ];
  const tile = ([label, text, kind = '']: (typeof tiles)[number]) =>
    html`<div class="tile ${kind}"><dt>${label}</dt><dd>${text}</dd></div>\n`;
  const part =
    shard.total === 1 ? undefined : html` · shard ${shard.index} of ${shard.total}: only its appliances are listed`;
  return html`<div class="head"><h1>Status</h1>
<div class="controls" hidden><p id="updated" class="muted"></p> <button type="button" id="pause" aria-pressed="false">Pause updates</button></div></div>
<p class="muted" id="made" data-live data-build="${version} ${revision}">As of <time datetime="${time}">${formatTimestamp(time)}</time>${part}</p>
<p id="trouble" class="trouble" role="alert" hidden></p>
<p id="news" class="visually-hidden" role="status"></p>
<dl class="tiles" id="tiles" data-live>
${tiles.map(tile)}</dl>
<div class="cards">
${apis.map((api) => apiCard(api, time))}</div>
`;
}

import type { StatusReport } from '../status/model.ts';
import type { Page } from '../web/responses.ts';
import { apiCard } from './api-card.ts';
import { fleetTable, kindTiles } from './fleet-table.ts';
import { selectFleet, viewOf } from './fleet-view.ts';
import { formatTimestamp } from './format.ts';
import { type Html, html } from './html.ts';
import { pageDocument } from './page.ts';

/** Browsers without scripts reload the page after this many seconds. */
const RELOAD_SECONDS = 30;

interface PageOptions {
  /** Keeps the page up to date in a browser. */
  readonly script: string;
  /** A notice at the top of the page. */
  readonly notice?: Html | undefined;
  /** What the reader has chosen to see, as in the address. */
  readonly query?: string;
}

/** Yields where it may be interrupted. */
export function* statusPage(report: StatusReport, { script, notice, query = '' }: PageOptions): Generator<void, Page> {
  const { apis, appliances, time, version } = report;
  const view = viewOf(query);
  const selected = yield* selectFleet(appliances, view);
  const total = appliances.length;
  const content = html`${notice}${heading(report)}<div class="cards">
${apis.map((api) => apiCard(api, time))}</div>
${kindTiles(selected, total, view)}${fleetTable(selected, report, view)}`;
  const head = html`<noscript><meta http-equiv="refresh" content="${RELOAD_SECONDS}"></noscript>`;
  return pageDocument({ title: 'Status', version, head, script }, content);
}

function heading({ time, version, revision }: StatusReport): Html {
  return html`<div class="head"><h1>Status</h1>
<div class="controls" id="updates" hidden><p id="updated" class="muted"></p> <button type="button" id="pause" aria-pressed="false">Pause updates</button></div></div>
<p class="muted" id="made" data-live data-build="${version} ${revision}">As of <time datetime="${time}">${formatTimestamp(time)}</time></p>
<p id="failure" class="failure" role="alert" hidden></p>
<p id="news" class="visually-hidden" role="status"></p>
`;
}

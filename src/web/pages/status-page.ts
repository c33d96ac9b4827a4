import type { StatusReport } from '../../status/report.ts';
import type { Page } from '../responses.ts';
import { addressOf, COLUMNS, FILTER_LENGTH, KINDS, selectAppliances, type View } from './fleet.ts';
import { formatCount, formatTimestamp } from './format.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { htmlPage, type PageNotice } from './page.ts';
import { accountTable, serviceCard, table } from './service-card.ts';

/** The page is loaded again after this many seconds. */
const RELOAD_SECONDS = 10;

/** Rows on one page, so that a browser can load it every few seconds whatever the size of the fleet. */
const ROWS_A_PAGE = 80;

/** A report as JSON. */
export function statusJson(report: StatusReport): Page {
  return { headers: { 'content-type': 'application/json; charset=utf-8' }, text: `${JSON.stringify(report)}\n` };
}

/** A report for people. The query says what the reader has chosen to see. */
export function statusPage(report: StatusReport, query: string, notice?: PageNotice): Page {
  const { apis, time, version } = report;
  const view = new URLSearchParams(query);
  const isPaused = view.get('reload') === 'off';
  const reload = isPaused
    ? html`<a href="${addressOf(view, { reload: undefined })}">continue</a>`
    : html`loaded again every ${RELOAD_SECONDS} s: <a href="${addressOf(view, { reload: 'off' })}">pause</a>`;
  const content = html`<div class="head"><h1>Status</h1>
<p class="muted">As of <time datetime="${time}">${formatTimestamp(time)}</time>, ${reload}</p></div>
<div class="cards">
${apis.map((api) => serviceCard(api, time))}</div>
${tiles(report, view)}${fleet(report, view)}${apis.map((api) => accountTable(api, time))}`;
  const reloadSeconds = isPaused ? undefined : RELOAD_SECONDS;
  return htmlPage({ title: 'Status', version, notice, reloadSeconds, content });
}

/** Counts of appliances by kind. Each is a link that shows only these. */
function tiles({ appliances }: StatusReport, view: View): Html {
  const tile = (title: string, count: number, show?: string) => {
    const address = addressOf(view, { show, page: undefined });
    const isShown = (view.get('show') ?? undefined) === show ? html` aria-current="true"` : undefined;
    return html`<a class="tile ${count > 0 ? show : ''}" href="${address}"${isShown}>${title} <strong>${formatCount(count)}</strong></a>\n`;
  };
  const kinds = Array.from(KINDS, ([show, { title, has }]) => tile(title, appliances.filter(has).length, show));
  return html`<nav class="tiles" aria-label="Appliances by state">
${tile('All', appliances.length)}${kinds}</nav>
`;
}

function fleet(report: StatusReport, view: View): Html {
  const selected = selectAppliances(report.appliances, view);
  const pages = Math.max(1, Math.ceil(selected.length / ROWS_A_PAGE));
  const page = Math.min(Math.max(1, Math.floor(Number(view.get('page'))) || 1), pages);
  const shown = selected.slice((page - 1) * ROWS_A_PAGE, page * ROWS_A_PAGE);
  const rows = shown.map((appliance) => Array.from(COLUMNS.values(), ({ cell }) => cell(appliance, report.time)));
  return html`<section class="card">
<div class="head"><h2>Appliances <span class="muted">${formatCount(selected.length)} of ${formatCount(report.appliances.length)}</span></h2>
${filterForm(view)}</div>
${table(
  Array.from(COLUMNS, ([sort, { title }]) => sortLink(sort, title, view)),
  rows,
)}${pageLinks(page, pages, view)}</section>
`;
}

function filterForm(view: View): Html {
  const kept = [...view].filter(([name]) => name !== 'filter' && name !== 'page');
  const fields = kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`);
  return html`<form method="get" role="search">
${fields}<input type="search" name="filter" value="${view.get('filter') ?? ''}" maxlength="${FILTER_LENGTH}" aria-label="Filter" placeholder="name, serial, build, error">
<button>Filter</button></form>`;
}

/** Sorts by a column, and in the other direction if the table is sorted by it. */
function sortLink(sort: string, title: string, view: View): Html {
  const isSorted = (view.get('sort') ?? 'state') === sort;
  const isDescending = view.get('order') === 'descending';
  const order = isSorted && !isDescending ? 'descending' : undefined;
  const arrow = isSorted ? (isDescending ? ' ↓' : ' ↑') : '';
  return html`<a href="${addressOf(view, { sort, order, page: undefined })}">${title}${arrow}</a>`;
}

function pageLinks(page: number, pages: number, view: View): HtmlValue {
  if (pages === 1) return undefined;
  const link = (to: number, text: string) =>
    to < 1 || to > pages ? undefined : html` <a href="${addressOf(view, { page: String(to) })}">${text}</a>`;
  return html`<p>Page ${page} of ${pages}${link(page - 1, 'Previous')}${link(page + 1, 'Next')}</p>\n`;
}

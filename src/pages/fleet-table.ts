import type { SuspensionReason } from '../polling/task-state.ts';
import { getOrCreate } from '../runtime/maps.ts';
import type { ApplianceReport, StatusReport } from '../status/model.ts';
import { advised } from './api-card.ts';
import {
  addressOf,
  COLUMNS,
  type Column,
  DEFAULT_VIEW,
  type FleetView,
  KINDS,
  type Kind,
  queryFields,
  rejectedSeries,
  type SelectedFleet,
} from './fleet-view.ts';
import { badge, EMPTY_VALUE, formatCount, formatRelativeTime, formatSuspended, SUSPENSION_LABELS } from './format.ts';
import { type Html, type HtmlValue, html } from './html.ts';

/** The number of rows on one page, with which the page stays below 3,000 elements whatever is wrong. */
const ROWS_A_PAGE = 80;

/** Returns the tiles that count appliances by state. Each is a link that shows only these. */
export function kindTiles({ counts }: SelectedFleet, total: number, view: FleetView): Html {
  const tile = (label: string, count: number, show: Kind | undefined) =>
    html`<a class="tile ${count > 0 ? show : ''}" href="${addressOf({ ...view, show, page: 1 })}" ${view.show === show ? html`aria-current="true"` : ''}><span>${label}</span> <strong>${formatCount(count)}</strong></a>\n`;
  const kinds = Object.entries(KINDS) as readonly [Kind, (typeof KINDS)[Kind]][];
  return html`<nav class="tiles" id="tiles" data-live aria-label="Appliances by state">
${tile('All', total, undefined)}${kinds.map(([kind, { label }]) => tile(label, counts[kind], kind))}</nav>
`;
}

/**
 * The fleet as a view shows it. The ARIA roles repeat those of a table: browsers drop them where a narrow page lays rows
 * out as a grid.
 */
export function fleetTable({ appliances }: SelectedFleet, report: StatusReport, view: FleetView): Html {
  const {
    appliances: { length: total },
    time: now,
  } = report;
  const pages = Math.max(1, Math.ceil(appliances.length / ROWS_A_PAGE));
  const page = Math.min(view.page, pages);
  const rows = appliances.slice((page - 1) * ROWS_A_PAGE, page * ROWS_A_PAGE);
  const shownAdvice = new Set(report.apis.flatMap((api) => [...advised(api)]));
  const fields = Object.entries(queryFields({ ...view, filter: '', page: 1 }));
  return html`<section aria-labelledby="fleet">
<div class="head"><h2 id="fleet">Appliances</h2>
<form class="controls" id="filter" method="get" role="search" aria-label="Filter appliances">
<span id="chosen" hidden data-live>${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}</span>
<label for="words">Filter</label> <input type="search" id="words" name="filter" value="${view.filter}" maxlength="100" autocomplete="off" spellcheck="false" placeholder="name, serial, build, error"> <button type="submit">Apply</button>
<output id="shown" class="muted">${formatCount(appliances.length)} of ${formatCount(total)}</output>
</form></div>
<table class="fleet" role="table" aria-labelledby="fleet" aria-describedby="fleet-about">
<caption class="visually-hidden" id="fleet-about">The appliances that this instance polls, with the time of the last poll and of the newest record, the series and the last error.</caption>
<thead role="rowgroup"><tr role="row" id="columns" data-live>${columnHeaders(view)}</tr></thead>
<tbody role="rowgroup" id="rows">
${rows.map((appliance) => html`${applianceRow(appliance, now, shownAdvice)}\n`)}</tbody></table>
${emptyNotice(rows.length, report, view)}${pageLinks(page, pages, view)}</section>
`;
}

function columnHeaders(view: FleetView): readonly Html[] {
  return (Object.entries(COLUMNS) as readonly [Column, string][]).map(([sort, name]) => {
    const isSorted = view.sort === sort;
    const order = isSorted ? html`aria-sort="${view.isDescending ? 'descending' : 'ascending'}"` : '';
    const address = addressOf({ ...view, sort, isDescending: isSorted && !view.isDescending, page: 1 });
    return html`<th role="columnheader" scope="col" ${order}><a href="${address}">${name}</a></th>`;
  });
}

/** Says why there is no row; an empty element while there are rows. */
function emptyNotice(
  rows: number,
  { apis, appliances: { length: total } }: StatusReport,
  { show, filter }: FleetView,
): Html {
  const isPolled = apis.some(({ api }) => api === 'portal');
  const none = isPolled ? 'No appliances yet.' : 'No portal is configured, so no appliance is polled.';
  const about = [
    show === undefined ? undefined : KINDS[show].phrase,
    filter === '' ? undefined : `contains “${filter}”`,
  ];
  const text = total === 0 ? none : `No appliance ${about.filter(Boolean).join(' and ')}.`;
  const all = total === 0 ? undefined : html` <a href="${addressOf(DEFAULT_VIEW)}">Show all ${formatCount(total)}</a>`;
  return html`<p id="empty" class="muted" data-live>${rows === 0 ? html`${text}${all}` : ''}</p>\n`;
}

/** Links to the other pages of the fleet; an empty element if there is only one. */
function pageLinks(page: number, pages: number, view: FleetView): Html {
  const link = (to: number, text: string) =>
    to < 1 || to > pages ? undefined : html` <a href="${addressOf({ ...view, page: to })}">${text}</a>`;
  const links = html`Page ${page} of ${pages}${link(page - 1, 'Previous')}${link(page + 1, 'Next')}`;
  return html`<nav id="pages" class="pages" data-live aria-label="Pages of appliances">${pages === 1 ? '' : links}</nav>\n`;
}

/** Returns one row. `now` is the time of the report; `shownAdvice` is what the cards advise already, which is not repeated. */
function applianceRow(appliance: ApplianceReport, now: string, shownAdvice: ReadonlySet<string | undefined>): Html {
  const { name, serial, state, build, availableBuild, lastPoll, lastRecord, lastError } = appliance;
  const update = availableBuild === null ? undefined : html` <span class="muted">→ ${availableBuild}</span>`;
  const record = lastRecord === null ? EMPTY_VALUE : formatRelativeTime(lastRecord, now);
  return html`<tr role="row" id="a-${serial}"><th role="rowheader" scope="row">${name}</th><td role="cell">${badge(state)}</td><td role="cell"><code>${serial}</code></td><td role="cell">${build ?? EMPTY_VALUE}${update}</td><td role="cell">${formatRelativeTime(lastPoll, now)}</td><td role="cell">${record}</td><td role="cell">${seriesCell(appliance)}</td><td role="cell">${lastError === null ? EMPTY_VALUE : errorCell(appliance, lastError, now, shownAdvice)}</td></tr>`;
}

/** A healthy appliance names the series without records only when opened, because every appliance lacks some. */
function seriesCell(appliance: ApplianceReport): HtmlValue {
  const { series, suspended, state } = appliance;
  if (suspended.length === 0) return formatCount(series);
  const byReason = new Map<SuspensionReason, string[]>();
  for (const { operation, reason } of suspended) getOrCreate(byReason, reason, () => []).push(operation);
  const reasons = [...byReason].map(
    ([reason, operations]) => html`<dt>${SUSPENSION_LABELS[reason].long}</dt><dd>${operations.join(', ')}</dd>`,
  );
  const named = state === 'up' ? rejectedSeries(appliance) : suspended;
  const text = named.length === 0 ? '' : `, ${formatSuspended(named.map(({ reason }) => ({ reason, tasks: 1 })))}`;
  return html`<details><summary>${formatCount(series)}${text}</summary><dl>${reasons}</dl></details>`;
}

function errorCell(
  appliance: ApplianceReport,
  error: NonNullable<ApplianceReport['lastError']>,
  now: string,
  shownAdvice: ReadonlySet<string | undefined>,
): HtmlValue {
  const { serial, failing } = appliance;
  const { operation, message, time, advice } = error;
  const others = failing > 1 ? html` <span class="muted">· ${failing} series failing</span>` : undefined;
  // The row already names the appliance, so only the series of the request is shown.
  const request = /^[A-Z]+ \S+ /.exec(message)?.[0] ?? '';
  const text = request.includes(serial) ? html`<code>${operation}</code> ${message.slice(request.length)}` : message;
  const step = shownAdvice.has(advice) ? '' : `; ${advice}`;
  return html`<span class="error">${text}${step}</span> <span class="muted">${formatRelativeTime(time, now)}</span>${others}`;
}

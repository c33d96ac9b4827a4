import type { SuspensionReason } from '../polling/task-facts.ts';
import { getOrCreate } from '../runtime/maps.ts';
import type { ApplianceReport } from '../status/model.ts';
import { badge, EMPTY_VALUE, formatCount, formatRelativeTime, formatSeconds, SUSPENSION_LABELS } from './format.ts';
import { type Html, type HtmlValue, html } from './html.ts';

/** The columns; `sort` is how the browser compares their values. */
const COLUMNS = [
  { name: 'Appliance', sort: 'text' },
  { name: 'State', sort: 'number' },
  { name: 'Serial', sort: 'text' },
  { name: 'Build', sort: 'text' },
  { name: 'Last poll', sort: 'number' },
  { name: 'Data age', sort: 'number' },
  { name: 'Backed off', sort: 'number' },
  { name: 'Last error', sort: 'text' },
] as const;

/** Down first, for sorting by state. */
const STATE_ORDER = { down: 0, no_records: 1, waiting: 2, up: 3 } as const;

/**
 * The fleet's table up to its first row. The ARIA roles repeat those of a table: browsers drop them if rows are laid
 * out as a grid, which allows skipping the thousands of rows that are not visible.
 */
export function tableHead(appliances: number): Html {
  if (appliances === 0) {
    return html`<section aria-labelledby="fleet"><h2 id="fleet">Appliances</h2><p class="muted">No appliances yet.</p>\n`;
  }
  const columns = COLUMNS.map(
    ({ name, sort }, index) =>
      html`<th role="columnheader" scope="col" data-sort="${sort}" ${index === 0 ? html`aria-sort="ascending"` : ''}>${name}</th>`,
  );
  return html`<section aria-labelledby="fleet">
<div class="head"><h2 id="fleet">Appliances</h2>
<form class="controls" id="filter" role="search" aria-label="Filter appliances" hidden>
<label>Filter <input type="search" id="words" autocomplete="off" spellcheck="false" placeholder="name, serial, build, error"></label>
<label>Show <select id="kind"><option value="">all</option><option value="down">down</option><option value="no_records">without records</option><option value="error">with an error</option><option value="suspended">with suspended series</option></select></label>
<output id="shown" class="muted">${formatCount(appliances)} of ${formatCount(appliances)}</output>
</form></div>
<table class="fleet" role="table" aria-labelledby="fleet" aria-describedby="fleet-about">
<caption class="visually-hidden" id="fleet-about">Every appliance that this instance polls, with its state, last poll, data age, suspended series and last error.</caption>
<thead role="rowgroup"><tr role="row">${columns}</tr></thead>
<tbody role="rowgroup" id="rows">
`;
}

export function tableEnd(appliances: number): Html {
  return appliances === 0 ? html`</section>\n` : html`</tbody></table></section>\n`;
}

/** One line; `data-v` is the sort value of a column if it differs from the text. `now`: the time of the report. */
export function applianceRow(appliance: ApplianceReport, now: string): Html {
  const { name, serial, state, build, availableBuild, lastPoll, dataAgeSeconds, suspended, lastError } = appliance;
  const update = availableBuild === null ? undefined : html` <span class="muted">→ ${availableBuild}</span>`;
  const polled = lastPoll === null ? '' : Date.parse(lastPoll);
  const age = dataAgeSeconds === null ? EMPTY_VALUE : formatSeconds(dataAgeSeconds);
  return html`<tr role="row" id="a-${serial}" data-state="${state}"><th role="rowheader" scope="row">${name}</th><td role="cell" data-v="${STATE_ORDER[state]}">${badge(state)}</td><td role="cell"><code>${serial}</code></td><td role="cell">${build ?? EMPTY_VALUE}${update}</td><td role="cell" data-v="${polled}">${formatRelativeTime(lastPoll, now)}</td><td role="cell" data-v="${dataAgeSeconds === null ? '' : Math.round(dataAgeSeconds)}">${age}</td><td role="cell" data-v="${suspended.filter(isTrouble).length}">${suspendedCell(appliance)}</td><td role="cell">${lastError === null ? EMPTY_VALUE : errorCell(appliance, lastError, now)}</td></tr>`;
}

function suspendedCell({ suspended, series }: ApplianceReport): HtmlValue {
  if (suspended.length === 0) return html`0 <span class="muted">of ${series}</span>`;
  const troubled = suspended.filter(isTrouble);
  const byReason = new Map<SuspensionReason, string[]>();
  for (const { operation, reason } of suspended) getOrCreate(byReason, reason, () => []).push(operation);
  const reasons = [...byReason].map(
    ([reason, operations]) =>
      html`<dt>${SUSPENSION_LABELS[reason].long}</dt><dd><code>${operations.join(', ')}</code></dd>`,
  );
  const words = [...byReason].map(([reason, { length }]) => `${length} ${SUSPENSION_LABELS[reason].short}`).join(', ');
  return html`<details><summary>${troubled.length} <span class="muted">of ${series} · ${words}</span></summary><dl>${reasons}</dl></details>`;
}

/** No appliance has every series, depending on its build and disks: a series without records is normal. */
function isTrouble({ reason }: ApplianceReport['suspended'][number]): boolean {
  return reason !== 'empty';
}

function errorCell(
  appliance: ApplianceReport,
  error: NonNullable<ApplianceReport['lastError']>,
  now: string,
): HtmlValue {
  const { serial, failing } = appliance;
  const { operation, message, time } = error;
  const others = failing > 1 ? html` <span class="muted">· ${failing} series failing</span>` : undefined;
  // The row already names the appliance, so only the series of the request is shown.
  const request = /^[A-Z]+ \S+ /.exec(message)?.[0] ?? '';
  const text = request.includes(serial) ? html`<code>${operation}</code> ${message.slice(request.length)}` : message;
  return html`<span class="error">${text}</span> <span class="muted">${formatRelativeTime(time, now)}</span>${others}`;
}

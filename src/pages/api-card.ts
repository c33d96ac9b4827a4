import type { ApiReport } from '../status/model.ts';
import {
  badge,
  EMPTY_VALUE,
  formatCount,
  formatRate,
  formatRelativeTime,
  formatSeconds,
  SUSPENSION_LABELS,
} from './format.ts';
import { type Html, type HtmlValue, html } from './html.ts';

/** The card of one API: its state, and what determines how fresh its data is. `now`: the time of the report. */
export function apiCard(api: ApiReport, now: string): Html {
  const facts: readonly (readonly [label: string, value: HtmlValue] | undefined)[] = [
    ['Address', html`<code>${api.url}</code>`],
    ['Last success', formatRelativeTime(api.lastSuccess, now)],
    api.downReason === null ? undefined : ['Down because', html`<span class="error">${api.downReason}</span>`],
    api.lastError === null ? undefined : ['Last error', html`<span class="error">${api.lastError}</span>`],
    ['Token', token(api, now)],
    ['Pace', pace(api, now)],
    ['Limits', limits(api)],
    ['Budget left today', budget(api)],
    ['Effective interval', interval(api)],
    ['Data age', dataAge(api)],
    ['Last complete sweep', api.sweepSeconds === null ? 'in progress' : formatSeconds(api.sweepSeconds)],
    ['Tasks', tasks(api)],
  ];
  const list = facts.map((fact) => fact && html`<div><dt>${fact[0]}</dt><dd>${fact[1]}</dd></div>\n`);
  return html`<section class="card" id="api-${api.api}" data-live aria-labelledby="api-${api.api}-name" data-state="${api.state}">
<h2 id="api-${api.api}-name">${api.title} <code>${api.api}</code> ${badge(api.state)}</h2>
<dl class="facts">
${list}</dl>
${api.notes.map((note) => html`<p class="error">${note}</p>\n`)}${suspended(api)}${accountTasks(api)}</section>
`;
}

/** Counted as in the rows of appliances: no appliance has every series, so what has no records is no trouble. */
function tasks({ tasks: { total }, suspended: kinds }: ApiReport): string {
  const sum = (isEmpty: boolean) =>
    kinds.reduce((all, kind) => ((kind.reason === 'empty') === isEmpty ? all + kind.tasks : all), 0);
  return `${formatCount(total)}: ${formatCount(sum(false))} suspended, ${formatCount(sum(true))} without records`;
}

function token({ token: { kind, expires } }: ApiReport, now: string): HtmlValue {
  if (kind === 'key') return 'a key without an expiry';
  return expires === null ? 'none yet' : html`expires ${formatRelativeTime(expires, now)}`;
}

function pace(
  { pace: { requestsPerSecond, sustainedRequestsPerSecond, waitUntil } }: ApiReport,
  now: string,
): HtmlValue {
  if (waitUntil !== null) {
    return html`<strong>held</strong> after a 429; next request ${formatRelativeTime(waitUntil, now)}, then ${formatRate(sustainedRequestsPerSecond)} requests a second`;
  }
  return `${formatRate(requestsPerSecond)} requests a second`;
}

function limits({ limits: { requests, windowSeconds, requestsPerDay } }: ApiReport): string {
  const day = requestsPerDay === null ? 'no daily limit' : `${formatCount(requestsPerDay)} in 24h`;
  return `${formatCount(requests)} requests in ${formatSeconds(windowSeconds)}, ${day}`;
}

function budget({ budgetRemaining, limits: { requestsPerDay } }: ApiReport): HtmlValue {
  if (budgetRemaining === null || requestsPerDay === null) return 'no daily limit';
  const text = `${formatCount(budgetRemaining)} of ${formatCount(requestsPerDay)}`;
  const low = Math.round(requestsPerDay / 10);
  return html`<meter min="0" max="${requestsPerDay}" low="${low}" value="${budgetRemaining}" aria-label="Requests left of the last 24 hours">${text}</meter> ${text}`;
}

function interval({ intervalSeconds, effectiveIntervalSeconds }: ApiReport): HtmlValue {
  const asked = formatSeconds(intervalSeconds);
  const effective = formatSeconds(effectiveIntervalSeconds);
  if (effectiveIntervalSeconds <= intervalSeconds) return html`${effective}, as configured`;
  return html`<strong>${effective}</strong>: the limits do not allow the configured ${asked}`;
}

function dataAge({ dataAge: { medianSeconds, worstSeconds, computedWorstSeconds } }: ApiReport): string {
  if (medianSeconds === null || worstSeconds === null) return 'no data yet';
  const most = `at most ${formatSeconds(computedWorstSeconds)} while healthy`;
  return `median ${formatSeconds(medianSeconds)}, worst ${formatSeconds(worstSeconds)}; ${most}`;
}

function suspended({ suspended: kinds }: ApiReport): HtmlValue {
  const rows = kinds.map(
    ({ operation, reason, tasks }) =>
      html`<tr><th scope="row"><code>${operation}</code></th><td>${SUSPENSION_LABELS[reason].long}</td><td class="number">${formatCount(tasks)}</td></tr>\n`,
  );
  const columns = html`<th scope="col">Series</th><th scope="col">Why</th><th scope="col" class="number">Tasks</th>`;
  const note = html`<p class="muted">These tasks return no data or are rejected. They are polled at the discovery interval.</p>\n`;
  return foldedTable('Suspended tasks, by reason', columns, rows, note);
}

function accountTasks({ accountTasks: tasks }: ApiReport): HtmlValue {
  const rows = tasks.map((task) => {
    const age = task.dataAgeSeconds === null ? EMPTY_VALUE : formatSeconds(task.dataAgeSeconds);
    return html`<tr><th scope="row"><code>${task.operation}</code></th><td class="number">${formatCount(task.tasks)}</td><td>${formatSeconds(task.intervalSeconds)}</td><td>${age}</td><td>${accountState(task)}</td></tr>\n`;
  });
  const columns = html`<th scope="col">Operation</th><th scope="col" class="number">Tasks</th><th scope="col">Interval</th><th scope="col">Data age</th><th scope="col">State</th>`;
  return foldedTable('Operations of the account', columns, rows);
}

function foldedTable(title: string, columns: Html, rows: readonly Html[], note?: Html): HtmlValue {
  if (rows.length === 0) return undefined;
  return html`<details><summary>${title} (${rows.length})</summary>
${note}<table class="small"><caption class="visually-hidden">${title}</caption>
<thead><tr>${columns}</tr></thead>
<tbody>
${rows}</tbody></table></details>
`;
}

function accountState({ tasks, suspended: paused, failing, lastError }: ApiReport['accountTasks'][number]): HtmlValue {
  const others = [
    paused > 0 ? (tasks === 1 ? 'suspended' : `${formatCount(paused)} suspended`) : undefined,
    failing > 1 ? `${formatCount(failing)} failing` : undefined,
  ].filter((text) => text !== undefined);
  const rest = others.join(', ');
  if (lastError === null) return rest || 'fine';
  return html`<span class="error">${lastError}</span> <span class="muted">${rest}</span>`;
}

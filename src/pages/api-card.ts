import type { ApiReport } from '../status/model.ts';
import { type Html, html, type Part } from './html.ts';
import { badge, count, duration, moment, NOTHING, REST_WORDS, rate } from './words.ts';

/** The card of one API: its state, and what determines how fresh its data is. `now`: the time of the report. */
export function apiCard(api: ApiReport, now: string): Html {
  const facts: readonly (readonly [label: string, value: Part] | undefined)[] = [
    ['Address', html`<code>${api.url}</code>`],
    ['Last success', moment(api.lastSuccess, now)],
    api.downReason === null ? undefined : ['Down because', html`<span class="error">${api.downReason}</span>`],
    api.lastError === null ? undefined : ['Last error', html`<span class="error">${api.lastError}</span>`],
    ['Token', token(api, now)],
    ['Pace', pace(api, now)],
    ['Limits', limits(api)],
    ['Budget left today', budget(api)],
    ['Effective interval', interval(api)],
    ['Data age', dataAge(api)],
    ['Last complete sweep', api.sweepSeconds === null ? 'in progress' : duration(api.sweepSeconds)],
    ['Tasks', tasks(api)],
  ];
  const list = facts.map((fact) => fact && html`<div><dt>${fact[0]}</dt><dd>${fact[1]}</dd></div>\n`);
  return html`<section class="card" id="api-${api.api}" data-live aria-labelledby="api-${api.api}-name" data-state="${api.state}">
<h2 id="api-${api.api}-name">${api.title} <code>${api.api}</code> ${badge(api.state)}</h2>
<dl class="facts">
${list}</dl>
${api.notes.map((note) => html`<p class="error">${note}</p>\n`)}${resting(api)}${accountTasks(api)}</section>
`;
}

/** Counted as in the rows of appliances: no appliance has every series, so what has no records is no trouble. */
function tasks({ tasks: { total }, resting: kinds }: ApiReport): string {
  const sum = (isEmpty: boolean) =>
    kinds.reduce((all, kind) => ((kind.reason === 'empty') === isEmpty ? all + kind.tasks : all), 0);
  return `${count(total)}: ${count(sum(false))} backed off, ${count(sum(true))} without records`;
}

function token({ token: { kind, expires } }: ApiReport, now: string): Part {
  if (kind === 'key') return 'a key without an expiry';
  return expires === null ? 'none yet' : html`expires ${moment(expires, now)}`;
}

function pace({ pace: { requestsPerSecond, sustainedRequestsPerSecond, heldUntil } }: ApiReport, now: string): Part {
  if (heldUntil !== null) {
    return html`<strong>held</strong> after a 429; next request ${moment(heldUntil, now)}, then ${rate(sustainedRequestsPerSecond)} requests a second`;
  }
  return `${rate(requestsPerSecond)} requests a second`;
}

function limits({ limits: { requests, windowSeconds, requestsPerDay } }: ApiReport): string {
  const day = requestsPerDay === null ? 'no daily limit' : `${count(requestsPerDay)} in 24h`;
  return `${count(requests)} requests in ${duration(windowSeconds)}, ${day}`;
}

function budget({ budgetRemaining, limits: { requestsPerDay } }: ApiReport): Part {
  if (budgetRemaining === null || requestsPerDay === null) return 'no daily limit';
  const text = `${count(budgetRemaining)} of ${count(requestsPerDay)}`;
  const low = Math.round(requestsPerDay / 10);
  return html`<meter min="0" max="${requestsPerDay}" low="${low}" value="${budgetRemaining}" aria-label="Requests left of the last 24 hours">${text}</meter> ${text}`;
}

function interval({ intervalSeconds, effectiveIntervalSeconds }: ApiReport): Part {
  const asked = duration(intervalSeconds);
  const effective = duration(effectiveIntervalSeconds);
  if (effectiveIntervalSeconds <= intervalSeconds) return html`${effective}, as configured`;
  return html`<strong>${effective}</strong>: the limits do not allow the configured ${asked}`;
}

function dataAge({ dataAge: { medianSeconds, worstSeconds, computedWorstSeconds } }: ApiReport): string {
  if (medianSeconds === null || worstSeconds === null) return 'no data yet';
  const most = `at most ${duration(computedWorstSeconds)} while healthy`;
  return `median ${duration(medianSeconds)}, worst ${duration(worstSeconds)}; ${most}`;
}

function resting({ resting: kinds }: ApiReport): Part {
  const rows = kinds.map(
    ({ operation, reason, tasks }) =>
      html`<tr><th scope="row"><code>${operation}</code></th><td>${REST_WORDS[reason].long}</td><td class="number">${count(tasks)}</td></tr>\n`,
  );
  const columns = html`<th scope="col">Series</th><th scope="col">Why</th><th scope="col" class="number">Tasks</th>`;
  const note = html`<p class="muted">These tasks return no data or are rejected. They are polled at the discovery interval.</p>\n`;
  return foldedTable('Tasks backed off or without records, by reason', columns, rows, note);
}

function accountTasks({ accountTasks: tasks }: ApiReport): Part {
  const rows = tasks.map((task) => {
    const age = task.dataAgeSeconds === null ? NOTHING : duration(task.dataAgeSeconds);
    return html`<tr><th scope="row"><code>${task.operation}</code></th><td class="number">${count(task.tasks)}</td><td>${duration(task.intervalSeconds)}</td><td>${age}</td><td>${accountState(task)}</td></tr>\n`;
  });
  const columns = html`<th scope="col">Operation</th><th scope="col" class="number">Tasks</th><th scope="col">Interval</th><th scope="col">Data age</th><th scope="col">State</th>`;
  return foldedTable('Operations of the account', columns, rows);
}

function foldedTable(title: string, columns: Html, rows: readonly Html[], note?: Html): Part {
  if (rows.length === 0) return undefined;
  return html`<details><summary>${title} (${rows.length})</summary>
${note}<table class="small"><caption class="visually-hidden">${title}</caption>
<thead><tr>${columns}</tr></thead>
<tbody>
${rows}</tbody></table></details>
`;
}

function accountState({ tasks, resting: rests, failing, lastError }: ApiReport['accountTasks'][number]): Part {
  const others = [
    rests > 0 ? (tasks === 1 ? 'backed off' : `${count(rests)} backed off`) : undefined,
    failing > 1 ? `${count(failing)} failing` : undefined,
  ].filter((text) => text !== undefined);
  const rest = others.join(', ');
  if (lastError === null) return rest || 'fine';
  return html`<span class="error">${lastError}</span> <span class="muted">${rest}</span>`;
}

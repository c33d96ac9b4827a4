import { sentence, sentences } from '../contract/causes.ts';
import type { ApiReport } from '../status/model.ts';
import {
  badge,
  EMPTY_VALUE,
  formatCount,
  formatRate,
  formatRelativeTime,
  formatSeconds,
  formatSuspended,
  SUSPENSION_LABELS,
} from './format.ts';
import { type Html, type HtmlValue, html } from './html.ts';

/**
 * The card of one service: its state in one line, and folded below it what determines the age of its data. `now` is the
 * time of the report.
 */
export function apiCard(api: ApiReport, now: string): Html {
  const facts: readonly (readonly [label: string, value: HtmlValue] | undefined)[] = [
    ['Address', html`<code>${api.url}</code>`],
    ['Last success', formatRelativeTime(api.lastSuccess, now)],
    ['Token', token(api, now)],
    ['Request rate', requestRate(api, now)],
    ['Limits', limits(api)],
    ['Daily quota left', quota(api)],
    ['Effective interval', interval(api)],
    ['Last successful polls', lastPolls(api)],
    ['Last complete cycle', api.sweepSeconds === null ? 'in progress' : formatSeconds(api.sweepSeconds)],
    ['Tasks', `${formatCount(api.tasks.total)}: ${formatSuspended(api.suspended)}`],
  ];
  const list = facts.map((fact) => fact && html`<div><dt>${fact[0]}</dt><dd>${fact[1]}</dd></div>\n`);
  return html`<section class="card" id="api-${api.api}" data-live aria-labelledby="api-${api.api}-name" data-state="${api.state}">
<details><summary><h2 id="api-${api.api}-name">${api.title} <code>${api.api}</code> ${badge(api.state)}</h2> <span class="muted">${glance(api, now)}</span></summary>
<dl class="facts">
${list}</dl>
${suspended(api)}${accountTasks(api)}</details>
${errors(api)}${warnings(api)}</section>
`;
}

/** Returns what is shown while the card is folded. */
function glance({ lastSuccess, effectiveIntervalSeconds, budgetRemaining }: ApiReport, now: string): Html {
  const left = budgetRemaining === null ? undefined : html` · ${formatCount(budgetRemaining)} requests left today`;
  return html`last success ${formatRelativeTime(lastSuccess, now)} · polled every ${formatSeconds(effectiveIntervalSeconds)}${left}`;
}

/** Returns why the service is down, its last error and what to do, which are never folded. */
function errors(api: ApiReport): HtmlValue {
  if (!hasError(api)) return undefined;
  const { downReason, lastError, cause } = api;
  const reason = downReason === null ? 'Last error' : `Down (${downReason})`;
  const next = cause === null ? undefined : html`<p>${sentences(cause)}</p>\n`;
  return html`<p>${reason}: <span class="error">${lastError ?? ''}</span></p>\n${next}`;
}

function hasError({ downReason, lastError }: ApiReport): boolean {
  return downReason !== null || lastError !== null;
}

/** Returns the warnings. What was advised above a warning is not repeated, because one cause can bring several of them. */
function warnings(api: ApiReport): readonly Html[] {
  return api.warnings.map(({ happened, advice }, index) => {
    const above = advised({ ...api, warnings: api.warnings.slice(0, index) });
    const text = above.has(advice) ? sentence(happened) : sentences({ happened, advice });
    return html`<p class="error">${text}</p>\n`;
  });
}

/** Returns what the card of a service advises already. */
export function advised(api: ApiReport): ReadonlySet<string | undefined> {
  return new Set([hasError(api) ? api.cause : null, ...api.warnings].map((explanation) => explanation?.advice));
}

function token({ token: { kind, expires } }: ApiReport, now: string): HtmlValue {
  if (kind === 'key') return 'a key without an expiry';
  return expires === null ? 'none yet' : html`expires ${formatRelativeTime(expires, now)}`;
}

function requestRate(
  { pace: { requestsPerSecond, sustainedRequestsPerSecond, waitUntil } }: ApiReport,
  now: string,
): HtmlValue {
  if (waitUntil !== null) {
    return html`<strong>waiting</strong> after a 429; next request ${formatRelativeTime(waitUntil, now)}, then ${formatRate(sustainedRequestsPerSecond)} requests a second`;
  }
  return `${formatRate(requestsPerSecond)} requests a second`;
}

function limits({ limits: { requests, windowSeconds, requestsPerDay } }: ApiReport): string {
  const day = requestsPerDay === null ? 'no daily limit' : `${formatCount(requestsPerDay)} in 24h`;
  return `${formatCount(requests)} requests in ${formatSeconds(windowSeconds)}, ${day}`;
}

function quota({ budgetRemaining, limits: { requestsPerDay } }: ApiReport): HtmlValue {
  if (budgetRemaining === null || requestsPerDay === null) return 'no daily limit';
  const text = `${formatCount(budgetRemaining)} of ${formatCount(requestsPerDay)}`;
  const low = Math.round(requestsPerDay / 10);
  return html`<meter min="0" max="${requestsPerDay}" low="${low}" value="${budgetRemaining}" aria-label="Requests left of the last 24 hours">${text}</meter> ${text}`;
}

function interval({ intervalSeconds, effectiveIntervalSeconds }: ApiReport): HtmlValue {
  const configured = formatSeconds(intervalSeconds);
  const effective = formatSeconds(effectiveIntervalSeconds);
  if (effectiveIntervalSeconds <= intervalSeconds) return html`${effective}, as configured`;
  return html`<strong>${effective}</strong>: the limits do not allow the configured ${configured}`;
}

function lastPolls({ dataAge: { medianSeconds, worstSeconds, computedWorstSeconds } }: ApiReport): string {
  if (medianSeconds === null || worstSeconds === null) return 'none yet';
  const most = `at most ${formatSeconds(computedWorstSeconds)} while healthy`;
  return `median ${formatSeconds(medianSeconds)} ago, oldest ${formatSeconds(worstSeconds)} ago (${most})`;
}

function suspended({ suspended: kinds }: ApiReport): HtmlValue {
  const rows = kinds.map(
    ({ operation, reason, tasks }) =>
      html`<tr><th scope="row"><code>${operation}</code></th><td>${SUSPENSION_LABELS[reason].long}</td><td class="number">${formatCount(tasks)}</td></tr>\n`,
  );
  const columns = html`<th scope="col">Operation</th><th scope="col">Reason</th><th scope="col" class="number">Tasks</th>`;
  const note = html`<p class="muted">These tasks return no data or are rejected. They are polled at the discovery interval.</p>\n`;
  return foldedTable('Suspended tasks, by reason', columns, rows, note);
}

function accountTasks(api: ApiReport): HtmlValue {
  const shownAdvice = advised(api);
  const rows = api.accountTasks.map((task) => {
    const age = task.dataAgeSeconds === null ? EMPTY_VALUE : `${formatSeconds(task.dataAgeSeconds)} ago`;
    return html`<tr><th scope="row"><code>${task.operation}</code></th><td class="number">${formatCount(task.tasks)}</td><td>${formatSeconds(task.intervalSeconds)}</td><td>${age}</td><td>${accountState(task, shownAdvice)}</td></tr>\n`;
  });
  const columns = html`<th scope="col">Operation</th><th scope="col" class="number">Tasks</th><th scope="col">Interval</th><th scope="col">Last success</th><th scope="col">State</th>`;
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

/** `shownAdvice`: what the top of the card advises already, which is not repeated. */
function accountState(
  { tasks, suspended: paused, failing, lastError, advice }: ApiReport['accountTasks'][number],
  shownAdvice: ReadonlySet<string | undefined>,
): HtmlValue {
  const others = [
    paused > 0 ? (tasks === 1 ? 'suspended' : `${formatCount(paused)} suspended`) : undefined,
    failing > 1 ? `${formatCount(failing)} failing` : undefined,
  ].filter((text) => text !== undefined);
  const rest = others.join(', ');
  if (lastError === null) return rest || 'fine';
  const step = advice === null || shownAdvice.has(advice) ? '' : `; ${advice}`;
  return html`<span class="error">${lastError}${step}</span> <span class="muted">${rest}</span>`;
}

import { sentence, sentences } from '../../contract/causes.ts';
import { SUSPENSION_REASONS } from '../../polling/task-state.ts';
import type { ApiReport } from '../../status/report.ts';
import { errorCell, tasksCell } from './fleet.ts';
import { badge, formatCount, formatRate, formatRelativeTime, formatSeconds, SUSPENSION_REASON } from './format.ts';
import { type Html, type HtmlValue, html } from './html.ts';

/** The state of one service: why it is down, its warnings, and what determines the age of its data. */
export function serviceCard(api: ApiReport, now: string): Html {
  const facts: readonly (readonly [name: string, value: HtmlValue])[] = [
    ['Address', html`<code>${api.url}</code>`],
    ['Last success', formatRelativeTime(api.lastSuccess, now)],
    ['Request rate', requestRate(api, now)],
    ['Daily quota left', quota(api)],
    ['Effective interval', interval(api)],
    ['Last complete cycle', api.cycleSeconds === null ? 'in progress' : formatSeconds(api.cycleSeconds)],
    ['Tasks', `${formatCount(api.tasks.total)}, of which ${formatCount(api.tasks.overdue)} overdue`],
    ['Suspended tasks', suspendedTasks(api)],
  ];
  return html`<section class="card">
<h2>${api.title} <code>${api.api}</code> ${badge(api.state)}</h2>
${failure(api)}${explanations(api)}<dl>
${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl></section>
`;
}

function failure({ downReason, lastError }: ApiReport): HtmlValue {
  if (downReason === null && lastError === null) return undefined;
  const reason = downReason === null ? 'Last error' : `Down (${downReason})`;
  return html`<p>${reason}: <span class="error">${lastError ?? ''}</span></p>\n`;
}

/** Why the service is down, and its warnings. One advice may follow several of them; it is shown once. */
function explanations({ cause, warnings }: ApiReport): readonly Html[] {
  const shown = new Set<string>();
  return [cause, ...warnings].flatMap((explanation) => {
    if (explanation === null) return [];
    const { happened, advice } = explanation;
    const text = shown.has(advice) ? sentence(happened) : sentences(explanation);
    shown.add(advice);
    return html`<p class="error">${text}</p>\n`;
  });
}

function requestRate({ requestRate: rate }: ApiReport, now: string): HtmlValue {
  if (rate.waitUntil === null) return formatRate(rate.perSecond);
  const next = formatRelativeTime(rate.waitUntil, now);
  return html`<strong>waiting</strong> after a 429; next request ${next}, then ${formatRate(rate.sustainedPerSecond)}`;
}

function quota({ dailyLimit, quotaRemaining }: ApiReport): string {
  if (dailyLimit === null || quotaRemaining === null) return 'no daily limit';
  return `${formatCount(quotaRemaining)} of ${formatCount(dailyLimit)}`;
}

function interval({ intervalSeconds, effectiveIntervalSeconds }: ApiReport): HtmlValue {
  const configured = formatSeconds(intervalSeconds);
  const effective = formatSeconds(effectiveIntervalSeconds);
  if (effectiveIntervalSeconds <= intervalSeconds) return `${effective}, as configured`;
  return html`<strong>${effective}</strong>: the limits do not allow the configured ${configured}`;
}

function suspendedTasks({ tasks: { suspended } }: ApiReport): string {
  const reasons = SUSPENSION_REASONS.filter((reason) => suspended[reason] > 0);
  return reasons.map((reason) => `${formatCount(suspended[reason])} ${SUSPENSION_REASON[reason]}`).join(', ') || 'none';
}

/** The operations of one service that are about no appliance. */
export function accountTable({ title, state, accountTasks }: ApiReport, now: string): Html {
  const rows = accountTasks.map((group) => [
    html`<code>${group.operation}</code>`,
    tasksCell(group),
    formatSeconds(group.intervalSeconds),
    formatRelativeTime(group.lastSuccess, now),
    errorCell(group, now, state !== 'down'),
  ]);
  return html`<section class="card">
<h2>${title}: operations of the account</h2>
${table(['Operation', 'Tasks', 'Interval', 'Last success', 'Last error'], rows)}</section>
`;
}

/** A table whose first column names its rows; nothing without rows. */
export function table(columns: readonly HtmlValue[], rows: readonly (readonly HtmlValue[])[]): Html | undefined {
  if (rows.length === 0) return undefined;
  const body = rows.map(
    ([name, ...cells]) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`,
  );
  return html`<div class="wide"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${body}</tbody></table></div>
`;
}

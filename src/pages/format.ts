import type { SuspensionReason } from '../polling/task-state.ts';
import type { ApplianceReport } from '../status/model.ts';
import { type Html, html } from './html.ts';

export const SUSPENSION_LABELS = {
  forbidden: { short: 'forbidden', long: 'forbidden (403): the right or the licence is missing' },
  not_found: { short: 'not found', long: 'not found (404)' },
  rejected: { short: 'not supported', long: 'not supported by this appliance (422)' },
  empty: { short: 'no records', long: 'no records: the response is empty' },
} as const satisfies Record<SuspensionReason, { readonly short: string; readonly long: string }>;

/** Formats suspended tasks and their reasons, such as `3 suspended (2 no records, 1 forbidden)`. */
export function formatSuspended(
  kinds: readonly { readonly reason: SuspensionReason; readonly tasks: number }[],
): string {
  const counts = new Map<SuspensionReason, number>();
  for (const { reason, tasks } of kinds) counts.set(reason, (counts.get(reason) ?? 0) + tasks);
  const sum = [...counts.values()].reduce((all, tasks) => all + tasks, 0);
  const reasons = [...counts].map(([reason, tasks]) => {
    const { short } = SUSPENSION_LABELS[reason];
    return counts.size === 1 ? short : `${formatCount(tasks)} ${short}`;
  });
  return `${formatCount(sum)} suspended${reasons.length === 0 ? '' : ` (${reasons.join(', ')})`}`;
}

/** Shown for an unknown value; read out as words. */
export const EMPTY_VALUE: Html = html`<span class="none" role="img" aria-label="none">–</span>`;

/**
 * Formats a state as a word with its own colour; the word is there because colour alone is not visible to everybody.
 */
export function badge(state: ApplianceReport['state']): Html {
  return html`<span class="badge ${state}">${state.replace('_', ' ')}</span>`;
}

export function formatCount(value: number): string {
  return value.toLocaleString('en');
}

/** Formats requests per second with three significant digits. */
export function formatRate(perSecond: number): string {
  return Number(perSecond.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 5 });
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** A duration in its two largest units, such as `12s`, `5m`, `1h 5m`, `2d 3h`. */
export function formatSeconds(seconds: number): string {
  let left = Math.max(0, Math.round(seconds));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const units = Math.floor(left / size);
    left -= units * size;
    if (units > 0) parts.push(`${units}${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ') || '0s';
}

/** Formats an RFC 3339 time to the second, as `2026-01-31 09:30:00 UTC`. */
export function formatTimestamp(at: string): string {
  return at.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ' UTC');
}

/** Formats a time relative to `now`, both in RFC 3339; the time itself is in the tooltip. */
export function formatRelativeTime(at: string | null, now: string): Html {
  if (at === null) return html`never`;
  const seconds = (Date.parse(now) - Date.parse(at)) / 1000;
  const distance = formatSeconds(Math.abs(seconds));
  const text = distance === '0s' ? 'now' : seconds > 0 ? `${distance} ago` : `in ${distance}`;
  return html`<time datetime="${at}" title="${formatTimestamp(at)}">${text}</time>`;
}

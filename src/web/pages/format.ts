import { formatDuration } from '../../config/duration.ts';
import type { SuspensionReason } from '../../polling/task-state.ts';
import { type Html, html } from './html.ts';

export const SUSPENSION_REASON = {
  forbidden: 'forbidden (403)',
  not_found: 'not found (404)',
  rejected: 'not supported (422)',
  empty: 'no records',
} as const satisfies Record<SuspensionReason, string>;

/** A state as a word with its own colour; the word is there because colour alone is not visible to everybody. */
export function badge(state: string): Html {
  return html`<span class="badge ${state}">${state}</span>`;
}

export function formatCount(value: number): string {
  return value.toLocaleString('en');
}

/** Formats requests per second with three significant digits. */
export function formatRate(perSecond: number): string {
  return `${perSecond.toLocaleString('en', { maximumSignificantDigits: 3 })} requests a second`;
}

/** Formats a duration in its two largest units, such as `12s`, `5m`, `1h5m`, `2d3h`. */
export function formatSeconds(seconds: number): string {
  const unit = seconds < 3_600 ? 1 : seconds < 86_400 ? 60 : 3_600;
  return formatDuration(Math.max(0, Math.round(seconds / unit)) * unit * 1000);
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

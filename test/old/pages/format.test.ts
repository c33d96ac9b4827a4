import { expect, test } from 'vitest';
import { formatRate, formatRelativeTime, formatSeconds, formatTimestamp } from '../../src/pages/format.ts';
import { html } from '../../src/pages/html.ts';
import { NOW, secondsAgo } from './reports.ts';

test.each([
  [0, '0s'],
  [0.4, '0s'],
  [59.6, '1m'],
  [-3, '0s'],
  [300, '5m'],
  [305, '5m 5s'],
  [3_600, '1h'],
  [3_605, '1h'],
  [93_600, '1d 2h'],
  [8_640_000, '100d'],
])('%d seconds are %s: the two largest units', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

test.each([
  [secondsAgo(0.3), 'now'],
  [secondsAgo(12), '12s ago'],
  [secondsAgo(-90), 'in 1m 30s'],
])('%s is %s', (at, text) => {
  expect(formatRelativeTime(at, NOW).text).toBe(`<time datetime="${at}" title="${formatTimestamp(at)}">${text}</time>`);
});

test('what never happened is said to have happened never', () => {
  expect(formatRelativeTime(null, NOW).text).toBe('never');
});

test.each([
  [16.6667, '16.7'],
  [0.066667, '0.0667'],
  [1_234.5, '1,230'],
])('%d requests a second are %s', (perSecond, text) => {
  expect(formatRate(perSecond)).toBe(text);
});

test('what is put into HTML is escaped, unless it is HTML', () => {
  expect(html`<p title="${`"'`}">${'<&>'}${html`<b>`}${[html`<i>`, '<', 1]}${undefined}</p>`.text).toBe(
    '<p title="&quot;&#39;">&lt;&amp;&gt;<b><i>&lt;1</p>',
  );
});

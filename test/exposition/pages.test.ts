import { expect, test } from 'vitest';
import { landingPage, statusPage } from '../../src/exposition/pages.ts';

const hostile = `<script>alert("x")</script>&'`;
const shown = '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;';

test('whatever an appliance is called and an API answers is shown as text', () => {
  const html = statusPage({
    version: hostile,
    apis: [{ name: hostile, up: false, facts: [[hostile, hostile]] }],
    appliances: [
      { name: hostile, serial: hostile, up: undefined, lastPoll: hostile, lastSuccess: hostile, lastError: hostile },
    ],
  });
  expect(html).not.toContain('<script');
  expect(html.split(shown)).toHaveLength(10);
});

test('the status page has each API and each appliance with its state', () => {
  const row = { serial: 's', lastPoll: '3 s ago', lastSuccess: 'never', lastError: 'answered 500' };
  const html = statusPage({
    version: '1.2.3',
    apis: [
      { name: 'portal', up: true, facts: [['Pace', '16 a second']] },
      { name: 'gfa', up: false, facts: [] },
    ],
    appliances: [
      { ...row, name: 'Boston', up: true },
      { ...row, name: 'Berlin', up: false },
      { ...row, name: 'Tokyo', up: undefined },
    ],
  });
  expect(html).toMatch(/^<!doctype html>.*<\/html>\n$/s);
  expect(html).toContain('<h2>portal <span class="up">up</span></h2><dl><dt>Pace</dt><dd>16 a second</dd></dl>');
  expect(html).toContain('<h2>gfa <span class="down">down</span></h2>');
  expect(html).toContain('Appliances (3)');
  expect(html).toMatch(/Boston.*class="up".*Berlin.*class="down".*Tokyo.*not polled yet/s);
});

test('without appliances there is no table', () => {
  expect(statusPage({ version: '1', apis: [], appliances: [] })).not.toContain('<table');
});

test('the first page links to everything, the exposition where it is configured', () => {
  const html = landingPage('1.2.3', '/my&metrics');
  const links = [...html.matchAll(/<li><a href="([^"]*)">/g)].map(([, href]) => href);
  expect(links).toEqual(['/my&amp;metrics', '/status', '/healthz', '/readyz']);
});

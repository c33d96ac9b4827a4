import { expect, test } from 'vitest';
import type { StatusReport } from '../../../src/status/report.ts';
import { formatRate, formatSeconds } from '../../../src/web/pages/format.ts';
import { landingPage } from '../../../src/web/pages/page.ts';
import { statusPage } from '../../../src/web/pages/status-page.ts';
import { fails, isEmpty, PollingRun, recordAt, returns, works } from '../polling/polling-run.ts';
import { fleet, reportOf } from '../status/reports.ts';

/** The page as a reader sees it: one line for each row, without markup. */
function seen(report: StatusReport, query = ''): string {
  const page = statusPage(report, query).text;
  const body = page.slice(page.indexOf('<main>')).replaceAll(/\n/g, ' ');
  return body
    .replaceAll(/<\/(?:tr|p|h2|dd|a|section)>/g, '\n')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n');
}

let shared: StatusReport | undefined;

/**
 * Twelve appliances: `a1` is off, the portal does not respond about `a2`, and rejects a series of `a3`. The same report for
 * every test, because nothing changes it.
 */
async function troubled(): Promise<StatusReport> {
  if (shared !== undefined) return shared;
  const run = new PollingRun(fleet);
  run.behaviour = ({ id, appliance }) => {
    if (appliance?.serial === 'a1') return isEmpty;
    if (id === 'a3/s0') return returns(403);
    return appliance?.serial === 'a2' ? fails : { ...works, result: recordAt(run.clock.now()) };
  };
  await run.passes(60);
  shared = reportOf(run);
  return shared;
}

const rowsOf = (text: string) => text.split('\n').flatMap((line) => /^(a\d+) /.exec(line)?.[1] ?? []);

test('the status page loads itself again every ten seconds, until it is paused, and keeps what was chosen in its address', async () => {
  const report = await troubled();
  const page = statusPage(report, 'show=down&filter=a&sort=name&order=descending&page=2').text;
  expect(page).toContain('<meta http-equiv="refresh" content="10">');
  expect(page).toContain('href="?show=down&amp;filter=a&amp;sort=name&amp;order=descending&amp;page=2&amp;reload=off"');
  expect(page).toContain('<a href="?show=down&amp;filter=a&amp;sort=name">Appliance ↓</a>');
  expect(page.match(/aria-current="true">\w+/g)).toEqual(['aria-current="true">Down']);
  expect(page).toContain('<input type="hidden" name="show" value="down">');
  expect(statusPage(report, 'reload=off').text).not.toContain('http-equiv');
});

test('the status page runs nothing and loads nothing, by a policy that allows only its own style', async () => {
  const page = statusPage(await troubled(), '');
  expect(page.text).not.toMatch(/<script|\bon\w+=|src=|https?:\/\/(?!portal\.example)/);
  expect(page.headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-\S+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
});

test('the status page says how many appliances are down, and why each of them is, the worst first', async () => {
  const text = seen(await troubled()).replaceAll(/\w+ ago/g, '… ago');
  expect(text).toContain('\nPortal portal up\nRequests for s0 of 1 appliance returned 403. Give the role the right');
  expect(text).toContain(`
Address https://portal.example.com
Last success now
Request rate 11.5 requests a second
Daily quota left 1,000,000 of 1,000,000
Effective interval 5m, as configured
Last complete cycle 10m1s
Tasks 38, of which 0 overdue
Suspended tasks 1 forbidden (403)

All 12
Down 2
Unknown 0
Waiting 0
Up 10
With errors 1
Rejected series 1
Appliances 12 of 12
Filter Appliance
State ↑
Serial
`);
  expect(text).toContain(`
a1 down no records a1 – … ago – 3 –
a2 down unavailable a2 – … ago – 3 GET /x returned 503; wait; if it lasts, ask the operator of the service … ago · 3 failing
a0 up a0 – … ago … ago 3 –
a3 up a3 – … ago … ago 3, 1 suspended: forbidden (403) –
`);
  expect(text).toContain('\naccount_license 1 5m … ago –\n');
});

test.each([
  ['show=down', ['a1', 'a2']],
  ['show=error', ['a2']],
  ['show=rejected', ['a3']],
  ['show=constructor&sort=__proto__&filter=a1', ['a1', 'a10', 'a11']],
  ['filter=A1', ['a1', 'a10', 'a11']],
  ['filter=a1+no_records', ['a1']],
  ['filter=503', ['a2']],
  ['filter=nothing+like+this', []],
  ['sort=name&order=descending&filter=a1', ['a11', 'a10', 'a1']],
  ['sort=series&order=descending&show=up&page=-5', ['a3', 'a0', 'a4', 'a5', 'a6', 'a7', 'a8', 'a9', 'a10', 'a11']],
  ['sort=record&filter=a1', ['a10', 'a11', 'a1']],
])('the status page with ?%s shows %j', async (query, names) => {
  expect(rowsOf(seen(await troubled(), query))).toEqual(names);
});

test('the status page has 80 rows at most, and links to the others', async () => {
  const report = await troubled();
  const large = { ...report, appliances: new Array(166).fill(report.appliances).flat() };
  const [first, last] = [seen(large), seen(large, 'page=99')];
  expect([rowsOf(first).length, rowsOf(last).length]).toEqual([80, 72]);
  expect(first).toMatch(/Page 1 of 25 +Next/);
  expect(last).toMatch(/Page 25 of 25 +Previous/);
  expect(statusPage(large, '').text.length).toBeLessThan(100_000);
});

test('the status page says once why a service is down and what to do, and that its appliances are unknown', async () => {
  const run = new PollingRun(fleet);
  run.behaviour = () => returns(500);
  await run.passes(60);
  const text = seen(reportOf(run));
  expect(text).toContain('\nPortal portal down\n');
  expect(text).toContain('Down (server_error): GET /x returned 500');
  expect(text.match(/ask the operator of the service/g)).toHaveLength(1);
  expect(text).toContain('\nUnknown 12\n');
  expect(text).toMatch(/^a0 unknown a0 .* GET \/x returned 500 [^;]*failing$/m);
});

test('the status page escapes whatever the services and the address contain', async () => {
  const report = await troubled();
  const hostile = `"><script>alert('x')</script>&`;
  const appliances = report.appliances.map((appliance) => ({ ...appliance, name: hostile, build: hostile }));
  const apis = report.apis.map((api) => ({ ...api, lastError: hostile }));
  const query = new URLSearchParams({ filter: hostile, sort: hostile, page: hostile });
  const page = statusPage({ ...report, apis, appliances }, `${query}`).text;
  expect(page).not.toContain('<script');
  expect(page).toContain('value="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;"');
});

test('the landing page links to the other pages, relative to itself, and shows the notice of the demo', async () => {
  const notice = ['Set `GFA_URL` <now>.'];
  const { text } = landingPage('1.2.3', '/a/metrics', notice);
  const links = [...text.matchAll(/<li><a href="([^"]+)"/g)].map(([, link]) => link);
  expect(links).toEqual(['./status', './a/metrics', './api/v1/status', './healthz', './readyz']);
  expect(text).toContain('<p>Set <code>GFA_URL</code> &lt;now&gt;.');
});

test('durations are shown in their two largest units, and request rates with three digits', () => {
  const durations = [0, 59.6, 3_600.6, 3_900, 183_600, 86_400].map(formatSeconds);
  expect(durations).toEqual(['0s', '1m', '1h', '1h5m', '2d3h', '1d']);
  const rates = ['0', '0.0123', '16.7', '1,230'].map((rate) => `${rate} requests a second`);
  expect([0, 0.0123456, 16.6666, 1_234.5].map(formatRate)).toEqual(rates);
});

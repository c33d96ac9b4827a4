// Only here: what a browser makes of the pages: filter, focus, colours, sizes.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { landingPage } from '../../src/pages/landing-page.ts';
import { StatusDocuments } from '../../src/pages/status-documents.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import type { StatusReport } from '../../src/status/model.ts';
import { serve } from '../http/serving.ts';
import { api, appliance, largeFleet, reportOf, secondsAgo } from '../pages/reports.ts';
import { until } from '../support/until.ts';
import type { Browser, Page } from '../tools/playwright.ts';
import { launchChromium, open, withoutChromium } from './chromium.ts';

/** What a reader of pages aloud is given: one element. */
interface AxNode {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
}

/** Makes the page believe that it is hidden, or seen again, as a change of tabs does. */
async function hide(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
     document.dispatchEvent(new Event('visibilitychange'))`,
  );
}

/** Resolves when the page has been painted. */
const TWO_FRAMES = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

/**
 * Milliseconds of processor time that the longest task on the main thread of a page took, by a trace of Chromium: time
 * by the clock would measure what else this machine does.
 */
function longestStopMs(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const mains = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const threads = new Set(mains.map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = traceEvents.filter(({ pid, tid, tdur }) => tdur !== undefined && threads.has(`${pid} ${tid}`));
  expect(tasks.length).toBeGreaterThan(10);
  return Math.round(Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000);
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** For each element with a text of its own how much that stands out (WCAG 2.2, contrast ratio), by computed colours. */
const CONTRASTS = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = channels(getComputedStyle(each).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((element) => {
      const [text, back] = [luminance(channels(getComputedStyle(element).color)), luminance(behind(element))];
      const ratio = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
      return { text: element.textContent.trim().slice(0, 40), ratio: Math.round(ratio * 100) / 100 };
    });
})()`;

/** A server whose status a test decides. */
interface ServedStatus {
  readonly url: string;
  /** What is told from now on. */
  tell(change: Partial<StatusReport>): void;
  /** Whether it answers at all from now on. */
  answers(is: boolean): void;
  /** How often the status was asked for. */
  readonly asked: number;
}

/** Serves the status pages of a report; it ends with the test. */
async function serveStatus(change: Partial<StatusReport> = {}): Promise<ServedStatus> {
  let report = reportOf(change);
  let answering = true;
  let asked = 0;
  let moment = 0;
  // A second passes at every look: nobody gets what was made for somebody else.
  const clock: Clock = { ...systemClock, monotonic: () => (moment += 1_000) };
  const status = new StatusDocuments(() => Promise.resolve(report), clock);
  const told = <Made>(made: () => Promise<Made>) => {
    asked += 1;
    return answering ? made() : Promise.reject(new Error('the test lets it fail'));
  };
  const { port } = await serve({
    statusPage: (query) => told(() => status.page(query)),
    statusJson: () => told(() => status.json()),
    landingPage: () => Promise.resolve(landingPage('1.2.3', '/metrics')),
  });
  return {
    url: `http://127.0.0.1:${port}`,
    tell: (more) => {
      report = { ...report, ...more };
    },
    answers: (is) => {
      answering = is;
    },
    get asked() {
      return asked;
    },
  };
}

/** How many times as long as for loading the page may stop: three on an idle machine. */
const MUCH_LONGER = 12;

/** Milliseconds between two looks of the page. */
const EVERY_MS = 10_000;

const lastError = {
  operation: 'cpu_utilization',
  time: secondsAgo(30),
  message: 'POST /x returned 500',
  advice: 'wait',
};
const suspended = [{ operation: 'cow_disk_iops', reason: 'empty' }] as const;
const fleet = [
  appliance(1, { name: 'edge-9', lastRecord: secondsAgo(50), suspended }),
  appliance(2, { name: 'edge-10', lastRecord: secondsAgo(9), build: '9.15.7' }),
  appliance(3, { name: 'Boston', lastRecord: null, state: 'waiting', lastPoll: null }),
  appliance(4, { name: 'lima', lastRecord: secondsAgo(700), state: 'down', failing: 2, lastError }),
];

const names = (page: Page) => page.locator('#rows tr:visible th').allTextContents();
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: false });
const listed = (page: Page, list: string) => until(`the list ${list}`, async () => (await names(page)).join() === list);
const focused = (page: Page) => page.evaluate('document.activeElement.textContent');

/** Lets the page look at the exporter anew, and waits until it has. */
async function refresh(page: Page, sees: () => Promise<boolean>): Promise<void> {
  await page.clock.fastForward(EVERY_MS);
  await until('the page to show what is new', sees);
}

describe.skipIf(withoutChromium)('the status page in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  test('asks no other host for anything, keeps its own policy, and has nothing to complain about', async () => {
    const status = await serveStatus({ appliances: fleet });
    for (const path of ['/status', '/']) {
      const { page, complaints, asked } = await open(browser, status.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.clock.fastForward(EVERY_MS);
      expect(complaints).toEqual([]);
      expect(asked.filter((url) => !url.startsWith(status.url) && !url.startsWith('data:'))).toEqual([]);
    }
    await until('the page to look again', () => status.asked > 1);
  });

  describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
    test('has no text that stands out from what is behind it by less than 4.5 to 1', async () => {
      const held = { requestsPerSecond: 0, sustainedRequestsPerSecond: 1, waitUntil: secondsAgo(-9), throttled: false };
      const apis = [
        api({ state: 'down', lastError: 'answered 503', pace: held }),
        api({ api: 'gfa', state: 'waiting' }),
      ];
      const status = await serveStatus({ appliances: fleet, apis });
      const { page } = await open(browser, `${status.url}/status`, { colorScheme });
      await page.evaluate(`document.querySelectorAll('details').forEach((each) => { each.open = true; })`);
      const contrasts = (await page.evaluate(CONTRASTS)) as readonly {
        readonly text: string;
        readonly ratio: number;
      }[];
      expect(contrasts.length).toBeGreaterThan(80);
      expect(contrasts.filter(({ ratio }) => ratio < 4.5)).toEqual([]);
      const back = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(back).toBe(colorScheme === 'dark' ? 'rgb(13, 17, 23)' : 'rgb(246, 248, 250)');
    });
  });

  test('without scripts it says all that there is to say, and nothing that does not work', async () => {
    const status = await serveStatus({ appliances: fleet });
    const { page, complaints } = await open(browser, `${status.url}/status`, { javaScriptEnabled: false });
    expect(await names(page)).toEqual(['lima', 'Boston', 'edge-9', 'edge-10']);
    expect(await page.locator('#rows').innerText()).toContain('POST /x returned 500');
    expect(await page.locator('button:visible').allTextContents()).toEqual(['Apply']);
    await page.locator('#rows summary').first().click();
    expect(await page.locator('#rows').innerText()).toContain('cow_disk_iops');
    await page.getByRole('link', { name: 'Up', exact: false }).click();
    await listed(page, 'edge-9,edge-10');
    await page.getByRole('searchbox').fill('9.15');
    await page.getByRole('button', { name: 'Apply' }).click();
    await listed(page, 'edge-10');
    expect(new URL(page.url()).search).toBe('?show=up&filter=9.15');
    expect(
      (await page.locator('noscript meta[http-equiv=refresh]').count()) +
        (await page.locator('meta[http-equiv=refresh]').count()),
    ).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });

  test('sorts by the keyboard, says which way to who cannot see it, and puts what is unknown last', async () => {
    const status = await serveStatus({ appliances: fleet });
    const { page } = await open(browser, `${status.url}/status`);
    await listed(page, 'lima,Boston,edge-9,edge-10');
    const record = page.getByRole('columnheader', { name: 'Last record' });
    await record.getByRole('link').focus();
    await page.keyboard.press('Enter');
    await listed(page, 'lima,edge-9,edge-10,Boston');
    expect(await record.getAttribute('aria-sort')).toBe('ascending');
    await page.keyboard.press('Enter');
    await listed(page, 'edge-10,edge-9,lima,Boston');
    expect(await record.getAttribute('aria-sort')).toBe('descending');
    expect(await page.locator('[aria-sort]').count()).toBe(1);
    await page.goBack();
    await listed(page, 'lima,edge-9,edge-10,Boston');
  });

  test('filters by the keyboard, by several words and by tiles, and shows how many are left, or that none is', async () => {
    const forbidden = [{ operation: 'cow_disk_iops', reason: 'forbidden' }] as const;
    const status = await serveStatus({ appliances: [...fleet, appliance(5, { name: 'oslo', suspended: forbidden })] });
    const { page } = await open(browser, `${status.url}/status`);
    await page.getByRole('searchbox', { name: 'Filter' }).focus();
    await page.keyboard.type('EDGE 9.15');
    await until('the filter', async () => (await page.locator('#shown').textContent()) === '1 of 5');
    expect(await names(page)).toEqual(['edge-10']);
    await page.getByRole('searchbox').fill('');
    await until('all', async () => (await names(page)).length === 5);
    for (const [kind, left] of [
      ['Down 1', 'lima'],
      ['With errors 1', 'lima'],
      ['Rejected series 1', 'oslo'],
      ['Waiting 1', 'Boston'],
    ] as const) {
      await link(page, kind).press('Enter');
      // Two tiles may leave the same appliance: the list alone does not show that the page has changed.
      await page.locator('.tile[aria-current]', { hasText: kind.replace(/ \d/, '') }).waitFor();
      await listed(page, left);
    }
    await page.getByRole('status').filter({ hasText: '1 of 5' }).waitFor();
    await link(page, 'No records').click();
    await page.getByText('No appliance is without records.').waitFor();
    await link(page, 'Show all 5').click();
    await until('all', async () => (await names(page)).length === 5);
  });

  test('keeps sort, filter, scroll, focus and what is folded out when it shows what is new', async () => {
    const many = [...fleet, ...Array.from({ length: 60 }, (_, at) => appliance(100 + at, { suspended }))];
    const status = await serveStatus({ appliances: many });
    const { page } = await open(browser, `${status.url}/status`);
    await link(page, 'Last record').press('Enter');
    await link(page, 'Last record').and(page.locator('[href*=descending]')).press('Enter');
    await page.getByRole('searchbox').fill('edge');
    await until('the filter', async () => (await page.locator('#shown').textContent()) === '62 of 64');
    await page.locator('#api-portal summary').first().click();
    const summary = page.locator('tr', { hasText: 'edge-140' }).locator('summary');
    await summary.click();
    await summary.focus();
    const before = { y: await page.evaluate('scrollY'), focus: await focused(page) };
    expect(before.y).toBeGreaterThan(100);
    status.tell({
      apis: [api({ budgetRemaining: 1_234 })],
      appliances: [
        ...many.slice(1).map((each) => (each.name === 'edge-140' ? { ...each, build: '11.0.0' } : each)),
        appliance(500, { name: 'edge-new', lastRecord: secondsAgo(0) }),
      ],
    });
    await refresh(page, async () => (await names(page))[0] === 'edge-new');
    expect(await names(page)).not.toContain('edge-9');
    expect(await page.locator('#api-portal').innerText()).toContain('1,234 of 1,000,000');
    expect(await page.locator('tr', { hasText: 'edge-140' }).innerText()).toContain('11.0.0');
    expect({ y: await page.evaluate('scrollY'), focus: await focused(page) }).toEqual(before);
    expect(await page.locator('tr', { hasText: 'edge-140' }).locator('details').getAttribute('open')).not.toBeNull();
    expect(await page.locator('#api-portal details').first().getAttribute('open')).not.toBeNull();
    expect(await page.getByRole('searchbox').inputValue()).toBe('edge');
    expect(await page.locator('#shown').textContent()).toBe('62 of 64');
  });

  test('says aloud when a service goes down and nothing else of what changes by itself', async () => {
    const status = await serveStatus({ appliances: fleet });
    const { page } = await open(browser, `${status.url}/status`);
    const aloud = async () => (await page.locator('[role=status], [role=alert], output').allTextContents()).join('|');
    const before = await aloud();
    status.tell({ apis: [api({ budgetRemaining: 5 })] });
    await refresh(page, async () => (await page.locator('#api-portal').innerText()).includes('· 5 requests left'));
    expect(await aloud()).toBe(before);
    status.tell({ apis: [api({ state: 'down', lastError: 'answered 503' })] });
    await refresh(page, async () => (await aloud()).includes('Portal is down.'));
    expect(await page.locator('[aria-live], [role=log], [role=timer]').count()).toBe(0);
  });

  test('says that the exporter does not answer, and of when it is what it shows; and looks on', async () => {
    const status = await serveStatus({ appliances: fleet });
    const { page } = await open(browser, `${status.url}/status`);
    status.answers(false);
    const trouble = page.getByRole('alert');
    await refresh(page, () => trouble.isVisible());
    expect(await trouble.textContent()).toMatch(
      /^No response from the exporter \(it returned 500\). The page shows the state at /,
    );
    expect(await names(page)).toHaveLength(4);
    status.answers(true);
    await refresh(page, async () => !(await trouble.isVisible()));
  });

  test('looks neither while it is paused nor while nobody can see it, and at once when that is over', async () => {
    const status = await serveStatus({ appliances: fleet });
    const { page } = await open(browser, `${status.url}/status`);
    const pause = page.getByRole('button', { name: 'Pause updates' });
    await pause.press('Enter');
    expect(await pause.getAttribute('aria-pressed')).toBe('true');
    await page.clock.fastForward(EVERY_MS * 5);
    expect(status.asked).toBe(1);
    await pause.press('Enter');
    await until('a look', () => status.asked === 2);
    await hide(page, true);
    await page.clock.fastForward(EVERY_MS * 5);
    expect(status.asked).toBe(2);
    await hide(page, false);
    await until('a look', () => status.asked === 3);
  });

  test('loads itself anew when the exporter is of another version', async () => {
    const status = await serveStatus({ appliances: fleet });
    const { page } = await open(browser, `${status.url}/status`);
    await page.evaluate('window.isOld = true');
    status.tell({ version: '2.0.0' });
    await refresh(page, async () => (await page.evaluate('window.isOld')) === undefined);
    expect(await page.locator('.version').textContent()).toBe('2.0.0');
  });

  test('is a table to who has it read out, with a name, headers and rows, and can be skipped to', async () => {
    const status = await serveStatus({ appliances: fleet });
    const { page } = await open(browser, `${status.url}/status`);
    await page.evaluate(`document.querySelector('#api-portal details').open = true`);
    const session = await page.context().newCDPSession(page);
    let nodes: readonly AxNode[] = [];
    const named = (role: string) =>
      nodes.filter((node) => !node.ignored && node.role?.value === role).map((node) => node.name?.value ?? '');
    // Chromium builds the tree piece by piece.
    await until('the rows in the tree', async () => {
      ({ nodes } = (await session.send('Accessibility.getFullAXTree')) as { readonly nodes: readonly AxNode[] });
      return named('rowheader').length > 0;
    });
    expect(named('table')).toContain('Appliances');
    expect(named('columnheader')).toEqual(
      expect.arrayContaining([
        ...['Appliance', 'State', 'Serial', 'Build', 'Last poll', 'Last record', 'Series', 'Last error'],
      ]),
    );
    expect(named('rowheader')).toEqual(expect.arrayContaining(['Boston', 'edge-9', 'edge-10', 'lima']));
    expect(named('meter')).toEqual(['Requests left of the last 24 hours']);
    for (const role of ['button', 'link', 'searchbox', 'navigation', 'region', 'heading']) {
      expect(
        named(role).filter((name) => name.trim() === ''),
        role,
      ).toEqual([]);
      expect(named(role), role).not.toEqual([]);
    }
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.keyboard.press('Tab');
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect([await focused(page), outline]).toEqual(['Pause updates', 'solid']);
  });

  test('fits a narrow window without scrolling sideways', async () => {
    const status = await serveStatus({ appliances: fleet });
    for (const width of [320, 768, 1024, 1440]) {
      const { page } = await open(browser, `${status.url}/status`, { viewport: { width, height: 800 } });
      expect(await page.evaluate('document.documentElement.scrollWidth'), `${width} pixels`).toBeLessThanOrEqual(width);
    }
  });

  test('with 2,004 appliances shows the first row on the first screen of a narrow window, also when both services are down', async () => {
    const down = { state: 'down', downReason: 'http_5xx', lastError: 'GET /serials returned 503' } as const;
    const apis = [api({ ...down, api: 'gfa', title: 'File acceleration' }), api(down)];
    const status = await serveStatus({ appliances: largeFleet(2_004), apis });
    const { page } = await open(browser, `${status.url}/status`, { viewport: { width: 600, height: 900 } });
    const row = await page.locator('#rows tr').first().boundingBox();
    expect((row?.y ?? 900) + (row?.height ?? 0)).toBeLessThan(900);
    expect(await page.locator('#rows tr').first().innerText()).toContain('down');
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3_000);
    await link(page, 'Next').click();
    await page.getByText('Page 2 of 26').waitFor();
  });

  test('with 2,000 appliances sorts, filters and shows what is new, with no stop much longer than that of loading', async () => {
    const status = await serveStatus({ appliances: largeFleet(2_000) });
    const { page } = await open(browser, `${status.url}/status`);
    const shown = () => page.locator('#shown', { hasText: '2,000 of 2,000' }).waitFor();
    await shown();
    const stops: Record<string, number> = {};
    const measure = async (name: string, what: () => Promise<unknown>) => {
      await browser.startTracing(page, { categories: ['toplevel'] });
      await what();
      await page.evaluate(TWO_FRAMES);
      stops[name] = longestStopMs(await browser.stopTracing());
    };
    await measure('load', async () => {
      await page.reload();
      await shown();
    });
    await measure('sort', async () => {
      await link(page, 'Last record').click();
      await page.locator('[aria-sort]', { hasText: 'Last record' }).waitFor();
    });
    await measure('filter', async () => {
      await page.getByRole('searchbox').pressSequentially('returned 500');
      await page.locator('#shown', { hasText: '40 of 2,000' }).waitFor();
    });
    await measure('no filter', async () => {
      await page.getByRole('searchbox').fill('');
      await page.locator('#shown', { hasText: '2,000 of 2,000' }).waitFor();
    });
    status.tell({ appliances: largeFleet(2_000).map((each) => ({ ...each, build: '12.0.0' })) });
    const last = page.locator('#rows tr:last-child', { hasText: '12.0.0' });
    await measure('refresh', () => refresh(page, async () => (await last.count()) === 1));
    for (const [name, ms] of Object.entries(stops)) expect(ms, name).toBeLessThan(MUCH_LONGER * (stops.load ?? 0));
  });
});

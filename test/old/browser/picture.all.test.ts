// Only here: pictures of the documents that no longer look like the pages.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import type { StatusReport } from '../../src/status/model.ts';
import { start, temporaryDirectory } from '../support/program.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { get } from '../support/scrape.ts';
import { until } from '../support/until.ts';
import { launchChromium, open, withoutChromium } from './chromium.ts';

/** Bytes that a picture of the README may have: more is slow to read, less is an empty page. */
const SIZE = { least: 20_000, most: 300_000 } as const;

/** The texts of cells beside each other with less than a blank between them: `1` and `10s` would read as `110s`. */
const TOUCHING = `[...document.querySelectorAll('tr')].flatMap((row) => {
  const spans = [...row.cells].flatMap((cell) => {
    const boxes = [];
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      boxes.push(...[...range.getClientRects()].filter(({ width }) => width > 1));
    }
    if (boxes.length === 0) return [];
    const left = Math.min(...boxes.map((box) => box.left));
    return [{ text: cell.innerText, left, right: Math.max(...boxes.map((box) => box.right)) }];
  });
  return spans.slice(1).flatMap((span, index) => {
    const before = spans[index];
    return span.left - before.right < 4 ? [before.text + '|' + span.text] : [];
  });
})`;

/*
 * The whole program over mocks of both services, with one appliance that fails and one series without a licence:
 * what the README shows. `SCREENSHOTS` names the folder that `npm run pictures` keeps them in.
 */
test.skipIf(withoutChromium)(
  'the status page of the whole program is pictured in light and dark, and holds no secret',
  async () => {
    const mocks = await startMockServices({ clock: systemClock });
    onTestFinished(() => mocks.close());
    const [, , third] = mocks.fleet.appliances;
    mocks.fail({ kind: 'status', status: 500, serial: third?.serial ?? '' });
    mocks.fail({ kind: 'status', status: 403, operation: 'file_iq_disk_iops' });
    const own = { PORTAL_INTERVAL: '1m', PORTAL_DISCOVERY_INTERVAL: '15m', PORTAL_SERIES: STANDARD_SERIES.join() };
    const program = start([], { environment: { ...gfaEnvironment(mocks), ...portalEnvironment(mocks), ...own } });
    const url = await program.serving();
    const told = async () => JSON.parse((await get(`${url}/api/v1/status`)).text) as StatusReport;
    await until('a whole round', async () => {
      const { apis, appliances } = await told();
      const ended = apis.every(({ sweepSeconds }) => sweepSeconds !== null);
      return ended && appliances.length === 12 && appliances.every(({ state }) => state !== 'waiting');
    });
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    const folder = process.env.SCREENSHOTS ?? temporaryDirectory();
    mkdirSync(folder, { recursive: true });
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width: 1440, height: 1060 };
      const { page, complaints } = await open(browser, `${url}/status`, { colorScheme, viewport });
      const path = join(folder, `status-${colorScheme}.png`);
      await page.screenshot({ path });
      expect(statSync(path).size).toBeGreaterThan(SIZE.least);
      expect(statSync(path).size).toBeLessThan(SIZE.most);
      const folds = page.locator('details');
      expect(await folds.count()).toBeGreaterThan(1);
      await page.evaluate(`document.querySelectorAll('details').forEach((each) => { each.open = true; })`);
      expect(await page.locator('details[open] table, details[open] dl').count()).toBe(await folds.count());
      expect(await page.evaluate(TOUCHING)).toEqual([]);
      const tokens = mocks.requests.flatMap(({ headers }) => headers.authorization?.replace('Bearer ', '') ?? []);
      const secrets = new Set([...tokens, ...Object.values(mocks.credentials)].filter((text) => text !== ''));
      expect(secrets.size).toBeGreaterThan(3);
      const texts = [await page.content(), JSON.stringify(await told()), ...complaints];
      expect([...secrets].filter((secret) => texts.some((text) => text.includes(secret)))).toEqual([]);
    }
  },
  150_000,
);

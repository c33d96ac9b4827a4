import { describe, expect, test } from 'vitest';
import { StatusDocuments, statusJson } from '../../src/pages/status-documents.ts';
import { statusPage } from '../../src/pages/status-page.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import type { StatusReport } from '../../src/status/model.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { largeFleet, reportOf, textOf } from './reports.ts';

describe('the status', () => {
  test('as JSON is the report, whatever its size', async () => {
    for (const size of [0, 1, 100, 101, 250]) {
      const report = reportOf({ appliances: largeFleet(size) });
      expect(JSON.parse(await textOf(runToEnd(statusJson(report))))).toEqual(report);
    }
  });

  test('is looked through once for all who ask within a second, in either form', async () => {
    const clock = new ManualClock();
    let looked = 0;
    const status = new StatusDocuments(async () => {
      looked += 1;
      return reportOf();
    }, clock);
    const [first, again, json] = await Promise.all([status.page(), status.page(), status.json()]);
    expect(first).toBe(again);
    expect(JSON.parse(await textOf(json))).toEqual(reportOf());
    await clock.advance(999);
    await status.json();
    expect(looked).toBe(1);
    await clock.advance(1);
    expect(await status.page('show=down')).not.toBe(first);
    expect(await textOf(await status.page('show=down'))).toContain('No appliance is down.');
    expect(looked).toBe(2);
  });

  test('that could not be made is made anew for who asks later', async () => {
    const clock = new ManualClock();
    let broken = true;
    const status = new StatusDocuments(async () => {
      if (broken) throw new Error('a defect');
      return reportOf();
    }, clock);
    await expect(status.page()).rejects.toThrow('a defect');
    broken = false;
    await clock.advance(1_000);
    expect(await textOf(await status.page())).toContain('<h1>Status</h1>');
  });

  test.each([
    ['a page', (report: StatusReport) => statusPage(report, { script: '' })],
    ['JSON', statusJson],
  ])('of 2,000 appliances as %s can be interrupted every hundred of them', (_, make) => {
    const work = make(reportOf({ appliances: largeFleet(2_000) }));
    let steps = 0;
    while (!work.next().done) steps += 1;
    expect(steps).toBe(20);
  });
});

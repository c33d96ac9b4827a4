import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startStandIn } from '../../src/demo/stand-in.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { gfaEnvironment, portalEnvironment } from '../support/live.ts';
import { start } from '../support/program.ts';
import { Scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';
import { prometheusReceiver } from './receivers.ts';

const ended: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

test('the program sends the minutes of each series, and exposes none of these series itself', async () => {
  const receiver = await prometheusReceiver('prometheus', mkdtempSync(join(tmpdir(), 'history-')));
  ended.push(() => receiver.kill());
  await receiver.start();
  const standIn = await startStandIn({ clock: systemClock, appliances: 2 });
  ended.push(() => standIn.close());
  const program = start([], {
    environment: {
      ...gfaEnvironment(standIn),
      ...portalEnvironment(standIn),
      REMOTE_WRITE_URL: `${receiver.url}/api/v1/write`,
      REMOTE_WRITE_LABELS: 'job=filer-exporter,instance=here:9989',
    },
  });
  const url = await program.serving();
  const now = Date.now();
  const points = await until('minutes of both appliances', async () => {
    const held = await receiver.points(now - 3_600_000, now);
    return [...held.keys()].filter((series) => series.includes('cpu_utilization')).length === 2 && held;
  });
  for (const [, minutes] of points) expect(minutes.size).toBeGreaterThan(5);
  const moment = new Scrape(await (await fetch(`${url}/metrics`)).text());
  expect(moment.all('filer_appliance_cpu_utilization_ratio')).toEqual([]);
  expect(moment.all('filer_appliance_series_timestamp_seconds').length).toBeGreaterThan(0);
  expect(moment.sum('filer_appliance_up')).toBe(2);
  expect(moment.value('filer_exporter_remote_write_points_total')).toBeGreaterThan(50);
  expect(moment.sum('filer_exporter_remote_write_dropped_points_total')).toBe(0);
  const newest = moment.value('filer_exporter_remote_write_newest_timestamp_seconds') ?? 0;
  expect(now / 1000 - newest).toBeLessThan(900);
});

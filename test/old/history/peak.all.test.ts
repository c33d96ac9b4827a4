import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeRequest } from '../../src/history/write-request.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { MINUTE, World } from '../harness/world.ts';
import { going } from '../support/mock-api.ts';
import { root, temporaryDirectory } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';
import { peakPicture } from './peak-picture.ts';
import { prometheusReceiver } from './receivers.ts';

const isLeftOut = !hasPrometheus && process.env.REQUIRE_PROMETHEUS !== '1';

const START = Date.UTC(2026, 2, 2, 9);
const END = START + 120 * MINUTE;
const METRIC = 'filer_appliance_cpu_utilization_ratio';
/** An appliance reports some minutes late. */
const DELAY_MS = 2 * MINUTE;
/** The two minutes of the peak: none of them is the newest one of an answer. */
const PEAK = [START + 72 * MINUTE, START + 73 * MINUTE];

/** CPU in percent: calm, but for the peak. */
function cpuAt(minute: number): number {
  const calm = 16 + 5 * Math.sin(minute / (17 * MINUTE)) + 3 * Math.sin(minute / (2.3 * MINUTE));
  return PEAK.includes(minute) ? 97 : Math.round(100 * calm) / 100;
}

/** What the portal answers: the minutes of the last quarter of an hour. */
function answerAt(now: number): object {
  const newest = Math.floor((now - DELAY_MS) / MINUTE) * MINUTE;
  const minutes = Array.from({ length: 13 }, (_, index) => newest - (12 - index) * MINUTE);
  return { items: minutes.map((time) => ({ time, cpu_usage: String(cpuAt(time)) })) };
}

test.skipIf(isLeftOut)(
  'a peak of two minutes is missed by scraping each minute, and remote write has it at its own time',
  async () => {
    const prometheus = await prometheusReceiver('prometheus', temporaryDirectory());
    await prometheus.start();
    onTestFinished(() => prometheus.kill());
    const world: World = await World.begin({
      appliances: 1,
      series: ['cpu_utilization'],
      at: START,
      environment: { PORTAL_COLLECTORS: 'telemetry' },
      receiver: (...request) => world.clock.holds(prometheus.send(...request)),
      later: true,
    });
    world.edits({ path: /cpu_utilization$/, change: () => answerAt(world.clock.now()) });
    await world.starts();
    while (world.clock.now() < END) {
      const now = world.clock.now();
      // A scrape: each series as it is exposed now, at the time of the scrape.
      const { scrape } = await world.passes(MINUTE);
      const series = scrape.all(METRIC).map(({ labels, value }) => {
        const all = Object.entries({ ...labels, job: 'filer-exporter', __name__: METRIC });
        return { labels: all.toSorted(), times: [now], values: [value] };
      });
      expect(series).toHaveLength(1);
      expect(await prometheus.send({}, runToEnd(writeRequest(series)), going)).toMatchObject({ status: 204 });
    }

    const held = [...(await prometheus.points(START, END - 10 * MINUTE))];
    const pointsOf = (job: string) => held.find(([series]) => series.includes(`job=${job},`))?.[1] ?? new Map();
    const [scraped, sent] = [pointsOf('filer-exporter'), pointsOf('filer-exporter-minutes')];
    expect(scraped.size).toBeGreaterThan(100);
    expect(Math.max(...scraped.values())).toBeLessThan(0.3);
    const high = [...sent].filter(([, value]) => value > 0.3);
    expect(high).toEqual(PEAK.map((minute) => [minute, 0.97]));
    // `npm run pictures` writes it anew.
    await expect(peakPicture(scraped, sent)).toMatchFileSnapshot(join(root, 'docs', 'images', 'peak.svg'));
  },
);

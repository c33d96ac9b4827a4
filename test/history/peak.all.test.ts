import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeRequest } from '../../src/history/write-request.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { root, temporaryDirectory } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';
import { peakPicture } from './peak-picture.ts';
import { LABELS, MINUTE_MS, PortalPlay } from './portal-play.ts';
import { prometheusReceiver } from './receivers.ts';

const isLeftOut = !hasPrometheus && process.env.REQUIRE_PROMETHEUS !== '1';

const START = Date.UTC(2026, 2, 2, 9);
const END = START + 120 * MINUTE_MS;
const METRIC = 'filer_appliance_cpu_utilization_ratio';
/** An appliance reports some minutes late. */
const DELAY_MS = 2 * MINUTE_MS;
/** The two minutes of the peak: none of them is the newest one of an answer. */
const PEAK = [START + 70 * MINUTE_MS, START + 71 * MINUTE_MS];

/** CPU in percent: calm, but for the peak. */
function cpuAt(minute: number): number {
  const calm = 16 + 5 * Math.sin(minute / (17 * MINUTE_MS)) + 3 * Math.sin(minute / (2.3 * MINUTE_MS));
  return PEAK.includes(minute) ? 97 : Math.round(100 * calm) / 100;
}

/** What the portal answers: the minutes of the last quarter of an hour. */
function answerAt(now: number): string {
  const newest = Math.floor((now - DELAY_MS) / MINUTE_MS) * MINUTE_MS;
  const minutes = Array.from({ length: 13 }, (_, index) => newest - (12 - index) * MINUTE_MS);
  return JSON.stringify({ items: minutes.map((time) => ({ time, cpu_usage: String(cpuAt(time)) })) });
}

test.skipIf(isLeftOut)(
  'a peak of two minutes is missed by scraping each minute, and remote write has it at its own time',
  async () => {
    const prometheus = await prometheusReceiver('prometheus', temporaryDirectory());
    await prometheus.start();
    onTestFinished(() => prometheus.kill());
    const play = await PortalPlay.begin({
      appliances: 1,
      series: ['cpu_utilization'],
      start: START,
      send: prometheus.send,
    });
    onTestFinished(() => play.close());
    const { signal } = new AbortController();
    let lift = () => {};
    for (let now = START; now < END; now += MINUTE_MS) {
      lift();
      lift = play.mocks.fail({ kind: 'body', operation: 'cpu_utilization', body: answerAt(now) });
      if ((now - START) % (5 * MINUTE_MS) === 0) {
        await play.poll();
        await play.remote.flush(signal);
      }
      // A scrape: each series as it is exposed now, at the time of the scrape.
      const series = [...play.exposed.values()].flat().flatMap(({ name, labels, value }) => {
        const all = Object.entries({ ...LABELS, ...labels, job: 'filer-exporter', __name__: name });
        return name === METRIC ? [{ labels: all.toSorted(), times: [now], values: [value] }] : [];
      });
      expect(series).toHaveLength(1);
      expect(await prometheus.send({}, runToEnd(writeRequest(series)), signal)).toMatchObject({ status: 204 });
      await play.clock.advance(MINUTE_MS);
    }

    const held = [...(await prometheus.points(START, END - 10 * MINUTE_MS))];
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

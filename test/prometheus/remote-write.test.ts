import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Send } from '../../src/history/sender.ts';
import { HEADERS, writeRequest } from '../../src/history/write-request.ts';
import { Fleet, HOUR, MINUTE, START } from '../harness/history-fleet.ts';
import { type Prometheus, startPrometheus } from '../harness/prometheus.ts';
import { keyOf, status } from '../harness/receiver.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { hasTool } from '../harness/tools.ts';

const WINDOW = 'storage: { tsdb: { out_of_order_time_window: 6h } }\n';
const going = new AbortController().signal;

const start = (folder: string) =>
  startPrometheus(folder, '--web.enable-remote-write-receiver', '--storage.tsdb.retention.time=50y');

/** A Prometheus in a folder of its own, and a fleet that sends to it. */
class Played {
  readonly #folder: string;
  #prometheus: Prometheus;
  /** Whether responses of the receiver are replaced by 504. */
  losesResponses = false;
  readonly fleet = new Fleet({ tasks: 4 }, async (...request) => {
    const response = await this.#sendReally(...request);
    return this.losesResponses ? status(504) : response;
  });

  private constructor(folder: string, prometheus: Prometheus) {
    this.#folder = folder;
    this.#prometheus = prometheus;
  }

  static async begin(configuration: string): Promise<Played> {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, 'prometheus.yml'), configuration);
    return new Played(folder, await start(folder));
  }

  async restart(): Promise<void> {
    this.#prometheus = await start(this.#folder);
  }

  stop(): Promise<void> {
    return this.#prometheus.stop();
  }

  /** Time passes, and the Prometheus scrapes every five minutes, so that its newest point is of now. */
  async passes(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 5 * MINUTE) {
      const up = { labels: [['__name__', 'up']] as const, points: [{ at: this.fleet.clock.now(), value: 1 }] };
      await this.#sendReally([up], going).catch(() => {});
      await this.fleet.passes(5 * MINUTE);
    }
  }

  async #sendReally(...[series]: Parameters<Send>) {
    const request = { method: 'POST', headers: HEADERS, body: writeRequest(series) };
    const response = await fetch(this.#prometheus.writeUrl, request);
    return status(response.status, await response.text());
  }

  /** The minutes that the Prometheus lacks. */
  async missing(): Promise<number> {
    const end = this.fleet.clock.now();
    const range = Math.ceil((end - START + HOUR) / 1000);
    const query = new URLSearchParams({ query: `{job="minutes"}[${range}s]`, time: String(end / 1000) });
    const { result } = (await this.#prometheus.get(`query?${query}`)) as {
      readonly result: readonly { metric: Record<string, string>; values: [number, string][] }[];
    };
    for (const { metric, values } of result) {
      const points = values.map(([time, value]) => [Math.round(time * 1000), Number(value)] as const);
      this.fleet.receiver.series.set(keyOf(Object.entries(metric)), new Map(points));
    }
    expect(this.fleet.receiver.series.size).toBeGreaterThan(0);
    return this.fleet.missing();
  }
}

describe.runIf(hasTool('prometheus')).each([
  ['with an out-of-order window of six hours', WINDOW, [0, 0]],
  ['with an out-of-order window of half an hour', WINDOW.replace('6h', '30m'), [60, 120]],
  ['without an out-of-order window', '', [60, 85]],
])('a Prometheus %s', (_, configuration, [least = 0, most = 0]) => {
  test('is away for two hours: every minute is there that it accepts, and the others are counted', async () => {
    const played = await Played.begin(configuration);
    await played.passes(HOUR);
    await played.stop();
    await played.passes(2 * HOUR);
    await played.restart();
    await played.passes(HOUR);
    const missing = await played.missing();
    expect(missing / 4).toBeGreaterThanOrEqual(least);
    expect(missing / 4).toBeLessThanOrEqual(most);
    expect(played.fleet.counted).toBe(missing);
  });

  test('loses responses, and the exporter is killed three times: every minute is there, and none is counted', async () => {
    const played = await Played.begin(configuration);
    const { fleet } = played;
    for (let kills = 0; kills < 3; kills += 1) {
      await played.passes(30 * MINUTE);
      played.losesResponses = true;
      await fleet.passes(MINUTE);
      played.losesResponses = false;
      await played.passes(5 * MINUTE);
      const { state } = fleet;
      await fleet.passes(MINUTE);
      await fleet.restarts(MINUTE, state);
    }
    await played.passes(HOUR);
    expect(await played.missing()).toBe(0);
    expect(fleet.counted).toBe(0);
  });
});

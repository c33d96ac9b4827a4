// Only here: an exposition that Prometheus reads otherwise than we do.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoCatalog } from '../support/demo-catalog.ts';
import { get, scrape } from '../support/live.ts';
import { end, launch, type Program } from '../support/program.ts';
import { hasPrometheus, type Prometheus, type Relay, startPrometheus, startRelay } from '../support/prometheus.ts';
import { until } from '../support/until.ts';

/*
 * A real Prometheus reads the demo in both formats. Where it is not installed this is skipped, unless REQUIRE_PROMETHEUS
 * is set: then that is a failure.
 */

const isRequired = Boolean(process.env.REQUIRE_PROMETHEUS);

test.runIf(isRequired)('prometheus and promtool are installed, as REQUIRE_PROMETHEUS asks', () => {
  expect(hasPrometheus).toBe(true);
});

describe.runIf(hasPrometheus)('the demo', () => {
  let demo: Program;
  let url: string;

  beforeAll(async () => {
    demo = launch(['--demo', '--trouble'], {});
    url = await demo.serving();
    await until('every metric', async () => {
      const { types } = await scrape(url);
      return demoCatalog.every(({ name }) => types.has(name));
    });
  });

  afterAll(() => end(demo));

  test('is an exposition in which promtool finds no fault', async () => {
    const { text } = await get(`${url}/metrics`);
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  describe('scraped by Prometheus', () => {
    let directory: string;
    const relays: Record<'text' | 'openmetrics', Relay | undefined> = { text: undefined, openmetrics: undefined };
    let prometheus: Prometheus;

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'filer-exporter-test-'));
      // Prometheus 2.42 prefers OpenMetrics to everything; somebody in between has to ask for the text format.
      relays.text = await startRelay(url, 'text/plain;version=0.0.4');
      relays.openmetrics = await startRelay(url);
      const { text, openmetrics } = relays;
      prometheus = await startPrometheus(directory, { text: text.address, openmetrics: openmetrics.address });
      await until('both targets to have been scraped', async () => {
        const targets = await prometheus.targets();
        return targets.length === 2 && targets.every(({ health }) => health !== 'unknown');
      });
    });

    afterAll(async () => {
      prometheus.child.kill('SIGKILL');
      await new Promise((resolve) => prometheus.child.once('close', resolve));
      for (const relay of Object.values(relays)) relay?.close();
      rmSync(directory, { recursive: true, force: true });
    });

    test.each([
      ['text', 'text/plain; version=0.0.4; charset=utf-8'],
      ['openmetrics', 'application/openmetrics-text; version=1.0.0; charset=utf-8'],
    ] as const)('as %s: it is up, and every sample sent is a sample stored', async (job, contentType) => {
      expect(await prometheus.targets()).toMatchObject([{ lastError: '' }, { lastError: '' }]);
      expect(relays[job]?.contentType).toBe(contentType);
      await until(`all samples of the latest scrape as ${job}`, async () => {
        const [up] = await prometheus.query(`up{job="${job}"}`);
        const [scraped] = await prometheus.query(`scrape_samples_scraped{job="${job}"}`);
        const [stored] = await prometheus.query(`scrape_samples_post_metric_relabeling{job="${job}"}`);
        const sent = String(relays[job]?.samples);
        return up?.value[1] === '1' && scraped?.value[1] === sent && stored?.value[1] === sent;
      });
    });

    test('both formats give every family, the same series, and no complaint', async () => {
      const namesOf = async (job: string) => {
        const results = await prometheus.query(`count by (__name__) ({job="${job}", __name__=~"filer_.+"})`);
        return results.map(({ metric }) => metric.__name__ ?? '').toSorted();
      };
      const names = await namesOf('text');
      expect(await namesOf('openmetrics')).toEqual(names);
      for (const { name, type } of demoCatalog) expect(names).toContain(type === 'histogram' ? `${name}_bucket` : name);
      // Labels too, bounds of buckets among them.
      for (const name of [
        'filer_volume_info',
        'filer_propagation_duration_seconds_bucket',
        'filer_lock_events_total',
      ]) {
        const [text, openmetrics] = [`${name}{job="text"}`, `${name}{job="openmetrics"}`];
        expect(await prometheus.query(`${text} unless ignoring(job, instance) ${openmetrics}`)).toEqual([]);
      }
      expect(prometheus.log.split('\n').filter((line) => /level=(?:warn|error)/.test(line))).toEqual([]);
    });

    test('the values answer what a dashboard would ask', async () => {
      const quantile = 'histogram_quantile(0.9, sum by (le) (filer_propagation_duration_seconds_bucket{job="text"}))';
      const [slow] = await prometheus.query(quantile);
      expect(Number(slow?.value[1])).toBeGreaterThan(0);
      const [busy] = await prometheus.query('avg(filer_appliance_cpu_utilization_ratio{job="openmetrics"})');
      expect(Number(busy?.value[1])).toBeGreaterThan(0);
      const [age] = await prometheus.query('max(time() - filer_exporter_last_success_timestamp_seconds)');
      expect(Number(age?.value[1])).toBeLessThan(120);
    });
  });
});

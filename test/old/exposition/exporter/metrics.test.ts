import { describe, expect, test } from 'vitest';
import { ExporterMetrics } from '../../../src/exposition/exporter/metrics.ts';
import { exporterFamilies } from '../../../src/exposition/exporter/table.ts';
import { gfaOwnMetrics } from '../../../src/services/gfa/own-metrics.ts';
import type { ExporterStatus } from '../../../src/status/model.ts';
import { api } from '../../pages/reports.ts';
import { type ParsedFamily, parseExposition } from '../../support/exposition-parser.ts';

const build = { version: '1.2.3', revision: 'abc "def"', node_version: 'v20.20.2' };

const portal = api({
  pace: { requestsPerSecond: 16.5, sustainedRequestsPerSecond: 16.5, waitUntil: null, throttled: false },
  budgetRemaining: 999_000,
  lastSuccess: '2026-03-02T10:00:00.500Z',
  sweepSeconds: 281,
  intervalSeconds: 240,
  suspended: [
    { operation: 'cow_disk_iops', reason: 'empty', tasks: 5 },
    { operation: 'smb_connections', reason: 'empty', tasks: 2 },
  ],
  inventoryGaps: [{ list: 'edges', reason: 'forbidden', happened: 'h', advice: 'a' }],
  tasks: { total: 31, suspended: 7, overdue: 3 },
  dataAge: { medianSeconds: 140, worstSeconds: 290.5, computedWorstSeconds: 450 },
});
const gfa = api({
  ...portal,
  api: 'gfa',
  state: 'down',
  downReason: 'timeout',
  budgetRemaining: null,
  limits: { ...portal.limits, requestsPerDay: null },
});
const before = api({
  ...portal,
  state: 'waiting',
  budgetRemaining: null,
  lastSuccess: null,
  sweepSeconds: null,
  dataAge: { ...portal.dataAge, medianSeconds: null, worstSeconds: null },
});
const reading: ExporterStatus = {
  apis: [portal, gfa],
  samples: 12,
  warnings: [{ api: 'portal', warning: 'inventory', happened: 'h', advice: 'a' }],
  own: new Map(gfaOwnMetrics.map(({ name }) => [name, 2])),
  closed: new Map([['limit', 1]]),
  web: { isGood: true, lastSuccessSeconds: 1_700_000_000, hasTls: true, hasAuth: true, expirySeconds: 1_800_000_000 },
  remoteWrite: {
    sent: 40,
    dropped: new Map([['duplicate', 2]]),
    responses: new Map([['204', 3]]),
    newestSeconds: 1_772_445_600,
    lost: new Map([['catch_up', 60]]),
    waiting: 5,
  },
};

/** The metrics after some use. */
function used(): ExporterMetrics {
  const own = new ExporterMetrics(build, ['portal', 'gfa'], gfaOwnMetrics);
  const requests = own.requestsOf('portal');
  requests.onStart('serials');
  requests.onStart('cpu_utilization');
  requests.onThrottle();
  requests.onEnd('serials', '429', 0.2);
  own.dropped('portal', 'invalid', 3);
  return own;
}

async function rendered(
  own: ExporterMetrics,
  format: 'text' | 'openmetrics' = 'text',
  of = reading,
): Promise<ParsedFamily[]> {
  const text = await own.render(format, of);
  return parseExposition(format === 'openmetrics' ? `${text}# EOF\n` : text, format);
}

/** Each series of a metric as its labels' values and its number. */
function seriesOf(families: readonly ParsedFamily[], name: string): string[] {
  const family = families.find((each) => each.name === name);
  return (family?.samples ?? []).map(({ labels, value }) => [...Object.values(labels), value].join(' '));
}

describe('what the exporter says about itself', () => {
  test.each(['text', 'openmetrics'] as const)('has every metric of the table after some use, as %s', async (format) => {
    const families = await rendered(used(), format);
    for (const row of exporterFamilies(gfaOwnMetrics)) {
      const name = format === 'openmetrics' && row.type === 'counter' ? row.name.replace(/_total$/, '') : row.name;
      const family = families.find((each) => each.name === name);
      expect(family, row.name).toMatchObject({ help: row.help, type: row.type });
      expect(family?.unit).toBe(format === 'openmetrics' ? row.unit : undefined);
      const { le: _, ...labels } = family?.samples[0]?.labels ?? {};
      expect(new Set(Object.keys(labels))).toEqual(new Set<string>(row.labels));
    }
  });

  test('has Node’s own metrics too, without those whose names lie about their type', async () => {
    const names = (await rendered(used(), 'openmetrics')).map(({ name }) => name);
    const some = ['process_cpu_seconds', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds'];
    expect(names).toEqual(expect.arrayContaining([...some, 'nodejs_version_info']));
    expect(names.filter((name) => name.endsWith('_total'))).toEqual([]);
  });

  test('before any poll is what is running, and that no API answers', async () => {
    const own = new ExporterMetrics(build, ['portal', 'gfa'], gfaOwnMetrics);
    const families = await rendered(own, 'text', {
      apis: [before, { ...before, api: 'gfa' }],
      own: new Map(),
      samples: 0,
      warnings: [],
    });
    expect(seriesOf(families, 'filer_api_up')).toEqual(['portal 0', 'gfa 0']);
    expect(families.find(({ name }) => name === 'filer_exporter_build_info')?.samples).toEqual([
      { name: 'filer_exporter_build_info', labels: build, value: 1 },
    ]);
    expect(seriesOf(families, 'filer_exporter_requests_in_flight')).toEqual(['portal 0', 'gfa 0']);
    expect(seriesOf(families, 'filer_exporter_throttled_total')).toEqual(['portal 0', 'gfa 0']);
    expect(seriesOf(families, 'filer_exporter_samples_dropped_total')).toHaveLength(12);
    const absent = [
      'last_success_timestamp_seconds',
      'sweep_duration_seconds',
      'daily_budget_remaining',
      'requests_total',
    ];
    for (const name of absent) expect(families.map((family) => family.name)).not.toContain(`filer_exporter_${name}`);
  });

  test('counts each request once, under what came of it', async () => {
    const families = await rendered(used());
    expect(seriesOf(families, 'filer_exporter_requests_total')).toEqual(['portal serials 429 1']);
    expect(seriesOf(families, 'filer_exporter_requests_in_flight')).toEqual(['portal 1', 'gfa 0']);
    expect(seriesOf(families, 'filer_exporter_throttled_total')).toEqual(['portal 1', 'gfa 0']);
    expect(seriesOf(families, 'filer_exporter_samples_dropped_total')).toContain('portal invalid 3');
    const duration = families.find(({ name }) => name === 'filer_exporter_request_duration_seconds');
    const bounds = duration?.samples.flatMap(({ labels }) => labels.le ?? []);
    expect(bounds).toEqual(['0.05', '0.1', '0.25', '0.5', '1.0', '2.5', '5.0', '10.0', '30.0', '+Inf']);
  });

  test('is of this moment, and the API without a limit has no budget', async () => {
    const own = used();
    await own.render('text', reading);
    const families = await rendered(own, 'text', {
      ...reading,
      apis: [{ ...portal, state: 'down', suspended: [], dataAge: { ...portal.dataAge, worstSeconds: null } }, gfa],
      samples: 13,
    });
    expect(seriesOf(families, 'filer_api_up')).toEqual(['portal 0', 'gfa 0']);
    expect(seriesOf(families, 'filer_exporter_samples')).toEqual(['13']);
    expect(seriesOf(families, 'filer_exporter_tasks_suspended')).toEqual([
      ...['forbidden 0', 'not_found 0', 'rejected 0', 'empty 0'].map((row) => `portal ${row}`),
      ...['forbidden 0', 'not_found 0', 'rejected 0', 'empty 7'].map((row) => `gfa ${row}`),
    ]);
    expect(seriesOf(families, 'filer_exporter_data_age_median_seconds')).toEqual(['portal 140', 'gfa 140']);
    expect(seriesOf(families, 'filer_exporter_data_age_worst_seconds')).toEqual(['gfa 290.5']);
    expect(seriesOf(families, 'filer_exporter_tasks_overdue')).toEqual(['portal 3', 'gfa 3']);
    expect(seriesOf(families, 'filer_exporter_daily_budget_remaining')).toEqual(['portal 999000']);
    expect(seriesOf(families, 'filer_exporter_daily_budget_limit')).toEqual(['portal 1000000']);
    expect(seriesOf(families, 'filer_exporter_configured_interval_seconds')).toEqual(['portal 240', 'gfa 240']);
    expect(seriesOf(families, 'filer_exporter_event_memory_evicted_total')).toEqual(['2']);
  });

  test('is the same to two scrapers at once', async () => {
    const own = used();
    const [one, other] = await Promise.all([rendered(own), rendered(own, 'openmetrics')]);
    expect(seriesOf(one, 'filer_exporter_samples_dropped_total')).toEqual(
      seriesOf(other, 'filer_exporter_samples_dropped'),
    );
  });

  test('belongs to one exporter: two in one process do not know of each other', async () => {
    used();
    expect(seriesOf(await rendered(new ExporterMetrics(build, ['gfa'])), 'filer_exporter_requests_total')).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { metricOfSeries } from '../../grafana/src/catalogue.ts';
import { anyValues, filled } from '../../grafana/src/fill.ts';
import { uids } from '../../grafana/src/places.ts';
import { catalog } from '../../src/catalog.ts';
import { dashboards, everyQuery, queriesOf } from '../support/dashboards.ts';
import { wordsOf } from '../support/metric-facts.ts';
import { namesIn } from '../support/promql.ts';
import { countedByInstance, maxSeries, type Values } from '../support/series-bound.ts';

/** No panel has more, so that a board answers as quickly for two thousand appliances as for twelve. */
const MOST = 50;

/** Two accounts with two exporters each, and what comes with the data but not with the size of the fleet. */
const known: Values = {
  job: 1,
  instance: 2,
  scope: 2,
  code: 10,
  severity: 4,
  type: 6,
  role: 2,
  protocol: 4,
  setting: 3,
  cloud_provider: 6,
  status: 8,
  service: 12,
  kind: 3,
  phase: 3,
  locking: 2,
  group: 4,
  lock_phase: 3,
  lock_state: 3,
  reason: 8,
  outcome: 3,
  api: 2,
  account: 2,
  company: 1,
  location: 1,
  le: 13,
  state: 8,
  direction: 2,
  disk: 4,
  peer: 2,
  window: 3,
  result: 2,
  series: 22,
  resource: 8,
};

/** What the services document is counted, where that is more. */
const documented: Values = Object.fromEntries(
  catalog.flatMap((entry) => Object.entries(wordsOf(entry)).map(([label, all]) => [label, all.length] as const)),
);

const labelsOf = (series: string) => {
  const { metric, part } = metricOfSeries(series);
  // What is recorded of alerts is of no exporter any more.
  const instance = series.startsWith('alert:') ? [] : ['instance'];
  return ['job', ...instance, ...metric.labels, ...(part === '_bucket' ? ['le'] : [])];
};

test.each(dashboards.map((dashboard) => [dashboard.title ?? '', dashboard] as const))(
  'no panel of %s has more than 50 series, however large the fleet is',
  (_title, dashboard) => {
    // The board about one appliance has one chosen.
    const values = { ...documented, ...known, ...(dashboard.uid === uids.appliance ? { filer: 1, serial: 1 } : {}) };
    const sizes = queriesOf(dashboard).map(({ expr, where }) => {
      return [where, maxSeries(filled(expr, { ...anyValues, top: '50' }), labelsOf, values)] as const;
    });
    expect(sizes.filter(([, most]) => most > MOST)).toEqual([]);
  },
);

/** What is about the exporter itself: two of them have each their own. */
const OWN = /^(?:filer_exporter_|filer_api_|filer_gfa_.*timestamp|process_|nodejs_|up$|scrape_)/;

describe('two exporters of one account', () => {
  test('count nothing twice', () => {
    const twice = everyQuery.flatMap(({ expr, where }) => {
      const query = filled(expr, anyValues);
      const own = namesIn(query).selectors.every(({ name = '' }) => OWN.test(name));
      return own ? [] : countedByInstance(query, labelsOf).map((place) => `${where}: ${place}`);
    });
    expect(twice).toEqual([]);
  });

  test.each([
    ['sum by (volume) (rate(filer_lock_events_total[1h]))', 1],
    ['sum by (volume) (max without (instance, pod) (rate(filer_lock_events_total[1h])))', 0],
    ['count(max by (serial) (filer_appliance_info))', 0],
    ['count(filer_appliance_info)', 1],
    ['histogram_quantile(0.9, sum by (le) (rate(filer_lock_duration_seconds_bucket[1h])))', 0],
  ])('%s counts twice in %i places', (query, places) => {
    expect(countedByInstance(query, labelsOf)).toHaveLength(places);
  });
});

describe('the most series that a query gives', () => {
  const of = (query: string) => maxSeries(query, labelsOf, { job: 1, instance: 2, api: 2, disk: 4, direction: 2 });

  test.each([
    ['filer_api_up', 4],
    ['max by (api) (filer_api_up)', 2],
    ['max without (instance) (filer_api_up)', 2],
    ['filer_api_up{api="gfa"}', 2],
    ['max by (disk, direction) (filer_appliance_disk_iops)', 8],
    ['topk(5, max by (filer) (filer_appliance_disk_iops))', 5],
    ['max by (filer) (filer_appliance_up) and topk(5, max by (filer) (filer_appliance_up @ end()))', 5],
    [
      'max by (filer, disk) (filer_appliance_disk_iops) and on (filer) topk(5, max by (filer) (filer_appliance_up))',
      20,
    ],
    ['topk by (disk) (5, filer_appliance_disk_iops)', 20],
    ['topk by (filer) (5, filer_appliance_disk_iops)', Number.POSITIVE_INFINITY],
    ['topk(5, filer_appliance_up) or topk(3, filer_appliance_cpu_cores)', 8],
    ['topk(5, filer_appliance_up) or on () topk(3, filer_appliance_cpu_cores)', 5],
    ['time() - max(filer_last_checkin_timestamp_seconds)', 1],
    ['sum(filer_appliance_up == bool 0)', 1],
    ['max by (filer) (filer_appliance_up)', Number.POSITIVE_INFINITY],
    ['max by (filer) (filer_appliance_up) and filer_appliance_cpu_cores', Number.POSITIVE_INFINITY],
    ['count_values by (api) ("n", filer_appliance_up)', Number.POSITIVE_INFINITY],
  ])('%s: %s', (query, most) => {
    expect(of(query)).toBe(most);
  });
});

import { type CatalogEntry, catalog } from '../../src/catalog.ts';

/** What the queries need to know of a metric, both of the exporter's catalogue and of other programs. */
export type Metric = Pick<CatalogEntry, 'name' | 'type' | 'unit' | 'labels'>;

const gauge = (name: string, unit?: string, labels: readonly string[] = []): Metric => {
  return { name, type: 'gauge', unit, labels };
};

const ofAlert = ['severity', 'filer', 'volume', 'api', 'type', 'resource', 'disk'];

/**
 * Metrics of other programs on the dashboards: those of Prometheus about a scrape and its alerts, and those of Node.js
 * about the process.
 */
export const neighbours: readonly Metric[] = [
  gauge('up'),
  gauge('scrape_duration_seconds', 'seconds'),
  gauge('scrape_samples_scraped'),
  gauge('ALERTS', undefined, ['alertname', 'alertstate', ...ofAlert]),
  gauge('ALERTS_FOR_STATE', 'seconds', ['alertname', ...ofAlert]),
  { name: 'process_cpu_seconds_total', type: 'counter', unit: 'seconds', labels: [] },
  gauge('process_resident_memory_bytes', 'bytes'),
  gauge('process_start_time_seconds', 'seconds'),
  gauge('process_open_fds'),
  gauge('process_max_fds'),
  gauge('nodejs_heap_size_used_bytes', 'bytes'),
  gauge('nodejs_heap_size_total_bytes', 'bytes'),
  gauge('nodejs_external_memory_bytes', 'bytes'),
  gauge('nodejs_eventloop_lag_p50_seconds', 'seconds'),
  gauge('nodejs_eventloop_lag_p99_seconds', 'seconds'),
  { name: 'nodejs_gc_duration_seconds', type: 'histogram', unit: 'seconds', labels: ['kind'] },
];

const filer = ['filer_guid', 'filer'];
const volume = ['volume_guid', 'volume'];

/** The series that the recording rules record; see deploy/prometheus/recording-rules.ts. */
export const recorded: readonly Metric[] = [
  gauge('filer:last_checkin_age:seconds', 'seconds', filer),
  gauge('serial:filer_appliance_series_timestamp_seconds:age', 'seconds', ['serial', 'filer']),
  gauge('job:filer_appliance_info:count'),
  gauge('alert:ALERTS:unexplained_age', 'seconds', ['alertname', 'severity', 'filer', 'volume', 'about']),
  gauge('volume:filer_lock_latest_timestamp_seconds:release_age', 'seconds', volume),
  ...[
    ...['last_checkin_age:seconds', 'oldest_unprotected_data_age:seconds'],
    ...['release_age', 'held_age'].map((name) => `filer_lock_latest_timestamp_seconds:${name}`),
    'filer_propagation_duration_seconds:p90_rate1h',
  ].map((name) => gauge(`volume_filer:${name}`, 'seconds', [...filer, ...volume])),
  gauge('volume_filer:filer_lock_duration_seconds:share_rate1h', 'ratio', [...filer, ...volume]),
  ...[
    ['filer_propagation_duration_seconds', 'kind'],
    ['filer_lock_duration_seconds', 'lock_phase'],
    ['filer_snapshot_time_to_protect_seconds'],
  ].map(([name, ...labels]) => gauge(`volume:${name}_bucket:increase1h`, undefined, [...volume, ...labels, 'le'])),
  gauge('volume_filer:filer_propagation_duration_seconds_count:increase1h', undefined, [...filer, ...volume]),
  gauge('volume:filer_snapshot_propagation_seconds_sum:increase1h', 'seconds', volume),
  gauge('volume:filer_snapshot_propagation_seconds_count:increase1h', undefined, volume),
  gauge('volume:filer_snapshot_phase_duration_seconds_sum:increase1h', 'seconds', [...volume, 'phase']),
  gauge('volume:filer_snapshot_phase_duration_seconds_count:increase1h', undefined, [...volume, 'phase']),
  gauge('volume:filer_lock_events_total:increase1h', undefined, [...volume, 'lock_phase', 'lock_state']),
  gauge('volume_filer:filer_volume_snapshot_status:rank', undefined, ['serial', 'filer', ...volume]),
];

const known: ReadonlyMap<string, Metric> = new Map(
  [...neighbours, ...recorded, ...catalog].map((metric) => [metric.name, metric]),
);

/**
 * Returns the metric of that name. Throws if there is none, because a renamed metric must not leave an empty panel
 * behind.
 */
export function metricNamed(name: string): Metric {
  const metric = known.get(name);
  if (metric === undefined)
    throw new Error(`${name}: no such metric in the catalogue; expected a name from src/ or of a recording rule`);
  return metric;
}

/** The metric that a series belongs to: a histogram's series end in `_bucket`, `_sum` or `_count`. */
export function metricOfSeries(series: string): { readonly metric: Metric; readonly part: string } {
  const part = /_(?:bucket|sum|count)$/.exec(series)?.[0] ?? '';
  const histogram = known.get(series.slice(0, series.length - part.length));
  if (part !== '' && histogram?.type === 'histogram') return { metric: histogram, part };
  const metric = metricNamed(series);
  if (metric.type === 'histogram') throw new Error(`${series}: a histogram; expected its _bucket, _sum or _count`);
  return { metric, part: '' };
}

import { matching, type RecordingRule } from './rule.ts';

/**
 * The time of the last release of the P2 lock. Only one filer holds this lock at a time, so the others wait for its
 * release.
 */
const RELEASED = 'filer_lock_latest_timestamp_seconds{lock_phase="p2",lock_state="released"}';

/** A status of the snapshot of a volume on an appliance, as the number by which statuses are ordered. */
const status = (words: string) => `filer_volume_snapshot_status{status${matching(words)}} == 1`;

/**
 * The histograms whose quantiles dashboards show over time. A large fleet has many buckets: Prometheus rejects a query for
 * all of them over hours. Summed by volume there are few.
 */
const ofVolumes: readonly RecordingRule[] = [
  { histogram: 'filer_propagation_duration_seconds', filer: 'filer_guid, filer' },
  { histogram: 'filer_lock_duration_seconds', filer: 'filer_guid, filer', only: '{lock_phase="p2"}' },
  { histogram: 'filer_snapshot_time_to_protect_seconds', filer: 'serial, filer' },
].map(({ histogram, filer, only = '' }) => ({
  record: `volume:${histogram}_bucket:increase1h`,
  expr: `sum without (${filer}) (increase(${histogram}_bucket${only}[1h]))`,
}));

/**
 * For each snapshot there are a propagation and five phases on each appliance. These are too many buckets, so only the
 * mean is recorded.
 */
const ofSnapshots: readonly RecordingRule[] = [
  'filer_snapshot_propagation_seconds',
  'filer_snapshot_phase_duration_seconds',
]
  .flatMap((histogram) => [`${histogram}_sum`, `${histogram}_count`])
  .map((part) => ({
    record: `volume:${part}:increase1h`,
    expr: `sum without (serial, filer) (increase(${part}[1h]))`,
  }));

/**
 * The totals of the last hour. These are the most expensive rules, and their values change slowly, so they are evaluated
 * less often than the others; Prometheus looks back five minutes, so they are evaluated more often than that.
 */
export const hourRules: readonly RecordingRule[] = [
  {
    record: 'volume_filer:filer_propagation_duration_seconds:p90_rate1h',
    // Without an event in the last hour the quantile is NaN; the comparison removes it.
    expr: 'histogram_quantile(0.9, sum without (kind) (rate(filer_propagation_duration_seconds_bucket[1h]))) >= 0',
  },
  {
    record: 'volume_filer:filer_propagation_duration_seconds_count:increase1h',
    expr: 'sum without (kind) (increase(filer_propagation_duration_seconds_count[1h]))',
  },
  {
    record: 'volume_filer:filer_lock_duration_seconds:share_rate1h',
    expr: 'sum without (lock_phase) (rate(filer_lock_duration_seconds_sum{lock_phase="p2"}[1h]))',
  },
  {
    record: 'volume:filer_lock_events_total:increase1h',
    expr: 'sum without (filer_guid, filer) (increase(filer_lock_events_total[1h]))',
  },
  ...ofVolumes,
  ...ofSnapshots,
];

/** The rules about the present state. */
export const momentRules: readonly RecordingRule[] = [
  {
    record: 'volume_filer:filer_lock_latest_timestamp_seconds:release_age',
    expr: `time() - sum without (lock_phase, lock_state) (${RELEASED})`,
  },
  {
    record: 'volume:filer_lock_latest_timestamp_seconds:release_age',
    expr: 'min without (filer_guid, filer) (volume_filer:filer_lock_latest_timestamp_seconds:release_age)',
  },
  {
    record: 'volume_filer:filer_lock_latest_timestamp_seconds:held_age',
    // The lock is still held only if the newest event is an acquisition.
    expr: [
      'time() - sum without (lock_phase, lock_state) (',
      '  filer_lock_latest_timestamp_seconds{lock_phase="p2",lock_state="acquired"}',
      '  and filer_lock_state{lock_phase="p2",lock_state="acquired"} == 1',
      ')',
    ].join('\n'),
  },
  {
    record: 'volume_filer:last_checkin_age:seconds',
    expr: 'time() - filer_volume_last_checkin_timestamp_seconds',
  },
  {
    record: 'filer:last_checkin_age:seconds',
    // Contact is the newest check-in of the filer, on its own or on any volume.
    expr: [
      'time() - max without (volume_guid, volume) (',
      '  filer_last_checkin_timestamp_seconds or filer_volume_last_checkin_timestamp_seconds',
      ')',
    ].join('\n'),
  },
  {
    record: 'volume_filer:oldest_unprotected_data_age:seconds',
    expr: 'time() - filer_oldest_unprotected_data_timestamp_seconds',
  },
  {
    record: 'job:filer_appliance_info:count',
    // By serial, so that the count is right for two exporters of one account and for shards.
    expr: [
      'count without (serial, filer) (',
      '  max without (instance, pod, type, build, available_build) (filer_appliance_info)',
      ')',
    ].join('\n'),
  },
  {
    record: 'serial:filer_appliance_series_timestamp_seconds:age',
    expr: 'time() - max without (series) (filer_appliance_series_timestamp_seconds)',
  },
  {
    record: 'volume_filer:filer_volume_snapshot_status:rank',
    // The ranks, from good to bad: done, under way, cancelled or another, failed.
    expr: [
      'max without (status) (',
      `  0 * (${status('idle|succeeded|up_to_date')})`,
      `  or (${status('pending|in_progress')})`,
      `  or 2 * (${status('cancelling|cancelled|cancel_rejected|other')})`,
      `  or 3 * (${status('failed')})`,
      ')',
    ].join('\n'),
  },
];

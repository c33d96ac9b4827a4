import type { AlertRule } from '../../../deploy/prometheus/rule.ts';
import { metricOfSeries } from '../catalogue.ts';
import { type Scope, select, unscoped } from '../select.ts';

const hours = (value: string) => [
  [`round((${value} >= 7200) / 3600, 0.1)`, 'hours'],
  [`round((${value} < 7200) / 60)`, 'minutes'],
];

/** How a number becomes text: each kind has one unit, but for times. */
const texts = {
  time: hours,
  age: (value: string) => hours(`(time() - ${value})`),
  oldest: (value: string) => hours(`(time() - ${value})`),
  milliseconds: (value: string) => [[`round(${value} * 1000)`, 'ms']],
  days: (value: string) => [[`round((${value} - time()) / 86400)`, 'days left']],
  share: (value: string) => [[`round(${value} * 100)`, '%']],
  bytes: (value: string) => [[`round(${value} / 1073741824)`, 'GiB']],
  failed: (value: string) => [[value, 'failed']],
  // An alert stays for a while after its cause.
  late: (value: string) => [[`(${value} > 0)`, 'tasks late']],
} as const;

/** What an alert compares with its threshold, or how long it has been so: the number that says how bad it is. */
const series: Readonly<Record<keyof typeof texts, Readonly<Record<string, readonly string[]>>>> = {
  time: {
    'filer:last_checkin_age:seconds': ['FilerNotCheckingIn'],
    'volume_filer:oldest_unprotected_data_age:seconds': ['FilerDataAtRisk', 'FilerUnprotectedDataOld'],
    'volume_filer:filer_propagation_duration_seconds:p90_rate1h': ['FilerPropagationSlow'],
    'volume_filer:filer_lock_latest_timestamp_seconds:held_age': ['FilerLockHeldTooLong'],
    'serial:filer_appliance_series_timestamp_seconds:age': ['FilerApplianceDataOld'],
    filer_exporter_effective_interval_seconds: ['FilerExporterIntervalStretched'],
  },
  age: {
    filer_exporter_last_success_timestamp_seconds: ['FilerApiDown', 'FilerApiTokenRefused'],
    filer_appliance_last_record_timestamp_seconds: [
      'FilerApplianceDown',
      'FilerApplianceNotReporting',
      'FilerApplianceTelemetryFailing',
    ],
    filer_appliance_last_seen_timestamp_seconds: ['FilerApplianceUnreachable'],
    filer_volume_last_snapshot_timestamp_seconds: ['FilerSnapshotOld'],
    filer_exporter_remote_write_newest_timestamp_seconds: ['FilerExporterRemoteWriteLagging'],
    // Of what was never polled there is no last time.
    ALERTS_FOR_STATE: [
      'FilerApiDown',
      'FilerApplianceDown',
      'FilerApplianceNotReporting',
      'FilerApplianceTelemetryFailing',
    ],
  },
  oldest: { filer_job_oldest_unfinished_timestamp_seconds: ['FilerJobUnfinished'] },
  milliseconds: { filer_appliance_disk_io_latency_seconds: ['FilerApplianceDiskLatencyHigh'] },
  days: {
    filer_license_expiry_timestamp_seconds: ['FilerLicenseUrgent', 'FilerLicenseRunningOut'],
    filer_iam_next_key_expiry_timestamp_seconds: ['FilerKeyExpiring'],
    filer_exporter_web_certificate_expiry_timestamp_seconds: [
      'FilerExporterCertificateUrgent',
      'FilerExporterCertificateEnding',
    ],
  },
  share: {
    filer_appliance_cpu_utilization_ratio: ['FilerApplianceCpuHigh'],
    filer_appliance_memory_utilization_ratio: ['FilerApplianceMemoryHigh'],
    filer_appliance_cache_utilization_ratio: ['FilerApplianceCacheNearlyFull'],
  },
  bytes: { filer_volume_unprotected_bytes: ['FilerUnprotectedDataLarge'] },
  failed: {
    filer_jobs_failed_unacknowledged: ['FilerJobFailed'],
    filer_cloud_credentials_with_error: ['FilerCloudCredentialFailing'],
  },
  late: { filer_exporter_tasks_overdue: ['FilerExporterDataOld'] },
};

/** How several numbers of one alert become one: of two exporters both count the same. */
function together(kind: keyof typeof texts, by: string, query: string): string {
  if (kind === 'failed') return `sum by (${by}) (max without (instance, pod) (${query}))`;
  return `${kind === 'oldest' || kind === 'days' ? 'min' : 'max'} by (${by}) (${query})`;
}

/**
 * The numbers of these alerts as the label `how_bad`: one column takes numbers of several units as text alone.
 */
export function numbersOf(alerts: readonly AlertRule[], scope: Scope): string {
  const kinds = Object.keys(texts) as (keyof typeof texts)[];
  const written = kinds.flatMap((kind) => {
    const of = Object.entries(series[kind]).flatMap(([name, named]) =>
      named.filter((alert) => alerts.some((rule) => rule.alert === alert)).map((alert) => ({ name, alert })),
    );
    if (of.length === 0) return [];
    const values = of.map(({ name, alert }) => {
      const own: Readonly<Record<string, string>> = name === 'ALERTS_FOR_STATE' ? { alertname: `="${alert}"` } : {};
      const one = select(name, { ...unscoped(name, scope), ...own });
      return together(kind, labelsOf([name]), `label_replace(${one}, "alertname", "${alert}", "", "")`);
    });
    const by = labelsOf(of.map(({ name }) => name));
    return texts[kind](`(${values.join(' or ')})`).map(
      ([value, unit]) =>
        `label_replace(count_values by (${by}) ("number", ${value}), "how_bad", "$1 ${unit}", "number", "(.*)")`,
    );
  });
  return `(${written.join(' or ')})`;
}

/** What tells the numbers of these series apart. */
function labelsOf(names: readonly string[]): string {
  const has = names.flatMap((name) => metricOfSeries(name).metric.labels);
  return ['job', 'alertname', ...['filer', 'volume', 'api', 'type'].filter((label) => has.includes(label))].join(', ');
}

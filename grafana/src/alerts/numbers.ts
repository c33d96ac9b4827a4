import type { AlertRule } from '../../../deploy/prometheus/rule.ts';
import { metricOfSeries } from '../catalogue.ts';
import { type Scope, select, unscoped } from '../select.ts';

/** How a number becomes text: each kind has one unit, but for times. */
const texts = {
  time: (value: string) => [
    [`round((${value} >= 7200) / 3600, 0.1)`, 'hours'],
    [`round((${value} < 7200) / 60)`, 'minutes'],
  ],
  milliseconds: (value: string) => [[`round(${value} * 1000)`, 'ms']],
  days: (value: string) => [[`round((${value} - time()) / 86400)`, 'days left']],
  share: (value: string) => [[`round(${value} * 100)`, '%']],
  bytes: (value: string) => [[`round(${value} / 1073741824)`, 'GiB']],
} as const;

/** What an alert compares with its threshold: the number that says how bad it is. */
const series: Readonly<Record<keyof typeof texts, Readonly<Record<string, readonly string[]>>>> = {
  time: {
    'filer:last_checkin_age:seconds': ['FilerNotCheckingIn'],
    'volume_filer:oldest_unprotected_data_age:seconds': ['FilerDataAtRisk', 'FilerUnprotectedDataOld'],
    'volume_filer:filer_propagation_duration_seconds:p90_rate1h': ['FilerPropagationSlow'],
    'volume_filer:filer_lock_latest_timestamp_seconds:held_age': ['FilerLockHeldTooLong'],
    'serial:filer_appliance_series_timestamp_seconds:age': ['FilerApplianceDataOld'],
  },
  milliseconds: { filer_appliance_disk_io_latency_seconds: ['FilerApplianceDiskLatencyHigh'] },
  days: { filer_license_expiry_timestamp_seconds: ['FilerLicenseUrgent', 'FilerLicenseRunningOut'] },
  share: {
    filer_appliance_cpu_utilization_ratio: ['FilerApplianceCpuHigh'],
    filer_appliance_memory_utilization_ratio: ['FilerApplianceMemoryHigh'],
    filer_appliance_cache_utilization_ratio: ['FilerApplianceCacheNearlyFull'],
  },
  bytes: { filer_volume_unprotected_bytes: ['FilerUnprotectedDataLarge'] },
};

/**
 * The numbers of these alerts as the label `how_bad`: one column takes numbers of several units as text alone. None where no
 * alert of them has a number.
 */
export function numbersOf(alerts: readonly AlertRule[], scope: Scope): string | undefined {
  const kinds = Object.keys(texts) as (keyof typeof texts)[];
  const written = kinds.flatMap((kind) => {
    const of = Object.entries(series[kind]).flatMap(([name, named]) =>
      named.filter((alert) => alerts.some((rule) => rule.alert === alert)).map((alert) => ({ name, alert })),
    );
    if (of.length === 0) return [];
    const values = of.map(
      ({ name, alert }) =>
        `max by (${labelsOf([name])}) (label_replace(${select(name, unscoped(name, scope))}, "alertname", "${alert}", "", ""))`,
    );
    const by = labelsOf(of.map(({ name }) => name));
    return texts[kind](`(${values.join(' or ')})`).map(
      ([value, unit]) =>
        `label_replace(count_values by (${by}) ("number", ${value}), "how_bad", "$1 ${unit}", "number", "(.*)")`,
    );
  });
  return written.length === 0 ? undefined : `(${written.join(' or ')})`;
}

/** What tells the numbers of these series apart. */
function labelsOf(names: readonly string[]): string {
  const has = names.flatMap((name) => metricOfSeries(name).metric.labels);
  return ['job', 'alertname', ...['filer', 'volume'].filter((label) => has.includes(label))].join(', ');
}

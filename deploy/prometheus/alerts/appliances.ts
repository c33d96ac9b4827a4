import { type AlertRule, percent, spell, type Thresholds } from '../rule.ts';
import { first, manyOf } from './file-acceleration.ts';

/** Appliances of which no series can be polled although the portal responds. */
const UNAVAILABLE = [
  'max without (state) (filer_appliance_state{state="unavailable"})',
  'unless on (job, instance) filer_api_up{api="portal"} == 0',
].join('\n');

/** Excludes the job of remote write: its points arrive late, and are of the same appliances. */
const SCRAPED = '{job!~".*-minutes"}';

/** Alerts about single appliances, from the portal's telemetry. */
export function applianceAlerts(limits: Thresholds): readonly AlertRule[] {
  const page = 'appliances';
  const checksIn = `(filer:last_checkin_age:seconds <= ${limits.checkinAge})`;
  const appliance = 'appliance {{ $labels.filer }}';
  const silent = 'count without (serial, filer) (max without (instance, pod) (filer_appliance_up == 0))';
  const warned = [
    'count without (filer) (',
    '  group by (job, filer) (ALERTS{alertname=~"FilerAppliance.+",alertstate="firing",severity="warning"})',
    ')',
  ].join('\n');
  return [
    {
      alert: 'FilerFleetNotReporting',
      severity: 'critical',
      for: '15m',
      count: silent,
      expr: `${manyOf(silent, 'job:filer_appliance_info:count', limits)}\nunless on (job) filer_api_up{api="portal"} == 0`,
      summary: 'Many appliances have no telemetry.',
      description: `{{ $value }} appliances have no telemetry${first('filer_appliance_up{job=%q} == 0')}. So many have one cause: the portal’s telemetry, a right or licence, or the network.`,
      page,
    },
    {
      alert: 'FilerFleetShrunk',
      severity: 'critical',
      for: '15m',
      expr: [
        '1 - job:filer_appliance_info:count',
        `/ (max_over_time(job:filer_appliance_info:count[1d]) >= ${limits.fleetSize})`,
        `> ${limits.fleetGone}`,
      ].join('\n'),
      summary: 'Many appliances have left the inventory.',
      description:
        '{{ $value | humanizePercentage }} of the appliances have left the inventory in a day. An appliance that is not in the inventory is not polled, and no alert on it can fire.',
      page,
    },
    {
      alert: 'FilerFleetAffected',
      severity: 'warning',
      for: '5m',
      count: warned,
      expr: `${warned} > ${limits.fleetMany}`,
      summary: 'Many appliances have warnings.',
      description: `{{ $value }} appliances have warnings${first('ALERTS{alertname=~"FilerAppliance.+",alertstate="firing",severity="warning",job=%q}')}. So many at once often have one cause: a scan, an update, or the portal.`,
      page,
    },
    {
      alert: 'FilerApplianceDown',
      severity: 'critical',
      for: '15m',
      expr: `${UNAVAILABLE}\nunless on (job, filer) ${checksIn}`,
      summary: 'An appliance cannot be polled.',
      description: `Every poll of ${appliance} fails. The portal returns data of other appliances, but no series of this one.`,
      page,
    },
    {
      alert: 'FilerApplianceTelemetryFailing',
      severity: 'warning',
      // This is longer than a check-in counts as recent, so that an appliance that is off is not taken for one that works.
      for: '45m',
      expr: `${UNAVAILABLE}\nand on (job, filer) ${checksIn}`,
      summary: 'An appliance cannot be polled, but its filer checks in.',
      description: `Every poll of the telemetry of ${appliance} fails, but the filer checks in, so it works. Its load, memory, cache and disks are unknown.`,
      page,
    },
    {
      alert: 'FilerApplianceNotReporting',
      severity: 'critical',
      for: '30m',
      expr: 'max without (state) (filer_appliance_state{state="no_records"}) == 1',
      summary: 'An appliance does not report.',
      description: `The portal has no record of ${appliance} within PORTAL_LOOKBACK. Its load, memory, cache and disks are unknown.`,
      page,
    },
    {
      alert: 'FilerApplianceDataOld',
      severity: 'warning',
      for: '10m',
      expr: [
        'serial:filer_appliance_series_timestamp_seconds:age',
        '> on (job, instance) group_left ()',
        `(${limits.applianceDataAge} + 2 * sum without (api) (filer_exporter_effective_interval_seconds{api="portal"}))`,
      ].join('\n'),
      summary: 'The newest record of an appliance is old.',
      description: `The newest record of ${appliance} is {{ $value | humanizeDuration }} old. That is at least ${spell(limits.applianceDataAge)} more than the polling interval explains; appliances report every 5 minutes.`,
      page,
    },
    {
      alert: 'FilerApplianceUnreachable',
      severity: 'warning',
      for: '1h',
      expr: 'filer_appliance_reachable == 0\nor\nfiler_appliance_synced == 0',
      summary: 'Settings of the portal do not arrive at an appliance.',
      description: `The portal cannot reach ${appliance}, or the appliance has not applied the settings of the portal. Changes and updates have no effect on it, and its telemetry may be missing.`,
      page,
    },
    {
      alert: 'FilerApplianceCpuHigh',
      severity: 'warning',
      for: '30m',
      expr: `filer_appliance_cpu_utilization_ratio${SCRAPED} > ${limits.cpu}`,
      summary: 'The processors of an appliance are busy.',
      description: `Appliance {{ $labels.filer }} uses {{ $value | humanizePercentage }} of its processors. Above ${percent(limits.cpu)}, clients wait, and snapshots and synchronisation take longer.`,
      page,
    },
    {
      alert: 'FilerApplianceMemoryHigh',
      severity: 'warning',
      for: '30m',
      expr: `filer_appliance_memory_utilization_ratio${SCRAPED} > ${limits.memory}`,
      summary: 'An appliance has little memory left.',
      description: `Appliance {{ $labels.filer }} uses {{ $value | humanizePercentage }} of its memory. Above ${percent(limits.memory)}, the file system has little memory for its caches.`,
      page,
    },
    {
      alert: 'FilerApplianceCacheNearlyFull',
      severity: 'warning',
      for: '1h',
      // A full cache is normal as long as its content is also in the cloud.
      expr: [
        `filer_appliance_cache_utilization_ratio${SCRAPED} > ${limits.cache}`,
        'and on (job, filer) (',
        `  volume_filer:oldest_unprotected_data_age:seconds > ${limits.cacheWait}`,
        `  or filer_volume_unprotected_bytes > ${limits.unprotectedBytes}`,
        ')',
      ].join('\n'),
      summary: 'The cache of an appliance is nearly full of data that is not in the cloud.',
      description: `The cache of ${appliance} is {{ $value | humanizePercentage }} full, with data that is not in the cloud. Above ${percent(limits.cache)}, writes fail once the cache holds nothing else, because such data cannot be evicted.`,
      page,
    },
    {
      alert: 'FilerApplianceDiskLatencyHigh',
      severity: 'warning',
      for: '30m',
      expr: `filer_appliance_disk_io_latency_seconds${SCRAPED} > ${limits.diskLatency}`,
      summary: 'A disk of an appliance is slow.',
      description: `A {{ $labels.direction }} of the {{ $labels.disk }} disk of ${appliance} takes {{ $value | humanizeDuration }}. Above ${spell(limits.diskLatency)}, the underlying disk is too slow or too busy.`,
      page,
    },
  ];
}

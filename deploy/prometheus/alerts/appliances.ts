import { type AlertRule, percent, spell, type Thresholds } from '../rule.ts';

/** Appliances of which no series can be polled, while the portal answers. */
const UNAVAILABLE = [
  'max without (state) (filer_appliance_state{state="unavailable"})',
  'unless on (job, instance) filer_api_up{api="portal"} == 0',
].join('\n');

/** Alerts about single appliances, from the portal's telemetry. */
export function applianceAlerts(limits: Thresholds): readonly AlertRule[] {
  const page = 'appliances';
  const checksIn = `(filer:last_checkin_age:seconds <= ${limits.checkinAge})`;
  const who = 'Appliance {{ $labels.filer }}';
  return [
    {
      alert: 'FilerFleetNotReporting',
      severity: 'critical',
      for: '15m',
      expr: [
        'count without (serial, filer) (',
        '  max without (instance, pod) (filer_appliance_up == 0)',
        ')',
        `/ (job:filer_appliance_info:count >= ${limits.fleetSize})`,
        `> ${limits.fleetShare}`,
        'unless on (job) filer_api_up{api="portal"} == 0',
      ].join('\n'),
      summary: '{{ $value | humanizePercentage }} of the appliances have no telemetry.',
      description: 'Such a large share has one cause: the portal’s telemetry, a right or licence, or the network.',
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
      summary: '{{ $value | humanizePercentage }} of the appliances have left the inventory in a day.',
      description: 'An appliance that is not in the inventory is not polled, and no alert on it can fire.',
      page,
    },
    {
      alert: 'FilerApplianceDown',
      severity: 'critical',
      for: '15m',
      expr: `${UNAVAILABLE}\nunless on (job, filer) ${checksIn}`,
      summary: `${who} has no telemetry: every poll of it fails.`,
      description: 'The portal returns data of other appliances, but no series of this one.',
      page,
    },
    {
      alert: 'FilerApplianceTelemetryFailing',
      severity: 'warning',
      // Longer than a check-in stays recent, so that a dead appliance is not taken for one that works.
      for: '45m',
      expr: `${UNAVAILABLE}\nand on (job, filer) ${checksIn}`,
      summary: `Every poll of the telemetry of appliance {{ $labels.filer }} fails, but the filer checks in.`,
      description: 'The filer works. Its load, memory, cache and disks are unknown.',
      page,
    },
    {
      alert: 'FilerApplianceNotReporting',
      severity: 'critical',
      for: '30m',
      expr: 'max without (state) (filer_appliance_state{state="no_records"})',
      summary: `${who} does not report: the portal has no record of it within PORTAL_LOOKBACK.`,
      description:
        'The portal answers without records. The load, memory, cache and disks of the appliance are unknown.',
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
      summary: `The newest record of appliance {{ $labels.filer }} is {{ $value | humanizeDuration }} old.`,
      description: `That is at least ${spell(limits.applianceDataAge)} more than the polling interval explains; appliances report every 5 minutes.`,
      page,
    },
    {
      alert: 'FilerApplianceUnreachable',
      severity: 'warning',
      for: '1h',
      expr: 'filer_appliance_reachable == 0\nor\nfiler_appliance_synced == 0',
      summary: 'Settings of the portal do not arrive at appliance {{ $labels.filer }}.',
      description:
        'The portal cannot reach it, or it has not applied them. Changes and updates have no effect on it, and its telemetry may be missing.',
      page,
    },
    {
      alert: 'FilerApplianceCpuHigh',
      severity: 'warning',
      for: '30m',
      expr: `filer_appliance_cpu_utilization_ratio > ${limits.cpu}`,
      summary: `${who} uses {{ $value | humanizePercentage }} of its processors.`,
      description: `Above ${percent(limits.cpu)}: clients wait, and snapshots and synchronisation take longer.`,
      page,
    },
    {
      alert: 'FilerApplianceMemoryHigh',
      severity: 'warning',
      for: '30m',
      expr: `filer_appliance_memory_utilization_ratio > ${limits.memory}`,
      summary: `${who} uses {{ $value | humanizePercentage }} of its memory.`,
      description: `Above ${percent(limits.memory)}: the file system has little memory for its caches.`,
      page,
    },
    {
      alert: 'FilerApplianceCacheNearlyFull',
      severity: 'warning',
      for: '1h',
      // A full cache is normal as long as its content is also in the cloud.
      expr: [
        `filer_appliance_cache_utilization_ratio > ${limits.cache}`,
        'and on (job, instance, filer) (',
        `  volume_filer:oldest_unprotected_data_age:seconds > ${limits.cacheWait}`,
        `  or filer_volume_unprotected_bytes > ${limits.unprotectedBytes}`,
        ')',
      ].join('\n'),
      summary: `The cache of appliance {{ $labels.filer }} is {{ $value | humanizePercentage }} full, with data that is not in the cloud.`,
      description: `Above ${percent(limits.cache)}: data that is not in the cloud yet cannot be evicted. Writes fail once the cache holds nothing else.`,
      page,
    },
    {
      alert: 'FilerApplianceDiskLatencyHigh',
      severity: 'warning',
      for: '30m',
      expr: `filer_appliance_disk_io_latency_seconds > ${limits.diskLatency}`,
      summary: `A {{ $labels.direction }} of the {{ $labels.disk }} disk of appliance {{ $labels.filer }} takes {{ $value | humanizeDuration }}.`,
      description: `Above ${spell(limits.diskLatency)}: the underlying disk is too slow or too busy.`,
      page,
    },
  ];
}

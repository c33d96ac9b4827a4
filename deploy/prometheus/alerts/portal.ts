import { type AlertRule, bytes, spell, type Thresholds } from '../rule.ts';

/** The alerts about volumes, jobs and the subscription, from the portal's further collectors. */
export function portalAlerts(limits: Thresholds): readonly AlertRule[] {
  const page = 'portal';
  return [
    {
      alert: 'FilerUnprotectedDataLarge',
      severity: 'warning',
      for: '1h',
      expr: `filer_volume_unprotected_bytes > ${limits.unprotectedBytes}`,
      summary:
        '{{ $value | humanize1024 }}B of volume {{ $labels.volume }} on appliance {{ $labels.filer }} are not in the cloud.',
      description: `More than ${bytes(limits.unprotectedBytes)} for an hour: they are on this appliance alone, and fill its cache.`,
      page,
    },
    {
      alert: 'FilerSnapshotFailing',
      severity: 'critical',
      for: '30m',
      expr: [
        'sum without (status) (filer_volume_snapshot_status{status="failed"}) == 1',
        'or',
        `increase(filer_snapshot_metadata_failures_total[1h]) > ${limits.failedSnapshotsAnHour}`,
      ].join('\n'),
      summary: 'Snapshots of volume {{ $labels.volume }} fail on appliance {{ $labels.filer }}.',
      description: 'Without snapshots nothing new of the volume reaches the cloud or other appliances.',
      page,
    },
    {
      alert: 'FilerLicenseRunningOut',
      severity: 'warning',
      for: '1h',
      expr: `filer_license_expiry_timestamp_seconds - time() < ${limits.licenseLeft}`,
      summary: '{{ $value | humanizeDuration }} are left of the portal subscription that {{ $labels.instance }} polls.',
      description: `Less than ${spell(limits.licenseLeft)} are left; below zero it has ended, and the portal may refuse telemetry.`,
      page,
    },
    {
      alert: 'FilerJobFailed',
      severity: 'warning',
      for: '5m',
      expr: 'filer_jobs_failed_unacknowledged > 0',
      summary:
        'Failed jobs of the portal ({{ $labels.resource }}, {{ $labels.action }}): {{ $value }}, as {{ $labels.instance }} sees it.',
      description: 'Nobody has acknowledged them in the portal yet.',
      page,
    },
    {
      alert: 'FilerJobUnfinished',
      severity: 'warning',
      for: '15m',
      expr: `time() - filer_job_oldest_unfinished_timestamp_seconds > ${limits.jobAge}`,
      summary:
        'A job of the portal ({{ $labels.resource }}) has not ended for {{ $value | humanizeDuration }}, as {{ $labels.instance }} sees it.',
      description: `Jobs take minutes to hours; one older than ${spell(limits.jobAge)} hangs, or waits for an appliance.`,
      page,
    },
  ];
}

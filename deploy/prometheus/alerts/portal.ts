import { type AlertRule, bytes, spell, type Thresholds } from '../rule.ts';

/** Alerts about volumes, jobs and the subscription, from the portal's further collectors. */
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
      description: `More than ${bytes(limits.unprotectedBytes)}: they are only on this appliance, and fill its cache.`,
      page,
    },
    {
      alert: 'FilerSnapshotFailing',
      severity: 'critical',
      for: '30m',
      // One alert for each volume on an appliance, from either source.
      expr: [
        'max without (status) (filer_volume_snapshot_status{status="failed"}) == 1',
        'or',
        `increase(filer_snapshot_metadata_failures_total[1h]) > ${limits.failedSnapshotsAnHour}`,
      ].join('\n'),
      summary: 'Snapshots of volume {{ $labels.volume }} fail on appliance {{ $labels.filer }}.',
      description: 'Without snapshots no new data of the volume reaches the cloud or other appliances.',
      page,
    },
    {
      alert: 'FilerSnapshotOld',
      severity: 'warning',
      for: '30m',
      expr: [
        `time() - filer_volume_last_snapshot_timestamp_seconds > ${limits.snapshotAge}`,
        'and on (job, instance, serial, volume_guid) filer_volume_unprotected_bytes > 0',
      ].join('\n'),
      summary:
        'The last snapshot of volume {{ $labels.volume }} on appliance {{ $labels.filer }} is {{ $value | humanizeDuration }} old.',
      description: `Older than ${spell(limits.snapshotAge)} while data waits, which is only on this appliance.`,
      page,
    },
    {
      alert: 'FilerCloudCredentialFailing',
      severity: 'warning',
      for: '15m',
      expr: 'filer_cloud_credentials_with_error > 0',
      summary: 'Cloud credentials ({{ $labels.type }}) with an error: {{ $value }}.',
      description: 'A volume that uses one of them cannot write its snapshots to the cloud.',
      page,
    },
    {
      alert: 'FilerKeyExpiring',
      severity: 'warning',
      for: '1h',
      expr: `filer_iam_next_key_expiry_timestamp_seconds - time() < ${limits.keyLeft}`,
      summary: 'A {{ $labels.kind }} key of the portal expires in {{ $value | humanizeDuration }}.',
      description: `Less than ${spell(limits.keyLeft)} are left. Afterwards the portal rejects every client that uses it; the exporter may be one.`,
      page,
    },
    {
      alert: 'FilerPortalUnhealthy',
      severity: 'warning',
      for: '15m',
      expr: 'filer_portal_healthy == 0',
      summary: 'The portal reports itself unhealthy.',
      description: 'Missing or old data may be caused by the portal, not by an appliance.',
      page,
    },
    {
      alert: 'FilerLicenseUrgent',
      severity: 'critical',
      for: '1h',
      expr: `filer_license_expiry_timestamp_seconds - time() < ${limits.licenseEnds}`,
      summary: '{{ $value | humanizeDuration }} are left of the portal subscription.',
      description: `Less than ${spell(limits.licenseEnds)} are left. After its end (negative), the portal may reject telemetry.`,
      page,
    },
    {
      alert: 'FilerLicenseRunningOut',
      severity: 'warning',
      for: '1h',
      expr: `filer_license_expiry_timestamp_seconds - time() < ${limits.licenseLeft}`,
      summary: '{{ $value | humanizeDuration }} are left of the portal subscription.',
      description: `Less than ${spell(limits.licenseLeft)} are left. After its end (negative), the portal may reject telemetry.`,
      page,
    },
    {
      alert: 'FilerJobFailed',
      severity: 'warning',
      for: '5m',
      expr: 'sum without (resource, action) (filer_jobs_failed_unacknowledged) > 0',
      summary: 'Failed jobs of the portal without acknowledgement: {{ $value }}.',
      description: 'The portal’s list of jobs has the reason and the target of each.',
      page,
    },
    {
      alert: 'FilerJobUnfinished',
      severity: 'warning',
      for: '15m',
      expr: `time() - filer_job_oldest_unfinished_timestamp_seconds > ${limits.jobAge}`,
      summary: 'A job ({{ $labels.resource }}) of the portal has not ended for {{ $value | humanizeDuration }}.',
      description: `Jobs take minutes to hours; one older than ${spell(limits.jobAge)} hangs or waits for an appliance.`,
      page,
    },
  ];
}

import { type AlertRule, bytes, spell, type Thresholds } from '../rule.ts';

/** Alerts about volumes, jobs and the subscription, from the collectors of the portal other than telemetry. */
export function portalAlerts(limits: Thresholds): readonly AlertRule[] {
  const page = 'portal';
  const failedJobs = 'sum without (resource, action) (max without (instance, pod) (filer_jobs_failed_unacknowledged))';
  const failingCredentials = 'filer_cloud_credentials_with_error';
  return [
    {
      alert: 'FilerUnprotectedDataLarge',
      severity: 'warning',
      for: '1h',
      expr: `filer_volume_unprotected_bytes > ${limits.unprotectedBytes}`,
      summary: 'Much data of a volume is not in the cloud.',
      description: `{{ $value | humanize1024 }}B of volume {{ $labels.volume }} on appliance {{ $labels.filer }} are not in the cloud, which is more than ${bytes(limits.unprotectedBytes)}. They are only on this appliance, and fill its cache.`,
      page,
    },
    {
      alert: 'FilerSnapshotFailing',
      severity: 'critical',
      for: '30m',
      // Both sources together cause one alert for each volume on an appliance.
      expr: [
        'max without (status) (filer_volume_snapshot_status{status="failed"}) == 1',
        'or',
        `increase(filer_snapshot_metadata_failures_total[1h]) > ${limits.failedSnapshotsAnHour}`,
      ].join('\n'),
      summary: 'Snapshots of a volume fail.',
      description:
        'Snapshots of volume {{ $labels.volume }} fail on appliance {{ $labels.filer }}. Without snapshots no new data of the volume reaches the cloud or other appliances.',
      page,
    },
    {
      alert: 'FilerSnapshotOld',
      severity: 'warning',
      for: '30m',
      expr: [
        `time() - filer_volume_last_snapshot_timestamp_seconds > ${limits.snapshotAge}`,
        'and on (job, serial, volume_guid) filer_volume_unprotected_bytes > 0',
      ].join('\n'),
      summary: 'The last snapshot of a volume is old, and data waits.',
      description: `The last snapshot of volume {{ $labels.volume }} on appliance {{ $labels.filer }} is {{ $value | humanizeDuration }} old, which is more than ${spell(limits.snapshotAge)}. The data that waits is only on this appliance.`,
      page,
    },
    {
      alert: 'FilerSyncBehind',
      severity: 'warning',
      for: '15m',
      // Both conditions must hold: a volume that nobody writes to makes no snapshots, and a busy one makes several a minute.
      expr: [
        'max by (job, volume_guid, volume, serial, filer) (filer_snapshot_reached_version)',
        `  < on (job, volume_guid) group_left () (max by (job, volume_guid) (filer_snapshot_latest_version) - ${limits.snapshotsBehind})`,
        'and on (job, volume_guid, serial)',
        `  time() - max by (job, volume_guid, serial) (filer_snapshot_reached_timestamp_seconds) > ${limits.behindFor}`,
      ].join('\n'),
      summary: 'An appliance does not receive the snapshots of a volume.',
      description: `Appliance {{ $labels.filer }} has version {{ $value }} of volume {{ $labels.volume }}, more than ${limits.snapshotsBehind} versions behind the newest snapshot, and has received none for more than ${spell(limits.behindFor)}. Its users see old files.`,
      page,
    },
    {
      alert: 'FilerCloudCredentialFailing',
      severity: 'warning',
      for: '15m',
      count: `sum without (type) (max without (instance, pod) (${failingCredentials}))`,
      expr: `${failingCredentials} > 0`,
      summary: 'Cloud credentials have an error.',
      description:
        '{{ $value }} cloud credentials of the type {{ $labels.type }} have an error. A volume that uses one of them cannot write its snapshots to the cloud.',
      page,
    },
    {
      alert: 'FilerKeyExpiring',
      severity: 'warning',
      for: '1h',
      expr: `filer_iam_next_key_expiry_timestamp_seconds - time() < ${limits.keyLeft}`,
      summary: 'A key of the portal expires soon.',
      description: `A {{ $labels.kind }} key of the portal expires in {{ $value | humanizeDuration }}, which is less than ${spell(limits.keyLeft)}. Afterwards the portal rejects every client that uses it; the exporter may be one.`,
      page,
    },
    {
      alert: 'FilerPortalUnhealthy',
      severity: 'warning',
      for: '15m',
      expr: 'filer_portal_healthy == 0',
      summary: 'The portal reports itself unhealthy.',
      description: 'Missing or old data of account {{ $labels.job }} may be caused by the portal, not by an appliance.',
      page,
    },
    {
      alert: 'FilerLicenseUrgent',
      severity: 'critical',
      for: '1h',
      expr: `filer_license_expiry_timestamp_seconds - time() < ${limits.licenseEnds}`,
      summary: 'The portal subscription is about to end.',
      description: `The portal subscription ends in {{ $value | humanizeDuration }}, which is less than ${spell(limits.licenseEnds)}. After its end (negative), the portal may reject telemetry.`,
      page,
    },
    {
      alert: 'FilerLicenseRunningOut',
      severity: 'warning',
      for: '1h',
      expr: `filer_license_expiry_timestamp_seconds - time() < ${limits.licenseLeft}`,
      summary: 'The portal subscription ends soon.',
      description: `The portal subscription ends in {{ $value | humanizeDuration }}, which is less than ${spell(limits.licenseLeft)}. After its end (negative), the portal may reject telemetry.`,
      page,
    },
    {
      alert: 'FilerJobFailed',
      severity: 'warning',
      for: '5m',
      count: failedJobs,
      expr: `${failedJobs} > 0`,
      summary: 'Jobs of the portal have failed.',
      description:
        '{{ $value }} failed jobs of the portal are not acknowledged. The portal’s list of jobs has the reason and the target of each.',
      page,
    },
    {
      alert: 'FilerJobUnfinished',
      severity: 'warning',
      for: '15m',
      expr: `time() - filer_job_oldest_unfinished_timestamp_seconds > ${limits.jobAge}`,
      summary: 'A job of the portal does not end.',
      description: `A job ({{ $labels.resource }}) of the portal has not ended for {{ $value | humanizeDuration }}. Jobs take minutes to hours; one older than ${spell(limits.jobAge)} hangs or waits for an appliance.`,
      page,
    },
  ];
}

import { type AlertCases, applianceLyon, projects, scraped, series } from './case.ts';

const projectsInLyon = { ...projects, ...applianceLyon } as const;
const unprotected = series('filer_volume_unprotected_bytes', projectsInLyon);
const status = (word: string) => series('filer_volume_snapshot_status', { ...projectsInLyon, status: word });
const failures = series('filer_snapshot_metadata_failures_total', projectsInLyon);
const accessible = series('filer_volume_accessible_bytes', projectsInLyon);
const expiry = series('filer_license_expiry_timestamp_seconds', scraped);
const license = series('filer_license_info', { ...scraped, status: 'active' });
const last = series('filer_volume_last_snapshot_timestamp_seconds', projectsInLyon);
const credentials = series('filer_cloud_credentials_with_error', { ...scraped, type: 'azure' });
const keyEnd = series('filer_iam_next_key_expiry_timestamp_seconds', { ...scraped, kind: 'service' });
const healthy = series('filer_portal_healthy', scraped);
const edgeUpdate = { ...scraped, action: 'update', resource: 'edge' } as const;
const failed = series('filer_jobs_failed_unacknowledged', edgeUpdate);
const failedVolumes = series('filer_jobs_failed_unacknowledged', { ...scraped, action: 'update', resource: 'volume' });
const listed = series('filer_jobs', { ...edgeUpdate, state: 'completed' });
const oldest = series('filer_job_oldest_unfinished_timestamp_seconds', { ...scraped, resource: 'edge' });

const latestVersion = series('filer_snapshot_latest_version', { ...projects, serial: 'other', filer: 'edge-oslo' });
const reachedVersion = series('filer_snapshot_reached_version', projectsInLyon);
const reachedAt = series('filer_snapshot_reached_timestamp_seconds', projectsInLyon);

const { instance: _, ...withoutInstance } = projectsInLyon;

const snapshotsFail = {
  labels: projectsInLyon,
  severity: 'critical',
  description:
    'Snapshots of volume projects fail on appliance edge-lyon. Without snapshots no new data of the volume reaches the cloud or other appliances.',
} as const;

/** The cases of the alerts about volumes, jobs and the subscription. */
export const portalCases: AlertCases = {
  FilerSyncBehind: [
    {
      when: 'seven versions have not reached the appliance, and the newest came two hours ago',
      series: { [latestVersion]: '50x60', [reachedVersion]: '43x60', [reachedAt]: '-7200x60' },
      pendingAt: '10m',
      at: '20m',
      fires: {
        labels: withoutInstance,
        severity: 'warning',
        description:
          'Appliance edge-lyon has version 43 of volume projects, more than 5 versions behind the newest snapshot, and has received none for more than 1h 0m 0s. Its users see old files.',
      },
    },
    {
      kind: 'silent',
      when: 'versions are missing, and one came a minute ago',
      series: { [latestVersion]: '50x60', [reachedVersion]: '43x60', [reachedAt]: '0+60x60' },
      at: '40m',
    },
    {
      kind: 'silent',
      when: 'nobody writes to the volume',
      series: { [latestVersion]: '43x60', [reachedVersion]: '43x60', [reachedAt]: '-90000x60' },
      at: '40m',
    },
    {
      kind: 'missing',
      when: 'the appliance never received a snapshot: silent',
      series: { [latestVersion]: '50x60' },
      at: '40m',
    },
  ],
  FilerSnapshotOld: [
    {
      when: 'the last one is a day and ten hours old, and data waits',
      series: { [last]: '-120000x60', [unprotected]: '5x60' },
      pendingAt: '20m',
      at: '40m',
      fires: {
        labels: projectsInLyon,
        severity: 'warning',
        description:
          'The last snapshot of volume projects on appliance edge-lyon is 1d 10h 0m 0s old, which is more than 1d 0h 0m 0s. The data that waits is only on this appliance.',
      },
    },
    {
      kind: 'silent',
      when: 'nothing has been written since',
      series: { [last]: '-120000x60', [unprotected]: '0x60' },
      at: '40m',
    },
    { kind: 'silent', when: 'it is an hour old', series: { [last]: '-3600+60x60', [unprotected]: '5x60' }, at: '40m' },
    { kind: 'missing', when: 'what waits is not known: silent', series: { [last]: '-120000x60' }, at: '40m' },
  ],
  FilerCloudCredentialFailing: [
    {
      when: 'two have an error',
      series: { [credentials]: '2x40' },
      pendingAt: '10m',
      at: '30m',
      fires: {
        labels: { ...scraped, type: 'azure' },
        severity: 'warning',
        description:
          '2 cloud credentials of the type azure have an error. A volume that uses one of them cannot write its snapshots to the cloud.',
      },
    },
    { kind: 'silent', when: 'none has', series: { [credentials]: '0x40' }, at: '30m' },
    { kind: 'missing', when: 'the collector is off: silent', series: { [license]: '1x40' }, at: '30m' },
  ],
  FilerKeyExpiring: [
    {
      when: 'a key expires in ten days',
      series: { [keyEnd]: '870000x120' },
      pendingAt: '30m',
      at: '100m',
      fires: {
        labels: { ...scraped, kind: 'service' },
        severity: 'warning',
        description:
          'A service key of the portal expires in 10d 0h 0m 0s, which is less than 14d 0h 0m 0s. Afterwards the portal rejects every client that uses it; the exporter may be one.',
      },
    },
    { kind: 'silent', when: 'the next one expires in a month', series: { [keyEnd]: '2700000x120' }, at: '100m' },
    {
      kind: 'missing',
      when: 'no key expires, or the collector is off: silent',
      series: { [license]: '1x120' },
      at: '100m',
    },
  ],
  FilerPortalUnhealthy: [
    {
      when: 'it has not been for half an hour',
      series: { [healthy]: '0x40' },
      pendingAt: '10m',
      at: '30m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description: 'Missing or old data of account filer-exporter may be caused by the portal, not by an appliance.',
      },
    },
    { kind: 'silent', when: 'it is', series: { [healthy]: '1x40' }, at: '30m' },
    { kind: 'missing', when: 'it does not say: silent', series: { [license]: '1x40' }, at: '30m' },
  ],
  FilerLicenseUrgent: [
    {
      when: 'it ends in five days',
      series: { [expiry]: '438000x120', [license]: '1x120' },
      pendingAt: '30m',
      at: '100m',
      fires: {
        labels: scraped,
        severity: 'critical',
        description:
          'The portal subscription ends in 5d 0h 0m 0s, which is less than 7d 0h 0m 0s. After its end (negative), the portal may reject telemetry.',
      },
    },
    {
      kind: 'silent',
      when: 'it ends in ten days, which FilerLicenseRunningOut says',
      series: { [expiry]: '870000x120', [license]: '1x120' },
      at: '100m',
    },
    { kind: 'missing', when: 'it has no end: silent', series: { [license]: '1x120' }, at: '100m' },
  ],
  FilerUnprotectedDataLarge: [
    {
      when: 'a quarter of a terabyte has waited for over an hour',
      series: { [unprotected]: '274877906944x90' },
      pendingAt: '45m',
      at: '75m',
      fires: {
        labels: projectsInLyon,
        severity: 'warning',
        description:
          '256GiB of volume projects on appliance edge-lyon are not in the cloud, which is more than 100GB. They are only on this appliance, and fill its cache.',
      },
    },
    {
      kind: 'silent',
      when: 'as much was written, and is gone with the next snapshot',
      series: { [unprotected]: '274877906944x40 1000000x50' },
      at: '75m',
    },
    {
      kind: 'missing',
      when: 'the appliance has not reported yet, or the collector is switched off: silent',
      series: { [accessible]: '274877906944x90' },
      at: '75m',
    },
  ],
  FilerSnapshotFailing: [
    {
      when: 'the status has been failed for over half an hour',
      series: { [status('failed')]: '0x5 1x60', [status('idle')]: '1x5 0x60' },
      pendingAt: '20m',
      at: '45m',
      fires: [snapshotsFail],
    },
    {
      when: 'metadata snapshots fail over and over, whatever the status says in between',
      series: { [status('failed')]: '0x120', [failures]: '0 0 0 0 0+0.1x120' },
      at: '100m',
      fires: [snapshotsFail],
    },
    {
      kind: 'silent',
      when: 'one failed, and the next one succeeded',
      series: { [status('failed')]: '1x10 0x50', [status('succeeded')]: '0x10 1x50', [failures]: '0x10 1x50' },
      at: '45m',
    },
    {
      kind: 'missing',
      when: 'the appliance has left the volume: silent',
      series: { [status('failed')]: '1x10 stale' },
      at: '45m',
    },
  ],
  FilerLicenseRunningOut: [
    {
      when: 'it ends in ten days',
      series: { [expiry]: '870000x120', [license]: '1x120' },
      pendingAt: '30m',
      at: '100m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description:
          'The portal subscription ends in 10d 0h 0m 0s, which is less than 30d 0h 0m 0s. After its end (negative), the portal may reject telemetry.',
      },
    },
    {
      kind: 'silent',
      when: 'it ends in a hundred days',
      series: { [expiry]: '8640000x120', [license]: '1x120' },
      at: '100m',
    },
    {
      kind: 'missing',
      when: 'it has no end, or the licence may not be read: silent',
      series: { [license]: '1x120' },
      at: '100m',
    },
  ],
  FilerJobFailed: [
    {
      when: 'two updates and three jobs of volumes failed: one alert for the account',
      series: { [failed]: '2x20', [failedVolumes]: '3x20', [listed]: '5x20' },
      pendingAt: '3m',
      at: '10m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description:
          '5 failed jobs of the portal are not acknowledged. The portal’s list of jobs has the reason and the target of each.',
      },
    },
    {
      kind: 'silent',
      when: 'they were acknowledged at once',
      series: { [failed]: '2x2 0x20', [listed]: '5x20' },
      at: '10m',
    },
    {
      kind: 'missing',
      when: 'no job of this kind is listed any more: silent',
      series: { [failed]: '2x2 stale' },
      at: '10m',
    },
  ],
  FilerJobUnfinished: [
    {
      when: 'one was created a day and an hour ago',
      series: { [oldest]: '0x320' },
      pendingAt: '24h10m',
      at: '25h',
      apart: '5m',
      fires: {
        labels: { ...scraped, resource: 'edge' },
        severity: 'warning',
        description:
          'A job (edge) of the portal has not ended for 1d 1h 0m 0s. Jobs take minutes to hours; one older than 1d 0h 0m 0s hangs or waits for an appliance.',
      },
    },
    {
      kind: 'silent',
      when: 'there is always one, and never an old one',
      series: { [oldest]: '0+60x320' },
      at: '25h',
      apart: '5m',
    },
    {
      kind: 'missing',
      when: 'all have ended: silent',
      series: { [oldest]: '0x200 stale', [listed]: '5x320' },
      at: '25h',
      apart: '5m',
    },
  ],
};

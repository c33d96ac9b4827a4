// Only here: alerts that never fire, or fire when all is well.
import { expect, test } from 'vitest';
import { filled } from '../../../grafana/src/fill.ts';
import { everyQuery } from '../../support/dashboards.ts';
import { testAlerts } from './alerts.ts';
import { type AlertCases, api, applianceLyon, firings, projects, scraped, series } from './case.ts';
import { hasPromtool, testNumber } from './promtool.ts';

const projectsInLyon = { ...projects, ...applianceLyon } as const;
const unprotected = series('filer_volume_unprotected_bytes', projectsInLyon);
const status = (word: string) => series('filer_volume_snapshot_status', { ...projectsInLyon, status: word });
const portalUp = series('filer_api_up', api('portal'));
const failures = series('filer_snapshot_metadata_failures_total', projectsInLyon);
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

const cases: AlertCases = {
  FilerSyncBehind: [
    {
      when: 'seven versions have not reached the appliance, and the newest came two hours ago',
      series: { [latestVersion]: '50x60', [reachedVersion]: '43x60', [reachedAt]: '-7200x60' },
      pendingAt: '10m',
      at: '20m',
      fires: withoutInstance,
      values: ['43', '1h 0m 0s'],
    },
    {
      when: 'versions are missing, and one came a minute ago',
      series: { [latestVersion]: '50x60', [reachedVersion]: '43x60', [reachedAt]: '0+60x60' },
      at: '40m',
    },
    {
      when: 'nobody writes to the volume',
      series: { [latestVersion]: '43x60', [reachedVersion]: '43x60', [reachedAt]: '-90000x60' },
      at: '40m',
    },
    {
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
      fires: projectsInLyon,
      values: ['1d 10h 0m 0s', '1d 0h 0m 0s'],
    },
    {
      when: 'nothing has been written since',
      series: { [last]: '-120000x60', [unprotected]: '0x60' },
      at: '40m',
    },
    { when: 'it is an hour old', series: { [last]: '-3600+60x60', [unprotected]: '5x60' }, at: '40m' },
    { when: 'what waits is not known: silent', series: { [last]: '-120000x60' }, at: '40m' },
  ],
  FilerCloudCredentialFailing: [
    {
      when: 'two have an error',
      series: { [credentials]: '2x40' },
      pendingAt: '10m',
      at: '30m',
      fires: { ...scraped, type: 'azure' },
      values: ['2'],
    },
    { when: 'none has', series: { [credentials]: '0x40' }, at: '30m' },
  ],
  FilerKeyExpiring: [
    {
      when: 'a key expires in ten days',
      series: { [keyEnd]: '870000x120' },
      pendingAt: '30m',
      at: '100m',
      fires: { ...scraped, kind: 'service' },
      values: ['10d 0h 0m 0s', '14d 0h 0m 0s'],
    },
    { when: 'the next one expires in a month', series: { [keyEnd]: '2700000x120' }, at: '100m' },
  ],
  FilerPortalUnhealthy: [
    {
      when: 'it has not been for half an hour',
      series: { [healthy]: '0x40' },
      pendingAt: '10m',
      at: '30m',
      fires: scraped,
    },
    { when: 'it is', series: { [healthy]: '1x40' }, at: '30m' },
  ],
  FilerLicenseUrgent: [
    {
      when: 'it ends in five days',
      series: { [expiry]: '438000x120', [license]: '1x120' },
      pendingAt: '30m',
      at: '100m',
      fires: scraped,
      values: ['5d 0h 0m 0s', '7d 0h 0m 0s'],
    },
    {
      when: 'it ends in ten days, which FilerLicenseRunningOut says',
      series: { [expiry]: '870000x120', [license]: '1x120' },
      at: '100m',
    },
  ],
  FilerUnprotectedDataLarge: [
    {
      when: 'a quarter of a terabyte has waited for over an hour',
      series: { [unprotected]: '274877906944x90' },
      pendingAt: '45m',
      at: '75m',
      fires: projectsInLyon,
      values: ['256Gi', '100G'],
    },
    {
      when: 'as much was written, and is gone with the next snapshot',
      series: { [unprotected]: '274877906944x40 1000000x50' },
      at: '75m',
    },
  ],
  FilerSnapshotFailing: [
    {
      when: 'the status has been failed for over half an hour',
      series: { [status('failed')]: '0x5 1x60', [status('idle')]: '1x5 0x60' },
      pendingAt: '20m',
      at: '45m',
      fires: projectsInLyon,
    },
    {
      when: 'metadata snapshots fail over and over, whatever the status says in between',
      series: { [status('failed')]: '0x120', [failures]: '0 0 0 0 0+0.1x120' },
      at: '100m',
      fires: projectsInLyon,
    },
    {
      when: 'one failed, and the next one succeeded',
      series: { [status('failed')]: '1x10 0x50', [status('succeeded')]: '0x10 1x50', [failures]: '0x10 1x50' },
      at: '45m',
    },
  ],
  FilerLicenseRunningOut: [
    {
      when: 'it ends in ten days',
      series: { [expiry]: '870000x120', [license]: '1x120' },
      pendingAt: '30m',
      at: '100m',
      fires: scraped,
      values: ['10d 0h 0m 0s', '30d 0h 0m 0s'],
    },
    {
      when: 'it ends in a hundred days',
      series: { [expiry]: '8640000x120', [license]: '1x120' },
      at: '100m',
    },
  ],
  FilerJobFailed: [
    {
      when: 'two updates and three jobs of volumes failed: one alert for the account',
      series: { [failed]: '2x20', [failedVolumes]: '3x20', [listed]: '5x20' },
      pendingAt: '3m',
      at: '10m',
      fires: scraped,
      values: ['5'],
    },
    {
      when: 'they were acknowledged at once',
      series: { [failed]: '2x2 0x20', [listed]: '5x20' },
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
      fires: { ...scraped, resource: 'edge' },
      values: ['1d 1h 0m 0s', '1d 0h 0m 0s'],
    },
    {
      when: 'there is always one, and never an old one',
      series: { [oldest]: '0+60x320' },
      at: '25h',
      apart: '5m',
    },
  ],
};

testAlerts('portal', cases);

test.runIf(hasPromtool).each(cases.FilerSnapshotFailing ?? [])(
  '“Snapshots failing” on the boards counts what the alert does when $when',
  (one) => {
    const numbers = everyQuery.filter(({ panel }) => panel.title === 'Snapshots failing').map(({ expr }) => expr);
    expect(numbers).not.toEqual([]);
    for (const number of numbers) {
      // The number of an account is one, whatever labels it keeps.
      const here = `max(${filled(number, { job: 'filer-exporter', filer: '.*', volume: '.*' })})`;
      const polled = { ...one, series: { [portalUp]: '1x320', ...one.series } };
      expect(testNumber(here, polled, firings(one).length)).toMatchObject({
        status: 0,
        said: expect.stringContaining('SUCCESS'),
      });
    }
  },
);

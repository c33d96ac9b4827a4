// Only here: alerts that never fire, or fire when all is well.
import { expect, test } from 'vitest';
import { testAlerts } from './alerts.ts';
import { type AlertCases, api, scraped, series } from './case.ts';
import { hasPromtool, testAlert } from './promtool.ts';

const requests = (name: 'gfa' | 'portal', operation: string, code: string) =>
  series('filer_exporter_requests_total', { ...api(name), operation, code });
const newestSent = series('filer_exporter_remote_write_newest_timestamp_seconds', scraped);
const unread = (reason: string) => series('filer_exporter_remote_write_lost_seconds_total', { ...scraped, reason });
const refused = (reason: string) => series('filer_exporter_remote_write_dropped_points_total', { ...scraped, reason });
const up = (name: 'gfa' | 'portal') => series('filer_api_up', api(name));
const down = (name: 'gfa' | 'portal', reason: string) => series('filer_api_down_info', { ...api(name), reason });
const warned = (name: 'gfa' | 'portal', warning: string, happened: string, advice: string) =>
  series('filer_exporter_warning_info', { ...api(name), warning, happened, advice });
const suspended = (reason: string) => series('filer_exporter_tasks_suspended', { ...api('portal'), reason });
const dropped = (reason: string) => series('filer_exporter_samples_dropped_total', { ...api('portal'), reason });
const gap = (list: string, reason: string) =>
  series('filer_exporter_inventory_gap_info', { ...api('portal'), list, reason });
const overdue = series('filer_exporter_tasks_overdue', api('portal'));
const throttled = series('filer_exporter_account_throttled', api('portal'));
const effective = series('filer_exporter_effective_interval_seconds', api('portal'));
const configured = series('filer_exporter_configured_interval_seconds', api('portal'));
const target = series('up', scraped);
const build = series('filer_exporter_build_info', { ...scraped, version: '1.0.0' });
const otherBuild = series('filer_exporter_build_info', { job: 'edge/filers', instance: '10.0.0.7:9989' });
const webConfig = series('filer_exporter_web_config_last_reload_successful', scraped);
const started = series('process_start_time_seconds', scraped);
const skew = (name: 'gfa' | 'portal') => series('filer_exporter_clock_skew_seconds', api(name));
const certificateEnd = series('filer_exporter_web_certificate_expiry_timestamp_seconds', scraped);

const cases: AlertCases = {
  FilerExporterRestarting: [
    {
      when: 'it starts every five minutes',
      series: { [started]: '0x4 300x4 600x4 900x4 1200x4 1500x10', [build]: '1x40' },
      pendingAt: '22m',
      at: '28m',
      fires: scraped,
      values: ['5'],
    },
    { when: 'it was updated once', series: { [started]: '0x4 300x40', [build]: '1x40' }, at: '24m' },
    {
      when: 'another program restarts',
      series: {
        'process_start_time_seconds{instance="other:9100",job="node"}': '0x4 300x4 600x4 900x4 1200x4 1500x10',
        [build]: '1x40',
      },
      at: '24m',
    },
  ],
  FilerExporterClockSkew: [
    {
      when: 'the clock of one service is two minutes ahead',
      series: { [skew('gfa')]: '120x40', [skew('portal')]: '-1x40' },
      pendingAt: '10m',
      at: '30m',
      fires: scraped,
      values: ['2m 0s'],
    },
    { when: 'it is half a minute behind', series: { [skew('gfa')]: '-30x40' }, at: '30m' },
  ],
  FilerExporterCertificateUrgent: [
    {
      when: 'it ends in a day',
      series: { [certificateEnd]: '88200x40' },
      pendingAt: '3m',
      at: '30m',
      fires: scraped,
      values: ['1d 0h 0m 0s', '2d 0h 0m 0s'],
    },
    { when: 'it ends in ten days', series: { [certificateEnd]: '864000x40' }, at: '30m' },
  ],
  FilerExporterAbsent: [
    {
      when: 'the exporter has had no target for a quarter of an hour: missing data is what it is about',
      series: { 'up{instance="other:9100",job="node"}': '0x20' },
      pendingAt: '3m',
      at: '15m',
      fires: {},
    },
    {
      when: 'a target of any job says that it is one',
      series: { [build]: '1x20', [otherBuild]: '1x20' },
      at: '15m',
    },
    {
      when: 'the target is there and down, which FilerExporterDown says',
      series: { [build]: '1x2 stale', [target]: '1x2 0x30' },
      at: '25m',
    },
    {
      when: 'the target has just gone: silent until that has lasted five minutes',
      series: { [build]: '1x10 stale', [target]: '1x10 stale' },
      at: '14m',
    },
  ],
  FilerExporterDown: [
    {
      when: 'every scrape has failed since the tenth minute',
      series: { [target]: '1x9 0x10', [build]: '1x9 stale', 'up{instance="other:9100",job="node"}': '0x20' },
      pendingAt: '13m',
      at: '16m',
      fires: scraped,
    },
    {
      when: 'one scrape in four fails',
      series: { [target]: '1 1 1 0 1 1 1 0 1 1 1 0 1', [build]: '1x12' },
      at: '11m',
    },
    {
      when: 'there is no target at all: silent, FilerExporterAbsent speaks',
      series: { [target]: '1x2 0x2 stale', [build]: '1x2 stale' },
      at: '16m',
    },
  ],
  FilerApiDown: [
    {
      when: 'the portal fails, and the other API is well',
      series: {
        [up('portal')]: '1 0x15',
        [down('portal', 'timeout')]: '_ 1x15',
        [warned('portal', 'down', 'no response arrives', 'wait')]: '_ 1x15',
        [warned('portal', 'throttled', 'many requests', 'ask')]: '_ 1x15',
        [up('gfa')]: '1x16',
      },
      pendingAt: '8m',
      at: '12m',
      fires: api('portal'),
      values: [' (timeout)', ' What happened: no response arrives. What to do: wait.'],
    },
    { when: 'it comes back within ten minutes', series: { [up('portal')]: '1 0x7 1x10' }, at: '15m' },
  ],
  FilerApiTokenRefused: [
    {
      when: 'the portal rejects the key, and file acceleration is well',
      series: { [up('portal')]: '0x15', [down('portal', 'credentials')]: '1x15', [up('gfa')]: '1x15' },
      pendingAt: '3m',
      at: '12m',
      fires: api('portal'),
    },
    {
      when: 'a token was rejected once, and a new one is taken',
      series: { [up('portal')]: '1x15', [requests('portal', 'cpu_utilization', '401')]: '1x5 2x10' },
      at: '12m',
    },
    {
      when: 'it was rejected before, and is down now because no new token is to be had',
      series: {
        [up('portal')]: '0x15',
        [down('portal', 'credentials')]: '1x2 stale',
        [down('portal', 'server_error')]: '_x3 1x12',
      },
      at: '12m',
    },
  ],
  FilerInventoryIncomplete: [
    {
      when: 'the account has had no appliance since the start',
      series: { [up('portal')]: '1x30', [gap('all', 'empty')]: '1x30' },
      pendingAt: '10m',
      at: '20m',
      fires: { ...api('portal'), list: 'all', reason: 'empty' },
    },
    {
      when: 'a list is forbidden, or has other ids',
      series: {
        [up('portal')]: '1x30',
        [gap('edges', 'forbidden')]: '1x30',
        [gap('edge_serials', 'other_ids')]: '1x30',
      },
      at: '20m',
    },
    {
      when: 'the whole portal is down',
      series: { [up('portal')]: '0x30', [gap('edges', 'server_error')]: '1x30' },
      at: '20m',
    },
  ],
  FilerApiForbidden: [
    {
      when: 'the file acceleration service rejects each poll with 403, and the portal is well',
      series: { [up('gfa')]: '0x30', [down('gfa', 'forbidden')]: '1x30', [up('portal')]: '1x30' },
      pendingAt: '3m',
      at: '20m',
      fires: api('gfa'),
    },
    {
      when: 'the service is down for another reason, which FilerApiDown says',
      series: { [up('gfa')]: '0x30', [down('gfa', 'server_error')]: '1x30' },
      at: '20m',
    },
    {
      when: 'one series is forbidden, which FilerApiPartlyForbidden says',
      series: { [up('portal')]: '1x30', [suspended('forbidden')]: '7x30' },
      at: '20m',
    },
  ],
  FilerApiPartlyForbidden: [
    {
      when: 'seven series are forbidden, and the API is well',
      series: {
        [up('portal')]: '1x30',
        [suspended('forbidden')]: '7x30',
        [suspended('empty')]: '2x30',
        [warned(
          'portal',
          'forbidden',
          'requests returned 403: User lacks permission can_view',
          'give the role the right',
        )]: '1x30',
      },
      pendingAt: '10m',
      at: '20m',
      fires: api('portal'),
      values: [
        ' What happened: requests returned 403: User lacks permission can_view. What to do: give the role the right.',
      ],
    },
    {
      when: 'the list of edges is forbidden while its collector is on',
      series: { [up('portal')]: '1x30', [suspended('forbidden')]: '0x30', [gap('edges', 'forbidden')]: '1x30' },
      at: '20m',
      fires: api('portal'),
    },
    {
      when: 'only the list of edges is forbidden, whose collector is off, and some series are empty',
      series: {
        [up('portal')]: '1x30',
        [suspended('forbidden')]: '0x30',
        [suspended('empty')]: '4x30',
        [requests('portal', 'edges', '403')]: '1+1x30',
      },
      at: '20m',
    },
    {
      when: 'the inventory is forbidden, and appliances are listed in PORTAL_SERIALS',
      series: {
        [up('portal')]: '1x30',
        [suspended('forbidden')]: '0x30',
        [requests('portal', 'serials', '403')]: '1+1x30',
      },
      at: '20m',
    },
    {
      when: 'the credentials are refused with 401',
      series: {
        [up('portal')]: '0x30',
        [suspended('forbidden')]: '0x30',
        [requests('portal', 'token', '401')]: '1+1x30',
      },
      at: '20m',
    },
  ],
  FilerExporterDataOld: [
    {
      when: 'two series of an appliance fail for half an hour, and the API is well',
      series: { [overdue]: '0x10 2x50', [up('portal')]: '1x60' },
      pendingAt: '25m',
      at: '40m',
      fires: api('portal'),
      values: ['2'],
    },
    {
      when: 'a task is late now and then',
      series: { [overdue]: '0x5 1x5 0x5 2x5 0x5 1x5', [up('portal')]: '1x40' },
      at: '34m',
    },
    {
      when: 'an appliance fails: its tasks are late until it is known to be down',
      series: { [overdue]: '0x12 15x4 0x40', [up('portal')]: '1x60' },
      at: '34m',
    },
    {
      when: 'the whole API is down, which FilerApiDown says',
      series: { [overdue]: '180x60', [up('portal')]: '0x60' },
      at: '50m',
    },
  ],
  FilerExporterThrottled: [
    {
      when: 'other tools use the limit',
      series: { [throttled]: '1x120' },
      pendingAt: '10m',
      at: '20m',
      fires: api('portal'),
    },
    { when: 'the limit is free', series: { [throttled]: '0x120' }, at: '100m' },
  ],
  FilerExporterIntervalStretched: [
    {
      when: 'the fleet takes twenty minutes instead of five',
      series: { [effective]: '1200x60', [configured]: '300x60' },
      pendingAt: '20m',
      at: '45m',
      fires: api('portal'),
      values: ['20m 0s'],
    },
    {
      when: 'twenty minutes are what is asked for',
      series: { [effective]: '1200x60', [configured]: '1200x60' },
      at: '45m',
    },
    {
      when: 'an exporter of before 0.1.0 does not say what is asked for: silent',
      series: { [effective]: '1200x60' },
      at: '45m',
    },
  ],
  FilerExporterSamplesDropped: [
    {
      when: 'a field has been unreadable at every poll for two hours',
      series: { [dropped('invalid')]: '0+1x120', [dropped('absent')]: '0+20x120' },
      pendingAt: '12m',
      at: '100m',
      fires: { ...api('portal'), reason: 'invalid' },
      values: ['60'],
    },
    {
      when: 'fields are only absent, and two values were unreadable once',
      series: { [dropped('invalid')]: '0x60 2x60', [dropped('absent')]: '0+20x120' },
      at: '100m',
    },
  ],
  FilerExporterClientKeyShared: [
    {
      when: 'the bookmarks show another client',
      series: { [series('filer_exporter_client_key_shared', scraped)]: '1x20' },
      pendingAt: '5m',
      at: '12m',
      fires: scraped,
    },
    {
      when: 'they show none',
      series: { [series('filer_exporter_client_key_shared', scraped)]: '0x20' },
      at: '12m',
    },
  ],
  FilerExporterStateFileFailing: [
    {
      when: 'each write fails',
      series: { [series('filer_exporter_state_file_errors_total', scraped)]: '0+1x40' },
      pendingAt: '10m',
      at: '30m',
      fires: scraped,
      values: ['15'],
    },
    {
      when: 'one write failed, and the next ones did not',
      series: { [series('filer_exporter_state_file_errors_total', scraped)]: '0x5 1x40' },
      at: '30m',
    },
  ],
  FilerExporterWebConfigRefused: [
    {
      when: 'a certificate was renewed and its key was not',
      series: { [webConfig]: '1x5 0x20', [certificateEnd]: '8640000x25' },
      pendingAt: '12m',
      at: '20m',
      fires: scraped,
    },
    {
      when: 'the second of two files came a few minutes after the first',
      series: { [webConfig]: '1x5 0x5 1x10' },
      at: '18m',
    },
  ],
  FilerExporterCertificateEnding: [
    {
      when: 'it ends in ten days',
      series: { [certificateEnd]: '870000x120', [webConfig]: '1x120' },
      pendingAt: '30m',
      at: '100m',
      fires: scraped,
      values: ['10d 0h 0m 0s', '14d 0h 0m 0s'],
    },
    {
      when: 'it was renewed before the hour was over',
      series: { [certificateEnd]: '870000x40 8640000x80', [webConfig]: '1x120' },
      at: '100m',
    },
  ],
  FilerExporterRemoteWriteLagging: [
    {
      when: 'nothing has arrived for half an hour',
      series: { [newestSent]: '0x60', [up('portal')]: '1x60' },
      pendingAt: '25m',
      at: '40m',
      fires: scraped,
      values: ['40m 0s', '20m 0s'],
    },
    {
      when: 'the portal itself is down',
      series: { [newestSent]: '0x60', [up('portal')]: '0x60' },
      at: '40m',
    },
  ],
  FilerExporterRemoteWriteDropping: [
    {
      when: 'the receiver refuses points for good',
      series: { [refused('too_old')]: '0+1x120', [refused('rejected')]: '0x120' },
      pendingAt: '15m',
      at: '90m',
      fires: scraped,
      values: ['60'],
    },
    {
      when: 'points were sent again after a kill',
      series: { [refused('out_of_order')]: '0+10x120' },
      at: '90m',
    },
  ],
  FilerExporterRemoteWriteLosing: [
    {
      when: 'an outage was longer than REMOTE_WRITE_CATCH_UP',
      series: { [unread('catch_up')]: '0x20 1800x100', [unread('rejected')]: '0x120' },
      pendingAt: '24m',
      at: '40m',
      fires: scraped,
      values: ['30m 0s'],
    },
    { when: 'nothing was lost', series: { [unread('catch_up')]: '0x120' }, at: '90m' },
  ],
};

testAlerts('exporter', cases);

test.runIf(hasPromtool)(
  'promtool would see an alert that fires otherwise than expected, and one that does not fire',
  () => {
    const [fires] = cases.FilerApiDown ?? [];
    if (fires === undefined) throw new Error('FilerApiDown has no case that fires');
    for (const otherwise of [{ values: ['something else'] }, { fires: [] }, { fires: scraped }, { at: '2m' }])
      expect(testAlert('FilerApiDown', [{ ...fires, ...otherwise }], undefined).status).toBe(1);
  },
);

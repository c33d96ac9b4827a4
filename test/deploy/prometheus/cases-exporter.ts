import { type AlertCases, api, scraped, series } from './case.ts';

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

/** The cases of the alerts about the exporter and the services: a table, as long as there are alerts. */
export const exporterCases: AlertCases = {
  FilerExporterRestarting: [
    {
      when: 'it starts every five minutes',
      series: { [started]: '0x4 300x4 600x4 900x4 1200x4 1500x10', [build]: '1x40' },
      pendingAt: '22m',
      at: '28m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description:
          'filer-exporter at exporter:9989 has started 5 times in the last hour. Each start costs requests of the daily limit, and data is missing until the first polls have succeeded.',
      },
    },
    { kind: 'silent', when: 'it was updated once', series: { [started]: '0x4 300x40', [build]: '1x40' }, at: '24m' },
    {
      kind: 'silent',
      when: 'another program restarts',
      series: {
        'process_start_time_seconds{instance="other:9100",job="node"}': '0x4 300x4 600x4 900x4 1200x4 1500x10',
        [build]: '1x40',
      },
      at: '24m',
    },
    {
      kind: 'missing',
      when: 'the target has gone: silent, FilerExporterDown speaks',
      series: { [started]: '0x4 300x4 600x4 stale', [build]: '1x12 stale' },
      at: '24m',
    },
  ],
  FilerExporterClockSkew: [
    {
      when: 'the clock of one service is two minutes ahead',
      series: { [skew('gfa')]: '120x40', [skew('portal')]: '-1x40' },
      pendingAt: '10m',
      at: '30m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description:
          'The clock of filer-exporter at exporter:9989 differs from that of a service by 2m 0s. Ages and the alerts on them have the same error, and tokens may be rejected.',
      },
    },
    { kind: 'silent', when: 'it is half a minute behind', series: { [skew('gfa')]: '-30x40' }, at: '30m' },
    { kind: 'missing', when: 'no service says a time: silent', series: { [build]: '1x40' }, at: '30m' },
  ],
  FilerExporterCertificateUrgent: [
    {
      when: 'it ends in a day',
      series: { [certificateEnd]: '88200x40' },
      pendingAt: '3m',
      at: '30m',
      fires: {
        labels: scraped,
        severity: 'critical',
        description:
          'The certificate of filer-exporter at exporter:9989 expires in 1d 0h 0m 0s, which is less than 2d 0h 0m 0s. After it has expired, every scrape fails.',
      },
    },
    { kind: 'silent', when: 'it ends in ten days', series: { [certificateEnd]: '864000x40' }, at: '30m' },
    { kind: 'missing', when: 'there is no TLS: silent', series: { [build]: '1x40' }, at: '30m' },
  ],
  FilerExporterAbsent: [
    {
      when: 'the exporter has had no target for a quarter of an hour: missing data is what it is about',
      series: { 'up{instance="other:9100",job="node"}': '0x20' },
      pendingAt: '3m',
      at: '15m',
      fires: {
        labels: {},
        severity: 'critical',
        description: 'No target is a filer-exporter. There is no data about any filer, so no other alert can fire.',
      },
    },
    {
      kind: 'silent',
      when: 'a target of any job says that it is one',
      series: { [build]: '1x20', [otherBuild]: '1x20' },
      at: '15m',
    },
    {
      kind: 'silent',
      when: 'the target is there and down, which FilerExporterDown says',
      series: { [build]: '1x2 stale', [target]: '1x2 0x30' },
      at: '25m',
    },
    {
      kind: 'missing',
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
      fires: {
        labels: scraped,
        severity: 'critical',
        description: 'Every scrape of filer-exporter at exporter:9989 fails: there is no new data about its filers.',
      },
    },
    {
      kind: 'silent',
      when: 'one scrape in four fails',
      series: { [target]: '1 1 1 0 1 1 1 0 1 1 1 0 1', [build]: '1x12' },
      at: '11m',
    },
    {
      kind: 'missing',
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
      fires: {
        labels: api('portal'),
        severity: 'critical',
        description:
          'filer-exporter at exporter:9989 cannot poll the portal service (timeout). The last values are removed after STALE_AFTER intervals; then alerts on them cannot fire. What happened: no response arrives. What to do: wait.',
      },
    },
    { kind: 'silent', when: 'it comes back within ten minutes', series: { [up('portal')]: '1 0x7 1x10' }, at: '15m' },
    {
      kind: 'missing',
      when: 'the exporter cannot be scraped: silent, FilerExporterDown speaks',
      series: { [up('portal')]: '0x5 stale', [target]: '1x5 0x10' },
      at: '15m',
    },
  ],
  FilerApiTokenRefused: [
    {
      when: 'the portal rejects the key, and file acceleration is well',
      series: { [up('portal')]: '0x15', [down('portal', 'credentials')]: '1x15', [up('gfa')]: '1x15' },
      pendingAt: '3m',
      at: '12m',
      fires: {
        labels: api('portal'),
        severity: 'critical',
        description:
          'The portal service rejects the credentials of filer-exporter at exporter:9989: the token or key is wrong, expired or revoked. Nothing is polled until it is replaced.',
      },
    },
    {
      kind: 'silent',
      when: 'a token was rejected once, and a new one is taken',
      series: { [up('portal')]: '1x15', [requests('portal', 'cpu_utilization', '401')]: '1x5 2x10' },
      at: '12m',
    },
    {
      kind: 'silent',
      when: 'it was rejected before, and is down now because no new token is to be had',
      series: {
        [up('portal')]: '0x15',
        [down('portal', 'credentials')]: '1x2 stale',
        [down('portal', 'server_error')]: '_x3 1x12',
      },
      at: '12m',
    },
    {
      kind: 'missing',
      when: 'the exporter is gone: silent, FilerExporterDown speaks',
      series: { [up('portal')]: '0x3 stale', [down('portal', 'credentials')]: '1x3 stale' },
      at: '12m',
    },
  ],
  FilerInventoryIncomplete: [
    {
      when: 'the account has had no appliance since the start',
      series: { [up('portal')]: '1x30', [gap('all', 'empty')]: '1x30' },
      pendingAt: '10m',
      at: '20m',
      fires: {
        labels: { ...api('portal'), list: 'all', reason: 'empty' },
        severity: 'warning',
        description:
          'The list all of the portal service has a gap (empty) for filer-exporter at exporter:9989. With the list all, no list names any appliance. Appliances may be missing in every dashboard and alert.',
      },
    },
    {
      kind: 'silent',
      when: 'a list is forbidden, or has other ids',
      series: {
        [up('portal')]: '1x30',
        [gap('edges', 'forbidden')]: '1x30',
        [gap('edge_serials', 'other_ids')]: '1x30',
      },
      at: '20m',
    },
    {
      kind: 'silent',
      when: 'the whole portal is down',
      series: { [up('portal')]: '0x30', [gap('edges', 'server_error')]: '1x30' },
      at: '20m',
    },
    {
      kind: 'missing',
      when: 'no list has a gap: silent',
      series: { [up('portal')]: '1x30' },
      at: '20m',
    },
  ],
  FilerApiForbidden: [
    {
      when: 'the file acceleration service rejects each poll with 403, and the portal is well',
      series: { [up('gfa')]: '0x30', [down('gfa', 'forbidden')]: '1x30', [up('portal')]: '1x30' },
      pendingAt: '3m',
      at: '20m',
      fires: {
        labels: api('gfa'),
        severity: 'critical',
        description:
          'The gfa service accepts the credentials of filer-exporter at exporter:9989 and rejects every request: a right of the role or a licence is missing. There is no data of this service until then.',
      },
    },
    {
      kind: 'silent',
      when: 'the service is down for another reason, which FilerApiDown says',
      series: { [up('gfa')]: '0x30', [down('gfa', 'server_error')]: '1x30' },
      at: '20m',
    },
    {
      kind: 'silent',
      when: 'one series is forbidden, which FilerApiPartlyForbidden says',
      series: { [up('portal')]: '1x30', [suspended('forbidden')]: '7x30' },
      at: '20m',
    },
    {
      kind: 'missing',
      when: 'the exporter is gone: silent, FilerExporterDown speaks',
      series: { [up('gfa')]: '0x4 stale', [down('gfa', 'forbidden')]: '1x4 stale' },
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
      fires: {
        labels: api('portal'),
        severity: 'warning',
        description:
          'The portal service rejects some requests of filer-exporter at exporter:9989: a right of the role or a licence is missing. Rejected operations have no series, and are polled at the discovery interval. What happened: requests returned 403: User lacks permission can_view. What to do: give the role the right.',
      },
    },
    {
      when: 'the list of edges is forbidden while its collector is on',
      series: { [up('portal')]: '1x30', [suspended('forbidden')]: '0x30', [gap('edges', 'forbidden')]: '1x30' },
      at: '20m',
      fires: {
        labels: api('portal'),
        severity: 'warning',
        description:
          'The portal service rejects some requests of filer-exporter at exporter:9989: a right of the role or a licence is missing. Rejected operations have no series, and are polled at the discovery interval.',
      },
    },
    {
      kind: 'silent',
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
      kind: 'silent',
      when: 'the inventory is forbidden, and appliances are listed in PORTAL_SERIALS',
      series: {
        [up('portal')]: '1x30',
        [suspended('forbidden')]: '0x30',
        [requests('portal', 'serials', '403')]: '1+1x30',
      },
      at: '20m',
    },
    {
      kind: 'silent',
      when: 'the credentials are refused with 401',
      series: {
        [up('portal')]: '0x30',
        [suspended('forbidden')]: '0x30',
        [requests('portal', 'token', '401')]: '1+1x30',
      },
      at: '20m',
    },
    {
      kind: 'missing',
      when: 'the exporter is gone: silent, FilerExporterDown speaks',
      series: { [up('portal')]: '1x4 stale', [suspended('forbidden')]: '7x4 stale' },
      at: '20m',
    },
  ],
  FilerExporterDataOld: [
    {
      when: 'two series of an appliance fail for half an hour, and the API is well',
      series: { [overdue]: '0x10 2x50', [up('portal')]: '1x60' },
      pendingAt: '25m',
      at: '40m',
      fires: {
        labels: api('portal'),
        severity: 'warning',
        description:
          'filer-exporter at exporter:9989 has 2 overdue tasks of the portal service. Neither the limits nor unavailable appliances explain it: the service responds, but polls of some lists or series keep failing.',
      },
    },
    {
      kind: 'silent',
      when: 'a task is late now and then',
      series: { [overdue]: '0x5 1x5 0x5 2x5 0x5 1x5', [up('portal')]: '1x40' },
      at: '34m',
    },
    {
      kind: 'silent',
      when: 'an appliance fails: its tasks are late until it is known to be down',
      series: { [overdue]: '0x12 15x4 0x40', [up('portal')]: '1x60' },
      at: '34m',
    },
    {
      kind: 'silent',
      when: 'the whole API is down, which FilerApiDown says',
      series: { [overdue]: '180x60', [up('portal')]: '0x60' },
      at: '50m',
    },
    {
      kind: 'missing',
      when: 'the exporter cannot be scraped: silent, FilerExporterDown speaks',
      series: { [overdue]: '2x5 stale', [up('portal')]: '1x5 stale' },
      at: '25m',
    },
  ],
  FilerExporterThrottled: [
    {
      when: 'other tools use the limit',
      series: { [throttled]: '1x120' },
      pendingAt: '10m',
      at: '20m',
      fires: {
        labels: api('portal'),
        severity: 'warning',
        description:
          'The portal service throttles filer-exporter at exporter:9989: other tools use the same limit, or it is lower than configured. The request rate stays below it, so data is polled less often.',
      },
    },
    { kind: 'silent', when: 'the limit is free', series: { [throttled]: '0x120' }, at: '100m' },
    { kind: 'missing', when: 'no exporter is scraped: silent', series: {}, at: '100m' },
  ],
  FilerExporterIntervalStretched: [
    {
      when: 'the fleet takes twenty minutes instead of five',
      series: { [effective]: '1200x60', [configured]: '300x60' },
      pendingAt: '20m',
      at: '45m',
      fires: {
        labels: api('portal'),
        severity: 'warning',
        description:
          'filer-exporter at exporter:9989 can poll the portal service only every 20m 0s: the fleet is too large for the limits, or the request rate has fallen.',
      },
    },
    {
      kind: 'silent',
      when: 'twenty minutes are what is asked for',
      series: { [effective]: '1200x60', [configured]: '1200x60' },
      at: '45m',
    },
    {
      kind: 'missing',
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
      fires: {
        labels: { ...api('portal'), reason: 'invalid' },
        severity: 'warning',
        description:
          '60 values of the portal service had no sample in the last hour (invalid), at exporter:9989. Their series are missing or incomplete.',
      },
    },
    {
      kind: 'silent',
      when: 'fields are only absent, and two values were unreadable once',
      series: { [dropped('invalid')]: '0x60 2x60', [dropped('absent')]: '0+20x120' },
      at: '100m',
    },
    {
      kind: 'missing',
      when: 'the exporter cannot be scraped: silent, FilerExporterDown speaks',
      series: { [dropped('absent')]: '0+20x10 stale' },
      at: '100m',
    },
  ],
  FilerExporterClientKeyShared: [
    {
      when: 'the bookmarks show another client',
      series: { [series('filer_exporter_client_key_shared', scraped)]: '1x20' },
      pendingAt: '5m',
      at: '12m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description:
          'Another client seems to use the GFA_CLIENT_KEY of filer-exporter at exporter:9989, so each counts only a part of the lock and propagation events.',
      },
    },
    {
      kind: 'silent',
      when: 'they show none',
      series: { [series('filer_exporter_client_key_shared', scraped)]: '0x20' },
      at: '12m',
    },
    {
      kind: 'missing',
      when: 'the exporter is gone: silent, FilerExporterDown speaks',
      series: { [series('filer_exporter_client_key_shared', scraped)]: '1x5 stale' },
      at: '12m',
    },
  ],
  FilerExporterStateFileFailing: [
    {
      when: 'each write fails',
      series: { [series('filer_exporter_state_file_errors_total', scraped)]: '0+1x40' },
      pendingAt: '10m',
      at: '30m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description:
          'Reading or writing the state file of filer-exporter at exporter:9989 failed 15 times in 15 minutes. Polling continues. After a restart, counters continue from the last successful write.',
      },
    },
    {
      kind: 'silent',
      when: 'one write failed, and the next ones did not',
      series: { [series('filer_exporter_state_file_errors_total', scraped)]: '0x5 1x40' },
      at: '30m',
    },
    {
      kind: 'missing',
      when: 'the exporter is gone: silent, FilerExporterDown speaks',
      series: { [series('filer_exporter_state_file_errors_total', scraped)]: '0+1x5 stale' },
      at: '45m',
    },
  ],
  FilerExporterWebConfigRefused: [
    {
      when: 'a certificate was renewed and its key was not',
      series: { [webConfig]: '1x5 0x20', [certificateEnd]: '8640000x25' },
      pendingAt: '12m',
      at: '20m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description:
          'filer-exporter at exporter:9989 keeps its previous web configuration, because the new one has errors. Changes in it or in its certificates have no effect. With these files a restart would fail.',
      },
    },
    {
      kind: 'silent',
      when: 'the second of two files came a few minutes after the first',
      series: { [webConfig]: '1x5 0x5 1x10' },
      at: '18m',
    },
    {
      kind: 'missing',
      when: 'the exporter is gone: silent, FilerExporterDown speaks',
      series: { [webConfig]: '1 0x3 stale' },
      at: '20m',
    },
  ],
  FilerExporterCertificateEnding: [
    {
      when: 'it ends in ten days',
      series: { [certificateEnd]: '870000x120', [webConfig]: '1x120' },
      pendingAt: '30m',
      at: '100m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description:
          'The certificate of filer-exporter at exporter:9989 expires in 10d 0h 0m 0s, which is less than 14d 0h 0m 0s. After it has expired, every scrape fails.',
      },
    },
    {
      kind: 'silent',
      when: 'it was renewed before the hour was over',
      series: { [certificateEnd]: '870000x40 8640000x80', [webConfig]: '1x120' },
      at: '100m',
    },
    {
      kind: 'missing',
      when: 'it serves without TLS: silent',
      series: { [webConfig]: '1x120' },
      at: '100m',
    },
  ],
  FilerExporterRemoteWriteLagging: [
    {
      when: 'nothing has arrived for half an hour',
      series: { [newestSent]: '0x60', [up('portal')]: '1x60' },
      pendingAt: '25m',
      at: '40m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description:
          'The newest point that filer-exporter at exporter:9989 has delivered by remote write is 40m 0s old, which is more than 20m 0s: the receiver accepts no points. Nothing is lost within REMOTE_WRITE_CATCH_UP.',
      },
    },
    {
      kind: 'silent',
      when: 'the portal itself is down',
      series: { [newestSent]: '0x60', [up('portal')]: '0x60' },
      at: '40m',
    },
    { kind: 'missing', when: 'nothing is sent by remote write: silent', series: { [up('portal')]: '1x60' }, at: '40m' },
  ],
  FilerExporterRemoteWriteDropping: [
    {
      when: 'the receiver refuses points for good',
      series: { [refused('too_old')]: '0+1x120', [refused('rejected')]: '0x120' },
      pendingAt: '15m',
      at: '90m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description:
          'The receiver of remote write has rejected 60 points of filer-exporter at exporter:9989 in an hour. They are dropped. The label reason and the log have the cause.',
      },
    },
    {
      kind: 'silent',
      when: 'points were sent again after a kill',
      series: { [refused('out_of_order')]: '0+10x120' },
      at: '90m',
    },
    { kind: 'missing', when: 'nothing is sent by remote write: silent', series: { [up('portal')]: '1x60' }, at: '40m' },
  ],
  FilerExporterRemoteWriteLosing: [
    {
      when: 'an outage was longer than REMOTE_WRITE_CATCH_UP',
      series: { [unread('catch_up')]: '0x20 1800x100', [unread('rejected')]: '0x120' },
      pendingAt: '24m',
      at: '40m',
      fires: {
        labels: scraped,
        severity: 'warning',
        description:
          'filer-exporter at exporter:9989 has lost 30m 0s of history in an hour, of all series together. The label reason has the cause; `--backfill` may still be able to read it.',
      },
    },
    { kind: 'silent', when: 'nothing was lost', series: { [unread('catch_up')]: '0x120' }, at: '90m' },
    {
      kind: 'missing',
      when: 'nothing is sent by remote write: silent',
      series: { [up('portal')]: '1x60' },
      at: '40m',
    },
  ],
};

import { type AlertRule, spell, type Thresholds } from '../rule.ts';

/**
 * Targets that do not answer, and served this exporter's metrics in the last week: the operator chooses the name of the
 * job, so only the series identify the exporter.
 */
const DOWN = 'up == 0 and on (job, instance) last_over_time(filer_exporter_build_info[1w])';

/** Why an API is down, if that is known: asked when the alert is written, so that a new reason is no new alert. */
const REASON =
  '{{ range query (printf "filer_api_down_info{instance=%q,api=%q}" $labels.instance $labels.api) }} ({{ .Labels.reason }}){{ end }}';

/** Alerts about the exporter, and about the services as it sees them. */
export function exporterAlerts(limits: Thresholds): readonly AlertRule[] {
  const page = 'exporter';
  return [
    {
      alert: 'FilerExporterAbsent',
      severity: 'critical',
      for: '10m',
      expr: `absent(filer_exporter_build_info)\nunless on () (${DOWN})`,
      summary: 'Prometheus scrapes no filer-exporter.',
      description: 'No target is a filer-exporter. There is no data about any filer, so no other alert can fire.',
      page,
    },
    {
      alert: 'FilerExporterDown',
      severity: 'critical',
      for: '5m',
      expr: DOWN,
      summary: 'filer-exporter at {{ $labels.instance }} cannot be scraped.',
      description: 'Every scrape fails: there is no new data about its filers.',
      page,
    },
    {
      alert: 'FilerApiDown',
      severity: 'critical',
      for: '10m',
      expr: 'filer_api_up == 0',
      summary: `filer-exporter at {{ $labels.instance }} cannot poll the {{ $labels.api }} API${REASON}.`,
      description: 'Its last values are removed after STALE_AFTER intervals; then alerts on them cannot fire.',
      page,
    },
    {
      alert: 'FilerApiTokenRefused',
      severity: 'critical',
      for: '5m',
      expr: [
        'sum without (operation, code) (increase(filer_exporter_requests_total{code="401"}[15m])) > 0',
        'and filer_api_up == 0',
      ].join('\n'),
      summary: 'The {{ $labels.api }} API rejects the credentials of filer-exporter at {{ $labels.instance }} (401).',
      description: 'The token or key is wrong, expired or revoked. Nothing is polled until it is replaced.',
      page,
    },
    {
      alert: 'FilerApiForbidden',
      severity: 'warning',
      for: '15m',
      expr: [
        'sum without (reason) (filer_exporter_tasks_resting{reason="forbidden"}) > 0',
        'or',
        'count without (list, reason) (filer_exporter_inventory_gap_info{reason="forbidden"})',
        'or',
        'sum without (operation, code) (increase(filer_exporter_requests_total{code="403",operation!="edges"}[15m])) > 0',
        'and filer_api_up == 0',
      ].join('\n'),
      summary: 'The {{ $labels.api }} API rejects some requests of filer-exporter at {{ $labels.instance }} (403).',
      description:
        'A right of the role or a licence is missing. Rejected operations have no series, and are polled at the discovery interval.',
      page,
    },
    {
      alert: 'FilerInventoryIncomplete',
      severity: 'warning',
      for: '15m',
      expr: [
        'filer_exporter_inventory_gap_info{reason!~"forbidden|other_ids"}',
        'unless on (job, instance, api) filer_api_up == 0',
      ].join('\n'),
      summary:
        'The inventory of filer-exporter at {{ $labels.instance }} has a gap: {{ $labels.list }} ({{ $labels.reason }}).',
      description:
        'The list cannot be read, or is empty though another one is not; all: no list names any appliance. Appliances may be missing in every dashboard and alert.',
      page,
    },
    {
      alert: 'FilerExporterDataOld',
      severity: 'warning',
      // Longer than an appliance takes from missing two polls until it is down.
      for: '20m',
      expr: ['filer_exporter_tasks_overdue > 0', 'unless on (job, instance, api) filer_api_up == 0'].join('\n'),
      summary:
        'Tasks of the {{ $labels.api }} API whose data is older than their interval: {{ $value }}, at {{ $labels.instance }}.',
      description:
        'Neither the limits nor unavailable appliances explain it: the API answers, but polls of some lists or series keep failing.',
      page,
    },
    {
      alert: 'FilerExporterThrottled',
      severity: 'warning',
      for: '15m',
      expr: 'filer_exporter_account_throttled == 1',
      summary:
        'The {{ $labels.api }} API allows filer-exporter at {{ $labels.instance }} clearly less than is configured (429).',
      description:
        'Other tools use the same limit, or it is lower than configured. The pace stays below it, so data is polled less often.',
      page,
    },
    {
      alert: 'FilerExporterIntervalStretched',
      severity: 'warning',
      for: '30m',
      expr: `filer_exporter_effective_interval_seconds > ${limits.intervalStretch} * filer_exporter_configured_interval_seconds`,
      summary:
        'filer-exporter at {{ $labels.instance }} can poll the {{ $labels.api }} API only every {{ $value | humanizeDuration }}.',
      description: 'The limits do not allow the configured interval: the fleet is too large, or the pace has fallen.',
      page,
    },
    {
      alert: 'FilerExporterSamplesDropped',
      severity: 'warning',
      for: '15m',
      expr: `increase(filer_exporter_samples_dropped_total{reason!="absent"}[1h]) > ${limits.droppedAnHour}`,
      summary:
        '{{ $value | humanize }} values of the {{ $labels.api }} API have no sample in the last hour ({{ $labels.reason }}), at {{ $labels.instance }}.',
      description: 'The service sends values that the exporter cannot use; their series are missing or incomplete.',
      page,
    },
    {
      alert: 'FilerExporterClientKeyShared',
      severity: 'warning',
      for: '10m',
      expr: 'filer_exporter_client_key_shared == 1',
      summary: 'Another client seems to receive events of filer-exporter at {{ $labels.instance }}.',
      description:
        'Two instances use one GFA_CLIENT_KEY, so each counts only a part of the lock and propagation events.',
      page,
    },
    {
      alert: 'FilerExporterRestarting',
      severity: 'warning',
      for: '0m',
      expr: [
        `changes(process_start_time_seconds[1h]) > ${limits.restartsAnHour}`,
        'and on (job, instance) filer_exporter_build_info',
      ].join('\n'),
      summary: 'filer-exporter at {{ $labels.instance }} has started {{ $value | humanize }} times in the last hour.',
      description:
        'Each start costs requests of the daily limit, and data is missing until the first polls have succeeded.',
      page,
    },
    {
      alert: 'FilerExporterClockSkew',
      severity: 'warning',
      for: '15m',
      expr: `max without (api) (abs(filer_exporter_clock_skew_seconds)) > ${limits.clockSkew}`,
      summary: 'The clock of filer-exporter at {{ $labels.instance }} is {{ $value | humanizeDuration }} off.',
      description: 'Ages and the alerts on them have the same error, and tokens may be rejected.',
      page,
    },
    {
      alert: 'FilerExporterStateFileFailing',
      severity: 'warning',
      for: '15m',
      expr: 'increase(filer_exporter_state_file_errors_total[15m]) > 0',
      summary: 'filer-exporter at {{ $labels.instance }} cannot read or write its state file.',
      description: 'Polling continues. After a restart, counters continue from the last successful write.',
      page,
    },
    {
      alert: 'FilerExporterWebConfigRefused',
      severity: 'warning',
      for: '10m',
      expr: 'filer_exporter_web_config_last_reload_successful == 0',
      summary: 'filer-exporter at {{ $labels.instance }} keeps its previous web configuration: the new one has faults.',
      description: 'Changes in it or in its certificates have no effect. With these files a restart would fail.',
      page,
    },
    {
      alert: 'FilerExporterCertificateUrgent',
      severity: 'critical',
      for: '5m',
      expr: `filer_exporter_web_certificate_expiry_timestamp_seconds - time() < ${limits.certificateEnds}`,
      summary:
        'The certificate of filer-exporter at {{ $labels.instance }} expires in {{ $value | humanizeDuration }}.',
      description: `Less than ${spell(limits.certificateEnds)} are left. After it has expired, every scrape fails.`,
      page,
    },
    {
      alert: 'FilerExporterCertificateEnding',
      severity: 'warning',
      for: '1h',
      expr: `filer_exporter_web_certificate_expiry_timestamp_seconds - time() < ${limits.certificateLeft}`,
      summary:
        'The certificate of filer-exporter at {{ $labels.instance }} expires in {{ $value | humanizeDuration }}.',
      description: `Less than ${spell(limits.certificateLeft)} are left. After it has expired, every scrape fails.`,
      page,
    },
    {
      alert: 'FilerExporterRemoteWriteLagging',
      severity: 'warning',
      for: '10m',
      expr: [
        `time() - filer_exporter_remote_write_newest_timestamp_seconds > ${limits.remoteWriteLag}`,
        'unless on (job, instance) filer_api_up{api="portal"} == 0',
      ].join('\n'),
      summary:
        'The newest point that filer-exporter at {{ $labels.instance }} has delivered by remote write is {{ $value | humanizeDuration }} old.',
      description: `More than ${spell(limits.remoteWriteLag)}: the receiver accepts no points. Nothing is lost within REMOTE_WRITE_CATCH_UP.`,
      page,
    },
    {
      alert: 'FilerExporterRemoteWriteDropping',
      severity: 'warning',
      for: '10m',
      expr: [
        'sum without (reason) (',
        '  increase(filer_exporter_remote_write_dropped_points_total{reason=~"too_old|too_large|rejected|future"}[1h])',
        `) > ${limits.remoteWriteDropped}`,
      ].join('\n'),
      summary:
        'The receiver of remote write has rejected {{ $value | humanize }} points of filer-exporter at {{ $labels.instance }} in an hour.',
      description: 'They are dropped. The label reason and the log have the cause.',
      page,
    },
    {
      alert: 'FilerExporterRemoteWriteLosing',
      severity: 'warning',
      for: '5m',
      expr: 'sum without (reason) (increase(filer_exporter_remote_write_lost_seconds_total[1h])) > 0',
      summary:
        'filer-exporter at {{ $labels.instance }} could not read {{ $value | humanizeDuration }} of history in an hour.',
      description: 'Of all series together. The label reason has the cause; `--backfill` may still be able to read it.',
      page,
    },
  ];
}

import { type AlertRule, spell, type Thresholds } from '../rule.ts';

/**
 * Targets that cannot be scraped now, and had this exporter's metrics within the last week. The operator chooses the name
 * of the job, so only its metrics identify the exporter.
 */
const DOWN = 'up == 0 and on (job, instance) last_over_time(filer_exporter_build_info[1w])';

/**
 * The reason why a service is down, if it is known. The description queries it, so that a new reason does not start a new
 * alert.
 */
const REASON =
  '{{ range query (printf "filer_api_down_info{job=%q,instance=%q,api=%q} == 1" $labels.job $labels.instance $labels.api) }} ({{ .Labels.reason }}){{ end }}';

/** What happened to the service and what to do, as `/status` says it; queried as `REASON` is. `warnings`: a regular expression. */
function explained(warnings: string): string {
  const query = `printf "filer_exporter_warning_info{job=%q,instance=%q,api=%q,warning=~%q}" $labels.job $labels.instance $labels.api "${warnings}"`;
  return `{{ range query (${query}) }} What happened: {{ .Labels.happened }}. What to do: {{ .Labels.advice }}.{{ end }}`;
}

const page = 'exporter';
const exporter = 'filer-exporter at {{ $labels.instance }}';

/** Alerts about the exporter, and about the services as it sees them. */
export function exporterAlerts(limits: Thresholds): readonly AlertRule[] {
  const service = 'The {{ $labels.api }} service';
  return [
    {
      alert: 'FilerExporterAbsent',
      severity: 'critical',
      for: '5m',
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
      summary: 'An exporter cannot be scraped.',
      description: `Every scrape of ${exporter} fails: there is no new data about its filers.`,
      page,
    },
    {
      alert: 'FilerApiDown',
      severity: 'critical',
      for: '10m',
      expr: 'filer_api_up == 0',
      summary: 'A service cannot be polled.',
      description: `${exporter} cannot poll the {{ $labels.api }} service${REASON}. The last values are removed after STALE_AFTER intervals; then alerts on them cannot fire.${explained('down')}`,
      page,
    },
    {
      alert: 'FilerApiTokenRefused',
      severity: 'critical',
      for: '5m',
      expr: 'max without (reason) (filer_api_down_info{reason="credentials"}) == 1',
      summary: 'A service rejects the credentials of the exporter.',
      description: `${service} rejects the credentials of ${exporter}: the token or key is wrong, expired or revoked. Nothing is polled until it is replaced.${explained('down')}`,
      page,
    },
    {
      alert: 'FilerApiForbidden',
      severity: 'critical',
      for: '5m',
      expr: 'max without (reason) (filer_api_down_info{reason="forbidden"}) == 1',
      summary: 'A service rejects every request of the exporter (403).',
      description: `${service} accepts the credentials of ${exporter} and rejects every request: a right of the role or a licence is missing. There is no data of this service until then.${explained('down')}`,
      page,
    },
    {
      alert: 'FilerApiPartlyForbidden',
      severity: 'warning',
      for: '15m',
      expr: [
        'sum without (reason) (filer_exporter_tasks_suspended{reason="forbidden"}) > 0',
        'or',
        'max without (list, reason) (filer_exporter_inventory_gap_info{reason="forbidden"}) == 1',
      ].join('\n'),
      summary: 'A service rejects some requests of the exporter (403).',
      description: `${service} rejects some requests of ${exporter}: a right of the role or a licence is missing. Rejected operations have no series, and are polled at the discovery interval.${explained('forbidden|licence|inventory')}`,
      page,
    },
    {
      alert: 'FilerInventoryIncomplete',
      severity: 'warning',
      for: '15m',
      expr: [
        'filer_exporter_inventory_gap_info{reason!~"forbidden|other_ids"} == 1',
        'unless on (job, instance, api) filer_api_up == 0',
      ].join('\n'),
      summary: 'A list of the inventory cannot be read, or is empty.',
      description: `The list {{ $labels.list }} of the {{ $labels.api }} service has a gap ({{ $labels.reason }}) for ${exporter}. With the list all, no list names any appliance. Appliances may be missing in every dashboard and alert.${explained('inventory')}`,
      page,
    },
    {
      alert: 'FilerExporterDataOld',
      severity: 'warning',
      // An appliance is down before this time has passed since it missed two polls.
      for: '20m',
      expr: ['filer_exporter_tasks_overdue > 0', 'unless on (job, instance, api) filer_api_up == 0'].join('\n'),
      summary: 'Some data is older than its polling interval.',
      description: `${exporter} has {{ $value }} overdue tasks of the {{ $labels.api }} service. Neither the limits nor unavailable appliances explain it: the service responds, but polls of some lists or series keep failing.`,
      page,
    },
    {
      alert: 'FilerExporterThrottled',
      severity: 'warning',
      for: '15m',
      expr: 'filer_exporter_account_throttled == 1',
      summary: 'A service allows the exporter clearly less than is configured (429).',
      description: `${service} throttles ${exporter}: other tools use the same limit, or it is lower than configured. The request rate stays below it, so data is polled less often.`,
      page,
    },
    {
      alert: 'FilerExporterIntervalStretched',
      severity: 'warning',
      for: '30m',
      expr: `filer_exporter_effective_interval_seconds > ${limits.intervalStretch} * filer_exporter_configured_interval_seconds`,
      summary: 'The limits do not allow the configured polling interval.',
      description: `${exporter} can poll the {{ $labels.api }} service only every {{ $value | humanizeDuration }}: the fleet is too large for the limits, or the request rate has fallen.`,
      page,
    },
    {
      alert: 'FilerExporterSamplesDropped',
      severity: 'warning',
      for: '15m',
      expr: `increase(filer_exporter_samples_dropped_total{reason!="absent"}[1h]) > ${limits.droppedAnHour}`,
      summary: 'A service sends values that the exporter cannot use.',
      description: `{{ $value | humanize }} values of the {{ $labels.api }} service had no sample in the last hour ({{ $labels.reason }}), at {{ $labels.instance }}. Their series are missing or incomplete.`,
      page,
    },
    {
      alert: 'FilerExporterClientKeyShared',
      severity: 'warning',
      for: '10m',
      expr: 'filer_exporter_client_key_shared == 1',
      summary: 'Another client seems to receive events of the exporter.',
      description: `Another client seems to use the GFA_CLIENT_KEY of ${exporter}, so each counts only a part of the lock and propagation events.`,
      page,
    },
    {
      alert: 'FilerExporterRestarting',
      severity: 'warning',
      for: '5m',
      expr: [
        `changes(process_start_time_seconds[1h]) > ${limits.restartsAnHour}`,
        'and on (job, instance) filer_exporter_build_info',
      ].join('\n'),
      summary: 'An exporter restarts again and again.',
      description: `${exporter} has started {{ $value | humanize }} times in the last hour. Each start costs requests of the daily limit, and data is missing until the first polls have succeeded.`,
      page,
    },
    {
      alert: 'FilerExporterClockSkew',
      severity: 'warning',
      for: '15m',
      expr: `max without (api) (abs(filer_exporter_clock_skew_seconds)) > ${limits.clockSkew}`,
      summary: 'The clock of the exporter is wrong.',
      description: `The clock of ${exporter} differs from that of a service by {{ $value | humanizeDuration }}. Ages and the alerts on them have the same error, and tokens may be rejected.`,
      page,
    },
    {
      alert: 'FilerExporterStateFileFailing',
      severity: 'warning',
      for: '15m',
      expr: 'increase(filer_exporter_state_file_errors_total[15m]) > 0',
      summary: 'The exporter cannot read or write its state file.',
      description: `Reading or writing the state file of ${exporter} failed {{ $value | humanize }} times in 15 minutes. Polling continues. After a restart, counters continue from the last successful write.`,
      page,
    },
    {
      alert: 'FilerExporterWebConfigRefused',
      severity: 'warning',
      for: '10m',
      expr: 'filer_exporter_web_config_last_reload_successful == 0',
      summary: 'The new web configuration of the exporter has errors.',
      description: `${exporter} keeps its previous web configuration, because the new one has errors. Changes in it or in its certificates have no effect. With these files a restart would fail.`,
      page,
    },
    {
      alert: 'FilerExporterCertificateUrgent',
      severity: 'critical',
      for: '5m',
      expr: `filer_exporter_web_certificate_expiry_timestamp_seconds - time() < ${limits.certificateEnds}`,
      summary: 'The certificate of the exporter is about to expire.',
      description: `The certificate of ${exporter} expires in {{ $value | humanizeDuration }}, which is less than ${spell(limits.certificateEnds)}. After it has expired, every scrape fails.`,
      page,
    },
    {
      alert: 'FilerExporterCertificateEnding',
      severity: 'warning',
      for: '1h',
      expr: `filer_exporter_web_certificate_expiry_timestamp_seconds - time() < ${limits.certificateLeft}`,
      summary: 'The certificate of the exporter expires soon.',
      description: `The certificate of ${exporter} expires in {{ $value | humanizeDuration }}, which is less than ${spell(limits.certificateLeft)}. After it has expired, every scrape fails.`,
      page,
    },
  ];
}

/** Alerts about what the exporter sends by remote write. */
export function remoteWriteAlerts(limits: Thresholds): readonly AlertRule[] {
  return [
    {
      alert: 'FilerExporterRemoteWriteLagging',
      severity: 'warning',
      for: '10m',
      expr: [
        `time() - filer_exporter_remote_write_newest_timestamp_seconds > ${limits.remoteWriteLag}`,
        'unless on (job, instance) filer_api_up{api="portal"} == 0',
      ].join('\n'),
      summary: 'Remote write delivers nothing new.',
      description: `The newest point that ${exporter} has delivered by remote write is {{ $value | humanizeDuration }} old, which is more than ${spell(limits.remoteWriteLag)}: the receiver accepts no points. Nothing is lost within REMOTE_WRITE_CATCH_UP.`,
      page,
    },
    {
      alert: 'FilerExporterRemoteWriteDropping',
      severity: 'warning',
      for: '10m',
      expr: [
        'sum without (reason) (',
        '  increase(filer_exporter_remote_write_dropped_points_total{reason=~"too_old|too_large|rejected|future|invalid"}[1h])',
        `) > ${limits.remoteWriteDropped}`,
      ].join('\n'),
      summary: 'The receiver of remote write rejects points.',
      description: `The receiver of remote write has rejected {{ $value | humanize }} points of ${exporter} in an hour. They are dropped. The label reason and the log have the cause.`,
      page,
    },
    {
      alert: 'FilerExporterRemoteWriteLosing',
      severity: 'warning',
      for: '5m',
      expr: 'sum without (reason) (increase(filer_exporter_remote_write_lost_seconds_total[1h])) > 0',
      summary: 'History of the last hour could not be read.',
      description: `${exporter} has lost {{ $value | humanizeDuration }} of history in an hour, of all series together. The label reason has the cause; \`--backfill\` may still be able to read it.`,
      page,
    },
  ];
}

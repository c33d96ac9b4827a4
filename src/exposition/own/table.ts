import type { Labels, MetricType } from '../../metrics/family.ts';
import type { ApiStatus, ExporterStatus } from './status.ts';

/** The value of a metric without labels, or one of each labels; what is undefined is not written. */
export type OwnValues = number | undefined | Iterable<readonly [labels: Labels, value: number | undefined]>;

/** A metric about the exporter itself. */
export interface OwnMetric {
  readonly name: `filer_${string}`;
  readonly help: string;
  /** A gauge by default. */
  readonly type?: MetricType;
  /** None by default. */
  readonly labels?: readonly string[];
  /** Reads it at each scrape. Without it the metric is counted as things happen, in `metrics.ts`. */
  readonly read?: (status: ExporterStatus) => OwnValues;
}

function perApi(value: (api: ApiStatus) => number | undefined): (status: ExporterStatus) => OwnValues {
  return ({ apis }) => apis.map((status) => [{ api: status.api }, value(status)]);
}

function perApiAnd(
  label: string,
  values: (api: ApiStatus) => Iterable<readonly [labelValue: string, value: number | undefined]>,
): (status: ExporterStatus) => OwnValues {
  return ({ apis }) =>
    apis.flatMap((status) =>
      [...values(status)].map(([text, value]) => [{ api: status.api, [label]: text }, value] as const),
    );
}

/** What the exporter says about itself, beside Node's own process metrics. Add a metric that is read here and nowhere else. */
export const ownTable = {
  up: {
    name: 'filer_api_up',
    help: '1 while the API gives what is asked of it: the latest poll of at least one task that decides (where appliances are polled, one of theirs) brought an answer that is still fresh, and it is not known to be down.',
    labels: ['api'],
    read: perApi(({ up }) => (up ? 1 : 0)),
  },
  down: {
    name: 'filer_api_down_info',
    help: 'Always 1, and only while filer_api_up is 0: why, as credentials, throttled (429), forbidden (403), server_error, timeout, network, invalid.',
    labels: ['api', 'reason'],
    read: perApiAnd('reason', ({ downReason }) => (downReason === undefined ? [] : [[downReason, 1]])),
  },
  buildInfo: {
    name: 'filer_exporter_build_info',
    help: 'Always 1: what is running.',
    labels: ['version', 'revision', 'node_version'],
  },
  requests: {
    name: 'filer_exporter_requests_total',
    help: 'Requests sent to the APIs, by what came of them: the HTTP status, or timeout, network, invalid, oversize.',
    type: 'counter',
    labels: ['api', 'operation', 'code'],
  },
  requestDuration: {
    name: 'filer_exporter_request_duration_seconds',
    help: 'Time from sending a request to its whole answer.',
    type: 'histogram',
    labels: ['api', 'operation'],
  },
  requestsInFlight: {
    name: 'filer_exporter_requests_in_flight',
    help: 'Requests that are waiting for an answer.',
    labels: ['api'],
  },
  throttled: {
    name: 'filer_exporter_throttled_total',
    help: 'Requests that the API rejected with 429.',
    type: 'counter',
    labels: ['api'],
  },
  pace: {
    name: 'filer_exporter_pace_requests_per_second',
    help: 'What the pacing allows now; 0 while everything is held after a refusal.',
    labels: ['api'],
    read: perApi(({ pacePerSecond }) => pacePerSecond),
  },
  budgetRemaining: {
    name: 'filer_exporter_daily_budget_remaining',
    help: 'Requests left of the last 24 hours’ limit, as far as this process has spent it.',
    labels: ['api'],
    read: perApi(({ budgetRemaining }) => budgetRemaining),
  },
  budgetLimit: {
    name: 'filer_exporter_daily_budget_limit',
    help: 'Requests that this instance may send in 24 hours; missing where there is no limit.',
    labels: ['api'],
    read: perApi(({ budgetLimit }) => budgetLimit),
  },
  lastSuccess: {
    name: 'filer_exporter_last_success_timestamp_seconds',
    help: 'Time of the last successful poll of the API.',
    labels: ['api'],
    read: perApi(({ lastSuccessSeconds }) => lastSuccessSeconds),
  },
  sweepDuration: {
    name: 'filer_exporter_sweep_duration_seconds',
    help: 'How long the last whole round over all tasks took.',
    labels: ['api'],
    read: perApi(({ sweepSeconds }) => sweepSeconds),
  },
  effectiveInterval: {
    name: 'filer_exporter_effective_interval_seconds',
    help: 'Time between two polls as the limits allow it; above the configured interval when the fleet is too large.',
    labels: ['api'],
    read: perApi(({ effectiveIntervalSeconds }) => effectiveIntervalSeconds),
  },
  configuredInterval: {
    name: 'filer_exporter_configured_interval_seconds',
    help: 'Configured time between two polls, to compare the effective interval with.',
    labels: ['api'],
    read: perApi(({ configuredIntervalSeconds }) => configuredIntervalSeconds),
  },
  upstreamVariant: {
    name: 'filer_exporter_upstream_variant_info',
    help: 'Always 1: which of its undocumented alternatives the account shows; docs/doctor.md has the questions.',
    labels: ['api', 'question', 'answer'],
    read: ({ apis }) =>
      apis.flatMap(({ api, variants }) =>
        variants.map(({ question, answer }) => [{ api, question, answer }, 1] as const),
      ),
  },
  tasksResting: {
    name: 'filer_exporter_tasks_resting',
    help: 'Tasks backed off, by reason: forbidden (right or licence, 403), not_found (404), rejected (422), each twice in a row; empty (no record in three answers).',
    labels: ['api', 'reason'],
    read: perApiAnd('reason', ({ resting }) => resting),
  },
  tasksOverdue: {
    name: 'filer_exporter_tasks_overdue',
    help: 'Tasks, of those that do not rest, that have missed more than one poll: no success for two and a half of their intervals as the limits stretch them.',
    labels: ['api'],
    read: perApi(({ overdue }) => overdue),
  },
  dataAge: {
    name: 'filer_exporter_data_age_seconds',
    help: 'Time since the last successful poll of a task, over all that do not rest: the median one and the worst.',
    labels: ['api', 'statistic'],
    read: perApiAnd('statistic', (api) => [
      ['median', api.medianAgeSeconds],
      ['worst', api.worstAgeSeconds],
    ]),
  },
  worstDataAge: {
    name: 'filer_exporter_data_age_computed_worst_seconds',
    help: 'The worst age that healthy data can reach by interval, demand and limits as they are; measured ages above it are of tasks that fail.',
    labels: ['api'],
    read: perApi(({ computedWorstAgeSeconds }) => computedWorstAgeSeconds),
  },
  samples: {
    name: 'filer_exporter_samples',
    help: 'Samples of upstream data that are exposed.',
    read: ({ samples }) => samples,
  },
  samplesDropped: {
    name: 'filer_exporter_samples_dropped_total',
    help: 'Values without a sample, by reason: absent, invalid, implausible (cannot be true), record (unusable whole), duplicate; label: a label that was cut.',
    type: 'counter',
    labels: ['api', 'reason'],
  },
  eventMemory: {
    name: 'filer_exporter_event_memory_events',
    help: 'Events remembered so that each counts once.',
    read: ({ eventMemory }) => eventMemory?.size ?? 0,
  },
  eventMemoryEvicted: {
    name: 'filer_exporter_event_memory_evicted_total',
    help: 'Events evicted because the limit was reached; one of them would count again if the service sent it again.',
    type: 'counter',
    read: ({ eventMemory }) => eventMemory?.evicted ?? 0,
  },
  eventMemoryLimit: {
    name: 'filer_exporter_event_memory_limit_events',
    help: 'Events remembered at most, of lock and of propagation events alike: of one filer on a volume, and of all.',
    labels: ['scope'],
    read: ({ eventMemory }) => [
      [{ scope: 'pair' }, eventMemory?.limits.perPair],
      [{ scope: 'all' }, eventMemory?.limits.total],
    ],
  },
  bookmarksMissed: {
    name: 'filer_exporter_event_bookmarks_missed_total',
    help: 'How often the newest event that the service announced never arrived: the least number of events missing from the counts.',
    type: 'counter',
    read: ({ bookmarks }) => bookmarks?.missed ?? 0,
  },
  clientKeyShared: {
    name: 'filer_exporter_client_key_shared',
    help: '1 when the service seems to deliver our events to another instance on the same client key, else 0.',
    read: ({ bookmarks }) => (bookmarks?.isSuspicious ? 1 : 0),
  },
  stateFileErrors: {
    name: 'filer_exporter_state_file_errors_total',
    help: 'Reads and writes of the state file that failed.',
    type: 'counter',
    read: ({ state }) => state?.errors ?? 0,
  },
  webConfigGood: {
    name: 'filer_exporter_web_config_last_reload_successful',
    help: '1 while what the web configuration file and its certificates hold is in force; 0 while the last good state is. Only with WEB_CONFIG_FILE.',
    read: ({ web }) => web && (web.isGood ? 1 : 0),
  },
  webConfigRead: {
    name: 'filer_exporter_web_config_last_reload_success_timestamp_seconds',
    help: 'When the web configuration in force was read. Only with WEB_CONFIG_FILE.',
    read: ({ web }) => web?.lastSuccessSeconds,
  },
  webCertificateExpiry: {
    name: 'filer_exporter_web_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that the exporter serves with ends. Only where it serves with TLS.',
    read: ({ web }) => web?.expirySeconds,
  },
  webTls: {
    name: 'filer_exporter_web_tls_enabled',
    help: '1 while the pages are served with TLS, else 0.',
    read: ({ web }) => (web?.hasTls ? 1 : 0),
  },
  webAuth: {
    name: 'filer_exporter_web_auth_enabled',
    help: '1 while the pages ask for a password or a client certificate, else 0.',
    read: ({ web }) => (web?.hasAuth ? 1 : 0),
  },
  connectionsClosed: {
    name: 'filer_exporter_web_connections_closed_total',
    help: 'Connections closed against the will of the client, by reason: limit (idle, made room for a new one), refused (new, all others busy), pipelined (sent requests ahead of the answers), unread (did not read an answer that made room for another).',
    type: 'counter',
    labels: ['reason'],
    read: ({ closed }) => [...(closed ?? [])].map(([reason, count]) => [{ reason }, count]),
  },
  remoteWriteSent: {
    name: 'filer_exporter_remote_write_points_total',
    help: 'Points that the receiver of remote write has taken. Only with REMOTE_WRITE_URL.',
    type: 'counter',
    read: ({ remoteWrite }) => remoteWrite?.sent,
  },
  remoteWriteDropped: {
    name: 'filer_exporter_remote_write_dropped_points_total',
    help: 'Points that were not sent or not taken, by reason: out_of_order (the receiver has newer ones, as after a kill), too_old, too_large, rejected (by the receiver), duplicate, future (in an answer), changed (bins that changed after they had arrived).',
    type: 'counter',
    labels: ['reason'],
    read: ({ remoteWrite }) => [...(remoteWrite?.dropped ?? [])].map(([reason, count]) => [{ reason }, count]),
  },
  remoteWriteRequests: {
    name: 'filer_exporter_remote_write_requests_total',
    help: 'Requests to the receiver of remote write, by status, or network where there was no answer.',
    type: 'counter',
    labels: ['code'],
    read: ({ remoteWrite }) => [...(remoteWrite?.answers ?? [])].map(([code, count]) => [{ code }, count]),
  },
  remoteWriteNewest: {
    name: 'filer_exporter_remote_write_newest_timestamp_seconds',
    help: 'Time of the newest point that has arrived at the receiver of remote write.',
    read: ({ remoteWrite }) => remoteWrite?.newestSeconds,
  },
  remoteWriteHoles: {
    name: 'filer_exporter_remote_write_holes_total',
    help: 'Holes in the history of one series of one appliance, by outcome: closed, or lost (longer than REMOTE_WRITE_CATCH_UP).',
    type: 'counter',
    labels: ['outcome'],
    read: ({ remoteWrite }) => [...(remoteWrite?.holes ?? [])].map(([outcome, count]) => [{ outcome }, count]),
  },
  remoteWriteWaiting: {
    name: 'filer_exporter_remote_write_waiting_points',
    help: 'Points that wait to be sent by remote write; at most 200,000, the rest is asked for again.',
    read: ({ remoteWrite }) => remoteWrite?.waiting,
  },
} as const satisfies Record<string, OwnMetric>;

/** The rows of the table, whole. */
export const ownFamilies = Object.values<OwnMetric>(ownTable).map((row) => {
  const unit = row.name.endsWith('_seconds') ? 'seconds' : undefined;
  return { ...row, type: row.type ?? 'gauge', unit, labels: row.labels ?? [] } as const;
});

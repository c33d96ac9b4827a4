import { sentence } from '../../contract/causes.ts';
import type { OwnMetric, OwnValues } from '../../contract/service-details.ts';
import { WARNING_ADVICE, type WarningCode } from '../../contract/service-warning.ts';
import type { Labels, MetricType } from '../../metrics/family.ts';
import { SUSPENSION_REASONS } from '../../polling/task-state.ts';
import type { ApiReport } from '../../status/report.ts';

/** The values of the metrics about the exporter, which each scrape reads. */
export interface ExporterStatus {
  readonly apis: readonly ApiReport[];
  readonly samples: number;
  /** The metrics that only one service has. */
  readonly own: OwnValues;
  /** Undefined without a state file. */
  readonly state?: { readonly errors: number } | undefined;
  /** Undefined without a web configuration file. */
  readonly web?: WebStatus | undefined;
  /** Undefined without remote write. */
  readonly remoteWrite?: RemoteWriteStatus | undefined;
  /** Connections closed by the server, by reason. */
  readonly closed?: ReadonlyMap<string, number>;
}

interface WebStatus {
  /** Whether the files are in effect as they are now. */
  readonly isGood: boolean;
  readonly lastSuccessSeconds: number;
  /** Undefined without TLS. */
  readonly expirySeconds: number | undefined;
  readonly hasTls: boolean;
  readonly hasAuth: boolean;
}

/** Points by what became of them, seconds that were lost, and requests by HTTP status, or `network`. */
interface RemoteWriteStatus {
  readonly sent: number;
  readonly waiting: number;
  readonly dropped: ReadonlyMap<string, number>;
  readonly lost: ReadonlyMap<string, number>;
  readonly responses: ReadonlyMap<string, number>;
  /** The time of the newest point that the receiver has accepted. */
  readonly newestSeconds: number | undefined;
}

/** The value of a metric without labels, or one for each set of labels; unknown values are not written. */
export type MetricValues = number | undefined | Iterable<readonly [labels: Labels, value: number | null | undefined]>;

export interface ExporterMetric {
  readonly name: `filer_${string}`;
  readonly help: string;
  /** Default gauge. */
  readonly type?: MetricType;
  /** No labels by default. */
  readonly labels?: readonly string[];
  /** Reads the value at each scrape. A metric without it and without `ofApi` is counted in `metrics.ts`. */
  readonly read?: (status: ExporterStatus) => MetricValues;
  /** Reads one value for each API, whose label is `api`. */
  readonly ofApi?: (api: ApiReport) => number | null;
}

function perApiAndReason(
  values: (api: ApiReport) => readonly (readonly [reason: string, value: number])[],
): (status: ExporterStatus) => MetricValues {
  return ({ apis }) =>
    apis.flatMap((report) => values(report).map(([reason, value]) => [{ api: report.api, reason }, value] as const));
}

/** One value for each count, whose name is the label. */
function counted(label: string, counts: ReadonlyMap<string, number> = new Map()): MetricValues {
  return Array.from(counts, ([name, count]) => [{ [label]: name }, count] as const);
}

/** One series for each code: several warnings may have the same one. */
function warningLabels({ api, downReason, warnings }: ApiReport): readonly Labels[] {
  const codes = new Set<WarningCode>(warnings.map(({ code }) => code));
  if (downReason !== null) codes.add('down');
  return Array.from(codes, (code) => ({ api, warning: code, advice: sentence(WARNING_ADVICE[code]) }));
}

/** The metrics about the exporter except those of Node.js. A metric that is read at each scrape is added here only. */
export const exporterMetrics = {
  up: {
    name: 'filer_api_up',
    help: '1 while the service responds to the polls of its series, 0 when none has responded for STALE_AFTER effective intervals or the credentials are rejected.',
    ofApi: ({ state }) => (state === 'up' ? 1 : 0),
  },
  down: {
    name: 'filer_api_down_info',
    help: 'Always 1: the reason why filer_api_up is 0; absent while it is 1.',
    labels: ['api', 'reason'],
    read: perApiAndReason(({ downReason }) => (downReason === null ? [] : [[downReason, 1]])),
  },
  warnings: {
    name: 'filer_exporter_warning_info',
    help: `Always 1: a warning about a service and what to do, while it lasts: ${Object.keys(WARNING_ADVICE).join(', ')}.`,
    labels: ['api', 'warning', 'advice'],
    read: ({ apis }) => apis.flatMap(warningLabels).map((labels) => [labels, 1] as const),
  },
  buildInfo: {
    name: 'filer_exporter_build_info',
    help: 'Always 1: the running version.',
    labels: ['version', 'revision', 'node_version'],
  },
  requests: {
    name: 'filer_exporter_requests_total',
    help: 'Requests sent to the APIs, by result: the HTTP status, or timeout, network, invalid, oversize.',
    type: 'counter',
    labels: ['api', 'operation', 'code'],
  },
  requestDuration: {
    name: 'filer_exporter_request_duration_seconds',
    help: 'Time from sending a request to its complete response.',
    type: 'histogram',
    labels: ['api', 'operation'],
  },
  requestsInFlight: {
    name: 'filer_exporter_requests_in_flight',
    help: 'Requests that wait for a response.',
    ofApi: ({ requestRate }) => requestRate.requestsInFlight,
  },
  requestRateLimit: {
    name: 'filer_exporter_request_rate_limit',
    help: 'Requests per second that are allowed now; 0 while the exporter waits after a 429.',
    ofApi: ({ requestRate }) => requestRate.perSecond,
  },
  isThrottled: {
    name: 'filer_exporter_account_throttled',
    help: '1 while the API allows clearly less than is configured, else 0: in ten minutes it rejected at least three requests with 429, and these were more than 5 %, or more than half of the requests left at less than half of the configured rate.',
    ofApi: ({ requestRate }) => (requestRate.throttled ? 1 : 0),
  },
  clockSkew: {
    name: 'filer_exporter_clock_skew_seconds',
    help: 'How far the clock of the API is ahead of that of the exporter, by the Date of its responses.',
    ofApi: ({ clockSkewSeconds }) => clockSkewSeconds,
  },
  dailyQuotaRemaining: {
    name: 'filer_exporter_daily_quota_remaining',
    help: 'Requests left of the limit of the last 24 hours, counting those of this process.',
    ofApi: ({ quotaRemaining }) => quotaRemaining,
  },
  dailyQuotaLimit: {
    name: 'filer_exporter_daily_quota_limit',
    help: 'Requests that this instance may send in 24 hours; missing without a limit.',
    ofApi: ({ dailyLimit }) => dailyLimit,
  },
  lastSuccess: {
    name: 'filer_exporter_last_success_timestamp_seconds',
    help: 'Time of the last successful poll of the API.',
    ofApi: ({ lastSuccess }) => (lastSuccess === null ? null : Date.parse(lastSuccess) / 1000),
  },
  cycleDuration: {
    name: 'filer_exporter_cycle_duration_seconds',
    help: 'Duration of the last complete cycle: every task at the configured interval was polled once; suspended tasks are not part of it.',
    ofApi: ({ cycleSeconds }) => cycleSeconds,
  },
  effectiveInterval: {
    name: 'filer_exporter_effective_interval_seconds',
    help: 'Time between two polls of a task that the limits allow, which is above the configured interval if the fleet is too large for them, or while the service rejects requests with 429.',
    ofApi: ({ effectiveIntervalSeconds }) => effectiveIntervalSeconds,
  },
  configuredInterval: {
    name: 'filer_exporter_configured_interval_seconds',
    help: 'Configured time between two polls, for comparison with the effective interval.',
    ofApi: ({ intervalSeconds }) => intervalSeconds,
  },
  inventoryGap: {
    name: 'filer_exporter_inventory_gap_info',
    help: 'Always 1 while a list of the inventory is unusable, by reason: empty, other_ids (it names other objects than another list), or a reason of filer_api_down_info.',
    labels: ['api', 'list', 'reason'],
    read: ({ apis }) =>
      apis.flatMap(({ api, inventoryGaps }) =>
        inventoryGaps.map(({ list, reason }) => [{ api, list, reason }, 1] as const),
      ),
  },
  tasksSuspended: {
    name: 'filer_exporter_tasks_suspended',
    help: 'Suspended tasks, which are polled at the discovery interval, by reason: forbidden (403), not_found (404), rejected (422), empty (never a record).',
    labels: ['api', 'reason'],
    read: perApiAndReason(({ tasks }) => SUSPENSION_REASONS.map((reason) => [reason, tasks.suspended[reason]])),
  },
  tasksOverdue: {
    name: 'filer_exporter_tasks_overdue',
    help: 'Tasks without a success for two and a half effective intervals, except suspended ones and those of appliances that do not respond.',
    ofApi: ({ tasks }) => tasks.overdue,
  },
  worstDataAge: {
    name: 'filer_exporter_data_age_worst_seconds',
    help: 'Time since the last successful poll of a task of the cycle: the highest of all tasks.',
    ofApi: ({ tasks }) => tasks.worstAgeSeconds,
  },
  samples: {
    name: 'filer_exporter_samples',
    help: 'Exposed samples of upstream data.',
    read: ({ samples }) => samples,
  },
  samplesDropped: {
    name: 'filer_exporter_samples_dropped_total',
    help: 'Values without a sample, by reason: invalid, record (the whole record is unusable), duplicate, late (an event first seen after more than a day), full (an event or undocumented field without room).',
    type: 'counter',
    labels: ['api', 'reason'],
  },
  labelsShortened: {
    name: 'filer_exporter_labels_shortened_total',
    help: 'Label values that were cut at 1,024 characters, or replaced by other because their metric reached 50,000 series, or their filer 24 kinds and lock states on one volume.',
    type: 'counter',
    labels: ['api'],
  },
  stateFileErrors: {
    name: 'filer_exporter_state_file_errors_total',
    help: 'Failed reads and writes of the state file.',
    type: 'counter',
    read: ({ state }) => state?.errors ?? 0,
  },
  webConfigGood: {
    name: 'filer_exporter_web_config_last_reload_successful',
    help: '1 while the current web configuration file and its certificates are in effect, 0 while the previous ones are.',
    read: ({ web }) => web && (web.isGood ? 1 : 0),
  },
  webConfigRead: {
    name: 'filer_exporter_web_config_last_reload_success_timestamp_seconds',
    help: 'Time when the web configuration in effect was read.',
    read: ({ web }) => web?.lastSuccessSeconds,
  },
  webCertificateExpiry: {
    name: 'filer_exporter_web_certificate_expiry_timestamp_seconds',
    help: 'Time when the certificate of the exporter expires; missing without TLS.',
    read: ({ web }) => web?.expirySeconds,
  },
  webTls: {
    name: 'filer_exporter_web_tls_enabled',
    help: '1 while the pages are served with TLS, else 0.',
    read: ({ web }) => (web?.hasTls ? 1 : 0),
  },
  webAuth: {
    name: 'filer_exporter_web_auth_enabled',
    help: '1 while the pages require a password or a client certificate, else 0.',
    read: ({ web }) => (web?.hasAuth ? 1 : 0),
  },
  connectionsClosed: {
    name: 'filer_exporter_web_connections_closed_total',
    help: 'Connections that the exporter closed because it had too many, by reason: limit (256 were open, and this one had no request), unread (40 scrapes or 16 pages were being sent, and this client did not read).',
    type: 'counter',
    labels: ['reason'],
    read: ({ closed }) => counted('reason', closed),
  },
  remoteWriteSent: {
    name: 'filer_exporter_remote_write_points_total',
    help: 'Points that the receiver of remote write has accepted.',
    type: 'counter',
    read: ({ remoteWrite }) => remoteWrite?.sent,
  },
  remoteWriteDropped: {
    name: 'filer_exporter_remote_write_dropped_points_total',
    help: 'Points that the receiver of remote write rejected and that are lost, by reason: out_of_order (it has newer ones), too_old, too_large (a single record), rejected.',
    type: 'counter',
    labels: ['reason'],
    read: ({ remoteWrite }) => counted('reason', remoteWrite?.dropped),
  },
  remoteWriteRequests: {
    name: 'filer_exporter_remote_write_requests_total',
    help: 'Requests to the receiver of remote write, by status, or network if no response arrived.',
    type: 'counter',
    labels: ['code'],
    read: ({ remoteWrite }) => counted('code', remoteWrite?.responses),
  },
  remoteWriteNewest: {
    name: 'filer_exporter_remote_write_newest_timestamp_seconds',
    help: 'Time of the newest point that the receiver of remote write has accepted; until it has accepted one, the time at which history begins.',
    read: ({ remoteWrite }) => remoteWrite?.newestSeconds,
  },
  remoteWriteLost: {
    name: 'filer_exporter_remote_write_lost_seconds_total',
    help: 'Time for which one series of one appliance has no history, by reason: catch_up (an outage was longer than REMOTE_WRITE_CATCH_UP), unread (the service failed on this period only).',
    type: 'counter',
    labels: ['reason'],
    read: ({ remoteWrite }) => counted('reason', remoteWrite?.lost),
  },
  remoteWriteWaiting: {
    name: 'filer_exporter_remote_write_waiting_points',
    help: 'Points that wait to be sent by remote write, at most 200,000.',
    read: ({ remoteWrite }) => remoteWrite?.waiting,
  },
} as const satisfies Record<string, ExporterMetric>;

/** The table, and the metrics that only these services have. */
export function exporterFamilies(ownMetrics: readonly OwnMetric[]) {
  const ownRows = ownMetrics.map((metric): ExporterMetric => ({ ...metric, read: ({ own }) => own.get(metric.name) }));
  return [...Object.values<ExporterMetric>(exporterMetrics), ...ownRows].map((row) => {
    const { type = 'gauge', ofApi, labels = ofApi === undefined ? [] : ['api'] } = row;
    const unit = row.name.endsWith('_seconds') ? 'seconds' : undefined;
    const readApis =
      ofApi && (({ apis }: ExporterStatus) => apis.map((report) => [{ api: report.api }, ofApi(report)] as const));
    return { ...row, type, unit, labels, read: row.read ?? readApis } as const;
  });
}

/** One row of the public interface's table of variables. */
export interface PromisedVariable {
  readonly name: string;
  /** The default as a text to set; undefined where the table has none or says it in words. */
  readonly default?: string;
  /** May be given as a file. */
  readonly file?: true;
}

/** The variables as promised to operators, in the order of the promise. Changing a line here is a breaking change. */
export const promisedVariables: readonly PromisedVariable[] = [
  { name: 'GFA_URL' },
  { name: 'GFA_TOKEN', file: true },
  { name: 'GFA_CLIENT_KEY', default: 'filer-exporter' },
  { name: 'GFA_CLIENT_KEY_HEADER', default: 'X-Service-client-key' },
  { name: 'GFA_INTERVAL', default: '60s' },
  { name: 'GFA_METRICS', default: 'filers,volumes,locks,propagation' },
  { name: 'PORTAL_URL' },
  { name: 'PORTAL_SERVICE_KEY', file: true },
  { name: 'PORTAL_SERVICE_SECRET', file: true },
  { name: 'PORTAL_USER_KEY', file: true },
  { name: 'PORTAL_AUTH' },
  { name: 'PORTAL_INTERVAL', default: '5m' },
  { name: 'PORTAL_MODE', default: 'full' },
  { name: 'PORTAL_FULL_INTERVAL', default: '1h' },
  { name: 'PORTAL_DISCOVERY_INTERVAL', default: '15m' },
  { name: 'PORTAL_SERIALS' },
  { name: 'PORTAL_SERIES' },
  // Promised as telemetry,volumes,edges,license, as far as they exist.
  { name: 'PORTAL_COLLECTORS' },
  { name: 'PORTAL_LOOKBACK', default: '15m' },
  { name: 'PORTAL_BIN_SIZE', default: '60s' },
  { name: 'PORTAL_UNITS' },
  { name: 'PORTAL_CONCURRENCY', default: '8' },
  { name: 'PORTAL_RATE_LIMIT', default: '500/30s' },
  { name: 'PORTAL_DAILY_LIMIT', default: '1000000' },
  { name: 'REQUEST_TIMEOUT', default: '30s' },
  { name: 'MAX_RESPONSE_BYTES', default: '33554432' },
  { name: 'STALE_AFTER', default: '3' },
  { name: 'FORGET_AFTER', default: '1d' },
  // Promised as "10 s to 24 h".
  { name: 'EVENT_BUCKETS', default: '10s,30s,1m,2m,5m,10m,20m,30m,1h,2h,4h,8h,12h,24h' },
  { name: 'EVENT_HISTOGRAMS', default: 'true' },
  { name: 'FILER_ALIASES' },
  { name: 'STATE_FILE' },
  { name: 'ALLOW_INSECURE_UPSTREAM', default: 'false' },
  { name: 'MAX_SCRAPES', default: '40' },
  { name: 'LISTEN_ADDRESS', default: ':9989' },
  { name: 'METRICS_PATH', default: '/metrics' },
  { name: 'WEB_CONFIG_FILE' },
  { name: 'WEB_OPEN_PATHS' },
  { name: 'MAX_CONNECTIONS', default: '256' },
  { name: 'SHARD', default: '0' },
  { name: 'TOTAL_SHARDS', default: '1' },
  { name: 'SHUTDOWN_TIMEOUT', default: '10s' },
  { name: 'LOG_LEVEL', default: 'info' },
  // Promised as json, and pretty on a terminal.
  { name: 'LOG_FORMAT' },
  { name: 'REMOTE_WRITE_URL' },
  { name: 'REMOTE_WRITE_TOKEN', file: true },
  { name: 'REMOTE_WRITE_USER' },
  { name: 'REMOTE_WRITE_PASSWORD', file: true },
  { name: 'REMOTE_WRITE_HEADERS', file: true },
  { name: 'REMOTE_WRITE_LABELS' },
  { name: 'REMOTE_WRITE_CATCH_UP', default: '6h' },
  { name: 'REMOTE_WRITE_CA_FILE' },
  { name: 'REMOTE_WRITE_CERT_FILE' },
  { name: 'REMOTE_WRITE_KEY_FILE' },
];

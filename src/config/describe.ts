import { REDACTED, type Secret } from '../runtime/secret.ts';
import type { Config, GfaConfig, PortalConfig } from './config.ts';
import { formatDuration } from './duration.ts';
import { FileSecret } from './secrets.ts';
import { type Row, rows, type VariableName } from './variables.ts';

/** The variables for `--help`: a line with name, kind and default, and below it one line of meaning. */
export function helpText(): string {
  const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
  const paragraphs = rows.map(({ name, row }) => {
    const byDefault = defaultOf(row);
    const facts = `${labelOf(row)}${byDefault === '' ? '' : `; default: ${byDefault}`}`;
    return `  ${name.padEnd(width)}${facts}\n  ${' '.repeat(width)}${row.help}\n`.replaceAll('`', '');
  });
  return `Environment variables, read from .env in the working directory too:

${paragraphs.join('')}
Durations are Prometheus durations: 500ms, 15s, 5m, 1h30m.
(file): NAME_FILE may name a file that holds the value instead.
HTTP_PROXY, HTTPS_PROXY, NO_PROXY and NODE_EXTRA_CA_CERTS are honoured.
`;
}

/** The configuration table of the README. */
export function markdownTable(): string {
  const lines = rows.map(({ name, row }) => {
    const byDefault = row.default === undefined ? (row.unset ?? '') : `\`${row.default}\``;
    return `| \`${name}\`${row.file ? ' (file)' : ''} | ${row.kind.label} | ${byDefault} | ${row.help} |\n`;
  });
  return `| variable | type | default | meaning |\n|---|---|---|---|\n${lines.join('')}`;
}

function labelOf(row: Row): string {
  return row.file ? `${row.kind.label} (file)` : row.kind.label;
}

function defaultOf(row: Row): string {
  return row.default ?? row.unset ?? '';
}

/**
 * The configuration in the operator's words, for `--check-config`: `NAME=value` in table order, nothing behind the `=` of
 * what is not set. Without the secrets, which show as `[redacted]`, it could be a `.env` file. Of an API that is off
 * there is only its empty URL.
 */
export function effectiveConfiguration(config: Config): string {
  const values = { ...gfaTexts(config.gfa), ...portalTexts(config.portal), ...commonTexts(config) };
  const lines = rows.flatMap(({ name }) => (name in values ? [`${name}=${values[name] ?? ''}\n`] : []));
  const { httpProxy, httpsProxy, noProxy } = config.requests.proxy ?? {};
  const proxies = { HTTP_PROXY: httpProxy?.shown, HTTPS_PROXY: httpsProxy?.shown, NO_PROXY: noProxy };
  for (const [name, text] of Object.entries(proxies)) if (text !== undefined) lines.push(`${name}=${text}\n`);
  return lines.join('');
}

/** Texts by variable: absent for what is not shown, undefined for what is not set. */
type Shown = { readonly [Name in VariableName]?: string | undefined };

function gfaTexts(gfa: GfaConfig | undefined): Shown {
  if (gfa === undefined) return { GFA_URL: undefined };
  return {
    GFA_URL: gfa.url,
    GFA_TOKEN: secretText(gfa.token),
    GFA_CLIENT_KEY: gfa.clientKey,
    GFA_CLIENT_KEY_HEADER: gfa.clientKeyHeader,
    GFA_INTERVAL: formatDuration(gfa.intervalMs),
    GFA_METRICS: gfa.groups.join(','),
  };
}

function portalTexts(portal: PortalConfig | undefined): Shown {
  if (portal === undefined) return { PORTAL_URL: undefined };
  const { credentials, rateLimit } = portal;
  const isPair = credentials.kind !== 'user_key';
  return {
    PORTAL_URL: portal.url,
    PORTAL_SERVICE_KEY: isPair ? secretText(credentials.key) : undefined,
    PORTAL_SERVICE_SECRET: isPair ? secretText(credentials.secret) : undefined,
    PORTAL_USER_KEY: isPair ? undefined : secretText(credentials.key),
    PORTAL_AUTH: credentials.kind,
    PORTAL_INTERVAL: formatDuration(portal.intervalMs),
    PORTAL_DISCOVERY_INTERVAL: formatDuration(portal.discoveryIntervalMs),
    PORTAL_SERIALS: portal.serials?.join(','),
    PORTAL_SERIES: portal.series
      .map(({ name, intervalMs }) =>
        intervalMs === portal.intervalMs ? name : `${name}=${formatDuration(intervalMs)}`,
      )
      .join(','),
    PORTAL_LOOKBACK: formatDuration(portal.lookbackMs),
    PORTAL_BIN_SIZE: formatDuration(portal.binSizeSeconds * 1000),
    PORTAL_RATE_LIMIT: `${rateLimit.requests}/${formatDuration(rateLimit.windowMs)}`,
    PORTAL_DAILY_LIMIT: String(portal.dailyLimit ?? 0),
    PORTAL_COLLECTORS: portal.collectors.join(','),
  };
}

function commonTexts({ requests, events, shard, web, log, ...config }: Config): Shown {
  return {
    PORTAL_CONCURRENCY: String(requests.concurrency),
    REQUEST_TIMEOUT: formatDuration(requests.timeoutMs),
    MAX_RESPONSE_BYTES: String(requests.maxResponseBytes),
    STALE_AFTER: String(config.staleAfter),
    EVENT_BUCKETS: events.bucketsSeconds.map(bucketText).join(','),
    EVENT_HISTOGRAMS: String(events.histograms),
    STATE_FILE: config.stateFile,
    ALLOW_INSECURE_UPSTREAM: String(requests.allowInsecure),
    MAX_SCRAPES: String(web.maxScrapes),
    LISTEN_ADDRESS: `${web.host?.includes(':') ? `[${web.host}]` : (web.host ?? '')}:${web.port}`,
    METRICS_PATH: web.metricsPath,
    WEB_CONFIG_FILE: web.configFile,
    WEB_OPEN_PATHS: web.openPaths.named ? web.openPaths.paths.join(',') || 'none' : undefined,
    MAX_CONNECTIONS: String(web.maxConnections),
    SHARD: String(shard.index),
    TOTAL_SHARDS: String(shard.total),
    SHUTDOWN_TIMEOUT: formatDuration(config.shutdownTimeoutMs),
    LOG_LEVEL: log.level,
    LOG_FORMAT: log.format,
  };
}

function secretText(secret: Secret): string {
  return secret instanceof FileSecret ? `${REDACTED} from ${secret.path}` : REDACTED;
}

/** A bound finer than a millisecond has no duration to be written as, but its seconds. */
function bucketText(seconds: number): string {
  const ms = seconds * 1000;
  return Number.isSafeInteger(ms) ? formatDuration(ms) : String(seconds);
}

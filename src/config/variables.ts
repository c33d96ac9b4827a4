import { listenAddress, metricsPath, PROBE_PATHS } from './addresses.ts';
import { alias } from './aliases.ts';
import { bucket, duration, filePath, wholeNumber } from './formats.ts';
import { expectationOf, LIST, type Rows, type Values } from './schema.ts';
import { type SetVariables, section } from './section.ts';

/**
 * These variables belong to no single service. They are in the order of `--help` and the reference. The proxy variables
 * are not among them, because the exporter does not define them (proxy.ts, no-proxy.ts).
 */

// The bounds are dense from ten seconds to half an hour, where most propagations and locks end.
const DEFAULT_BUCKETS = '10s,30s,1m,2m,5m,10m,20m,30m,1h,2h,4h,8h,12h,24h';

const variables = {
  REQUEST_TIMEOUT: {
    format: duration,
    formatMinimum: '1ms',
    formatMaximum: '1d',
    default: '30s',
    help: 'time limit of one attempt, headers and body',
  },
  MAX_RESPONSE_BYTES: {
    format: wholeNumber,
    formatMinimum: '1',
    default: '33554432',
    help: 'largest body of a response; a larger one is dropped and counted',
  },
  STALE_AFTER: {
    format: wholeNumber,
    formatMinimum: '1',
    default: '3',
    help: 'a value that is not confirmed for this many effective intervals is removed',
  },
  FORGET_AFTER: {
    format: duration,
    formatMinimum: '1m',
    formatMaximum: '30d',
    default: '1d',
    help: 'how long counts of a filer or volume stay after it was last seen',
  },
  EVENT_BUCKETS: {
    ...LIST,
    items: { format: bucket },
    default: DEFAULT_BUCKETS,
    help: 'buckets of the event histograms',
  },
  EVENT_HISTOGRAMS: {
    type: 'boolean',
    default: 'true',
    help: '`false` keeps only sum and count of the event histograms',
  },
  FILER_ALIASES: {
    ...LIST,
    items: { format: alias },
    help: 'filers that have different ids in the two services, and names of filers',
  },
  STATE_FILE: {
    format: filePath,
    help: 'keeps event counters, counted events and the used daily quota over restarts',
  },
  ALLOW_INSECURE_UPSTREAM: {
    type: 'boolean',
    default: 'false',
    help: '`true` allows `http:` URLs beyond this machine, which send keys unencrypted',
  },
  MAX_SCRAPES: {
    format: wholeNumber,
    formatMinimum: '1',
    default: '40',
    help: 'most scrapes served at once; others get 503',
  },
  LISTEN_ADDRESS: {
    format: listenAddress,
    default: ':9989',
    help: '`host:port`, `[v6]:port`, or `:port` for all addresses',
  },
  METRICS_PATH: {
    format: metricsPath,
    default: '/metrics',
    help: 'path of the exposition',
  },
  WEB_CONFIG_FILE: {
    format: filePath,
    help: 'TLS and basic auth, in the file format of the Prometheus exporter toolkit',
  },
  WEB_OPEN_PATHS: {
    ...LIST,
    items: { enum: [...PROBE_PATHS, 'none'] },
    unset: '`/healthz,/readyz`',
    help: 'paths that need neither password nor client certificate; `none` for no path',
  },
  MAX_CONNECTIONS: {
    format: wholeNumber,
    formatMinimum: '1',
    default: '256',
    help: 'most open connections; above it a new one replaces the oldest without a request',
  },
  SHUTDOWN_TIMEOUT: {
    format: duration,
    formatMinimum: '0s',
    formatMaximum: '1d',
    default: '10s',
    help: 'time to finish scrapes and revoke the token after SIGTERM',
  },
  LOG_LEVEL: {
    enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    help: 'the lowest level that is logged',
  },
  LOG_FORMAT: {
    enum: ['json', 'pretty', 'auto'],
    unset: '`json` (`pretty` on a terminal)',
    help: 'format of the log lines; `auto` is the default',
  },
} as const satisfies Rows;

type CommonRows = typeof variables;

export const commonSection = section({
  variables,
  errors: (given) => [...bucketErrors(given), ...aliasErrors(given), ...pathErrors(given)],
  toSettings,
  show: ({ log }) => ({ LOG_FORMAT: log.format }),
});

function bucketErrors({ values: { EVENT_BUCKETS: bounds = [] } }: SetVariables<CommonRows>): readonly string[] {
  if (bounds.every((bound, place) => place === 0 || bound > (bounds[place - 1] ?? 0))) return [];
  return [`EVENT_BUCKETS: is not in ascending order; expected ${expectationOf(variables.EVENT_BUCKETS)}`];
}

function aliasErrors({ values: { FILER_ALIASES: aliases = [] } }: SetVariables<CommonRows>): readonly string[] {
  const repeated = aliases.filter(({ id }, place) => aliases.findIndex((other) => other.id === id) < place);
  return repeated.map(({ id }) => `FILER_ALIASES: "${id}" is listed twice; expected each filer once`);
}

function pathErrors({ values: { WEB_OPEN_PATHS: paths = [] } }: SetVariables<CommonRows>): readonly string[] {
  if (paths.length < 2 || !paths.includes('none')) return [];
  return ['WEB_OPEN_PATHS: "none" is listed with other paths; expected only one of the two'];
}

function toSettings(values: Values<CommonRows>) {
  return {
    requests: {
      timeoutMs: values.REQUEST_TIMEOUT,
      maxResponseBytes: values.MAX_RESPONSE_BYTES,
      allowInsecure: values.ALLOW_INSECURE_UPSTREAM,
    },
    staleAfter: values.STALE_AFTER,
    forgetAfterMs: values.FORGET_AFTER,
    events: { bucketsSeconds: values.EVENT_BUCKETS, histograms: values.EVENT_HISTOGRAMS },
    filerAliases: values.FILER_ALIASES ?? [],
    stateFile: values.STATE_FILE,
    web: {
      ...values.LISTEN_ADDRESS,
      metricsPath: values.METRICS_PATH,
      maxScrapes: values.MAX_SCRAPES,
      maxConnections: values.MAX_CONNECTIONS,
      configFile: values.WEB_CONFIG_FILE,
      // Paths that the operator names need no client certificate either.
      openPaths: {
        paths: (values.WEB_OPEN_PATHS ?? PROBE_PATHS).filter((path) => path !== 'none'),
        named: values.WEB_OPEN_PATHS !== undefined,
      },
    },
    shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT,
    // `auto` is `pretty` on a terminal, else `json`.
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT ?? 'auto' },
  } as const;
}

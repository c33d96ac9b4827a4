import { listenAddress, metricsPath } from './addresses.ts';
import { aliases, boolean, buckets, duration, filePath, oneOf, wholeNumber, within } from './formats.ts';
import { type Rows, section, type Values } from './table.ts';

/**
 * These variables belong to no single service. They are in the order of `--help` and the reference. The proxy variables
 * are not among them, because the exporter does not define them (proxy.ts).
 */

// The bounds are dense from ten seconds to half an hour, where most propagations and locks end.
const DEFAULT_BUCKETS = '10s,30s,1m,2m,5m,10m,20m,30m,1h,2h,4h,8h,12h,24h';

const variables = {
  REQUEST_TIMEOUT: {
    format: within(duration, '1ms', '1d'),
    default: '30s',
    help: 'time limit of one attempt, headers and body',
  },
  MAX_RESPONSE_BYTES: {
    format: within(wholeNumber, '1'),
    default: '33554432',
    help: 'largest body of a response; a larger one is dropped and counted',
  },
  STALE_AFTER: {
    // With 1, each value would leave shortly before the poll that confirms it.
    format: within(wholeNumber, '2'),
    default: '3',
    help: 'a value that is not confirmed for this many effective intervals is removed',
  },
  FORGET_AFTER: {
    format: within(duration, '1m', '30d'),
    default: '1d',
    help: 'how long counts of a filer or volume stay after it was last seen',
  },
  EVENT_BUCKETS: {
    format: buckets,
    default: DEFAULT_BUCKETS,
    help: 'buckets of the event histograms',
  },
  FILER_ALIASES: {
    format: aliases,
    help: 'filers that have different ids in the two services, and names of filers',
  },
  STATE_FILE: {
    format: filePath,
    help: 'keeps the ids of counted events, newest records, names, the used daily quota and cursors over restarts',
  },
  ALLOW_INSECURE_UPSTREAM: {
    format: boolean,
    default: 'false',
    help: '`true` allows `http:` URLs beyond this machine, which send keys unencrypted',
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
  SHUTDOWN_TIMEOUT: {
    format: within(duration, '0s', '1d'),
    // Container engines kill a process ten seconds after SIGTERM.
    default: '8s',
    help: 'time to finish scrapes and revoke the token after SIGTERM',
  },
  LOG_LEVEL: {
    format: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
    help: 'the lowest level that is logged',
  },
  LOG_FORMAT: {
    format: oneOf(['json', 'pretty', 'auto']),
    default: 'auto',
    help: 'format of the log lines; `auto` is `pretty` on a terminal, else `json`',
  },
} as const satisfies Rows;

export const commonSection = section({ url: undefined, variables, errors: () => [], toSettings });

function toSettings(values: Values<typeof variables>) {
  return {
    requests: {
      timeoutMs: values.REQUEST_TIMEOUT,
      maxResponseBytes: values.MAX_RESPONSE_BYTES,
      allowInsecure: values.ALLOW_INSECURE_UPSTREAM,
    },
    staleAfter: values.STALE_AFTER,
    forgetAfterMs: values.FORGET_AFTER,
    eventBucketsSeconds: values.EVENT_BUCKETS,
    filerAliases: values.FILER_ALIASES ?? [],
    stateFile: values.STATE_FILE,
    web: {
      ...values.LISTEN_ADDRESS,
      metricsPath: values.METRICS_PATH,
      configFile: values.WEB_CONFIG_FILE,
    },
    shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT,
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT },
  } as const;
}

import { baseUrl, headerName, listenAddress, metricsPath, openPaths } from './addresses.ts';
import { aliasList } from './aliases.ts';
import type { Kind } from './kind.ts';
import { choice, count, duration, filePath, headerValue, ordinal, rate, secret, truth, wholeSeconds } from './kinds.ts';
import { bucketList, collectorList, SHORTEST_INTERVAL_MS, serialList, seriesList, wordList } from './lists.ts';

/*
 * Every environment variable, one row each, in the order of `--help`, the README table and the lines about faults. Add a
 * variable here: the checks and the documentation follow, and what it means goes into load.ts. The proxy variables are
 * not rows, since they are not ours to define (proxy.ts, no-proxy.ts).
 */

/** One variable in the operator's words. */
export interface Row<Value = unknown> {
  readonly kind: Kind<Value>;
  /** The text that counts when the variable is not set. */
  readonly default?: string;
  /** Where there is no such text: what happens when the variable is not set. */
  readonly unset?: string;
  /** The value is never shown. */
  readonly secret?: true;
  /** `NAME_FILE` may name a file that holds the value. */
  readonly file?: true;
  /** One line for `--help` and the README; backticks around code. */
  readonly help: string;
}

/** What `PORTAL_COLLECTORS` stands for when it is not set, as far as the catalogue has them. */
export const USUAL_COLLECTORS = ['telemetry', 'volumes', 'edges', 'license'] as const;

// Dense where propagation and locks usually end, from ten seconds to half an hour, then a working day and a whole one.
const USUAL_BUCKETS = '10s,30s,1m,2m,5m,10m,20m,30m,1h,2h,4h,8h,12h,24h';

const INTERVAL = { least: SHORTEST_INTERVAL_MS };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The variables by name. */
export const variables = {
  GFA_URL: {
    kind: baseUrl('/v1'),
    help: 'base URL of the file acceleration telemetry service; unset: not polled',
  },
  GFA_TOKEN: {
    kind: secret,
    secret: true,
    file: true,
    unset: 'none; required with `GFA_URL`',
    help: 'sent as is in `Authorization`',
  },
  GFA_CLIENT_KEY: {
    kind: headerValue,
    default: 'filer-exporter',
    help: 'names this client within the token: two exporters on one token need two keys',
  },
  GFA_CLIENT_KEY_HEADER: {
    kind: headerName,
    default: 'X-Service-client-key',
    help: 'the header that carries the client key',
  },
  GFA_INTERVAL: {
    kind: duration(INTERVAL, '60s or 5m'),
    default: '60s',
    help: 'time between two polls',
  },
  GFA_METRICS: {
    kind: wordList(['filers', 'volumes', 'locks', 'propagation']),
    default: 'filers,volumes,locks,propagation',
    help: 'groups to ask for, out of these four; the others are switched off in the query',
  },
  PORTAL_URL: {
    kind: baseUrl(''),
    help: 'base URL of the portal service; unset: not polled',
  },
  PORTAL_SERVICE_KEY: {
    kind: secret,
    secret: true,
    file: true,
    help: 'service key, first half of the pair',
  },
  PORTAL_SERVICE_SECRET: {
    kind: secret,
    secret: true,
    file: true,
    help: 'service key, second half of the pair',
  },
  PORTAL_USER_KEY: {
    kind: secret,
    secret: true,
    file: true,
    help: 'user key, instead of the pair',
  },
  PORTAL_AUTH: {
    kind: choice(['oauth2', 'service_key', 'user_key']),
    unset: '`oauth2` with a service key, else `user_key`',
    help: 'how to get a token: the pair in a form body, the pair in headers, or the user key',
  },
  PORTAL_INTERVAL: {
    kind: duration(INTERVAL, '60s or 5m'),
    default: '5m',
    help: 'target time between two polls of the same series of the same appliance',
  },
  PORTAL_MODE: {
    kind: choice(['full', 'economy']),
    default: 'full',
    help: '`economy`: one request for CPU, load and uptime each interval, the rest seldom',
  },
  PORTAL_FULL_INTERVAL: {
    kind: duration(INTERVAL, '30m or 1h'),
    default: '1h',
    help: 'in economy mode the time between two polls of every other series',
  },
  PORTAL_DISCOVERY_INTERVAL: {
    kind: duration(INTERVAL, '15m or 1h'),
    default: '15m',
    help: 'time between two reads of the serial inventory',
  },
  PORTAL_SERIALS: {
    kind: serialList,
    unset: 'all discovered',
    help: 'poll these appliances only; discovery then gives names alone and may be forbidden',
  },
  PORTAL_SERIES: {
    kind: seriesList,
    unset: 'the standard series',
    help: '`all` but the costly ones, `-name` drops one, `name=1m` gives one its own interval',
  },
  PORTAL_LOOKBACK: {
    kind: duration({ least: 6 * MINUTE_MS, most: 30 * DAY_MS }, '15m'),
    default: '15m',
    help: 'period asked for in a series request',
  },
  PORTAL_BIN_SIZE: {
    kind: wholeSeconds({ least: MINUTE_MS, most: HOUR_MS }, '60s'),
    default: '60s',
    help: 'aggregation bin asked for, in whole seconds',
  },
  PORTAL_CONCURRENCY: {
    kind: count({ least: 1, most: 1000 }),
    default: '8',
    help: 'requests in flight at most, per API',
  },
  PORTAL_RATE_LIMIT: {
    kind: rate,
    default: '500/30s',
    help: 'ceiling of requests per window; stays under it, and adapts below it on 429',
  },
  PORTAL_DAILY_LIMIT: {
    kind: count({ least: 0 }),
    default: '1000000',
    help: 'ceiling of requests in 24 hours; `0` for none',
  },
  REQUEST_TIMEOUT: {
    kind: duration({ least: 1, most: DAY_MS }, '30s'),
    default: '30s',
    help: 'one attempt, headers and body',
  },
  MAX_RESPONSE_BYTES: {
    kind: count({ least: 1 }),
    default: '33554432',
    help: 'a larger body is abandoned and counted',
  },
  STALE_AFTER: {
    kind: count({ least: 1 }),
    default: '3',
    help: 'a value not confirmed for this many effective intervals leaves the exposition',
  },
  EVENT_BUCKETS: {
    kind: bucketList,
    default: USUAL_BUCKETS,
    help: 'buckets of the event histograms',
  },
  EVENT_HISTOGRAMS: {
    kind: truth,
    default: 'true',
    help: '`false` keeps only sum and count of the event histograms',
  },
  FILER_ALIASES: {
    kind: aliasList,
    help: 'which filers of both services are one beyond equal ids, or what a filer is called',
  },
  STATE_FILE: {
    kind: filePath,
    help: "keeps event counters, seen events and the day's budget over restarts",
  },
  ALLOW_INSECURE_UPSTREAM: {
    kind: truth,
    default: 'false',
    help: '`true` allows `http:` URLs beyond this machine: keys travel in the clear',
  },
  PORTAL_COLLECTORS: {
    kind: collectorList(USUAL_COLLECTORS),
    unset: `\`${USUAL_COLLECTORS.join(',')}\``,
    help: 'what to export, or `all`; `-name` drops one, `name=10m` sets the interval of one',
  },
  MAX_SCRAPES: {
    kind: count({ least: 1 }),
    default: '40',
    help: 'scrapes served at once; 503 beyond',
  },
  LISTEN_ADDRESS: {
    kind: listenAddress,
    default: ':9989',
    help: '`host:port`, `[v6]:port`, or `:port` for all addresses',
  },
  METRICS_PATH: {
    kind: metricsPath,
    default: '/metrics',
    help: 'path of the exposition',
  },
  WEB_CONFIG_FILE: {
    kind: filePath,
    help: 'TLS and basic auth, in the file format of the Prometheus exporter toolkit',
  },
  WEB_OPEN_PATHS: {
    kind: openPaths,
    unset: '`/healthz,/readyz`',
    help: 'need no password and, where set, no client certificate; `none` for neither',
  },
  MAX_CONNECTIONS: {
    kind: count({ least: 1 }),
    default: '256',
    help: 'connections open at once; further ones are closed unheard',
  },
  SHARD: {
    kind: ordinal,
    default: '0',
    help: 'this instance polls the serials that hash to it; shard 0 alone polls `/data`',
  },
  TOTAL_SHARDS: {
    kind: count({ least: 1 }),
    default: '1',
    help: 'number of instances that share the fleet',
  },
  SHUTDOWN_TIMEOUT: {
    kind: duration({ least: 0, most: DAY_MS }, '10s'),
    default: '10s',
    help: 'time to finish scrapes and give back the token after SIGTERM',
  },
  LOG_LEVEL: {
    kind: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
    help: 'the least severe lines that are logged',
  },
  LOG_FORMAT: {
    kind: choice(['json', 'pretty', 'auto']),
    unset: '`json` (`pretty` on a terminal)',
    help: 'form of the log lines; `auto` is as if unset',
  },
} as const satisfies Record<string, Row>;

/** The name of a variable that has a row. */
export type VariableName = keyof typeof variables;

type ValueOf<R> = R extends { readonly kind: Kind<infer Value> }
  ? Value | (R extends { readonly default: string } ? never : undefined)
  : never;

/** Every variable's value in the type of its kind; undefined only where the row has no default. */
export type Values = { readonly [Name in VariableName]: ValueOf<(typeof variables)[Name]> };

/** The rows in table order, without their particular types. */
export const rows: readonly { readonly name: VariableName; readonly row: Row }[] = Object.entries<Row>(variables).map(
  // Object.entries forgets that the keys are the names.
  ([name, row]) => ({ name: name as VariableName, row }),
);

/** The name under which a variable's value is given as a file. */
export function fileVariable(name: VariableName): string {
  return `${name}_FILE`;
}

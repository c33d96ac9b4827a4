import { baseUrl } from '../../config/addresses.ts';
import { duration, listOf, oneOf, rateLimit, secret, uuid, wholeNumber, within } from '../../config/formats.ts';
import type { Rows } from '../../config/table.ts';
import { ALL_SERIES, EXPENSIVE_SERIES, STANDARD_SERIES } from './appliances/series-operations.ts';
import { unitNames } from './appliances/units.ts';
import { collectorDefinitions } from './collectors.ts';
import { selectionOf } from './selection.ts';

export const DEFAULT_COLLECTORS = ['telemetry', 'volumes', 'edges', 'license'] as const;

const COLLECTORS = ['telemetry', ...collectorDefinitions.map(({ name }) => name)];

const seriesList = selectionOf({
  noun: 'series',
  plural: 'series',
  example: 'all,-smb_connections or cpu_utilization=1m,load_average',
  names: ALL_SERIES,
  defaults: STANDARD_SERIES,
  all: ALL_SERIES.filter((name) => EXPENSIVE_SERIES[name] === undefined),
});

const collectorList = selectionOf({
  noun: 'collector',
  plural: 'collectors',
  example: 'all,-iam or telemetry,volumes=10m',
  names: COLLECTORS,
  defaults: DEFAULT_COLLECTORS,
  all: COLLECTORS,
  noInterval: (name) =>
    name === 'telemetry'
      ? 'has no interval of its own: set PORTAL_INTERVAL, or the interval of a series in PORTAL_SERIES'
      : undefined,
});

export const portalVariables = {
  PORTAL_URL: {
    format: baseUrl(''),
    help: 'base URL of the portal service; if unset, the portal is not polled',
  },
  PORTAL_SERVICE_KEY: { format: secret, help: 'service key; set together with PORTAL_SERVICE_SECRET' },
  PORTAL_SERVICE_SECRET: { format: secret, help: 'secret of the service key' },
  PORTAL_USER_KEY: { format: secret, help: 'user key; set instead of service key and secret' },
  PORTAL_AUTH: {
    format: oneOf(['oauth2', 'service_key', 'user_key']),
    unset: '`oauth2` with a service key, else `user_key`',
    help: 'how to get a token: the service key in a form body or in headers, or the user key',
  },
  PORTAL_INTERVAL: {
    format: within(duration, '1s'),
    default: '5m',
    help: 'target time between two polls of the same series of the same appliance',
  },
  PORTAL_DISCOVERY_INTERVAL: {
    format: within(duration, '1s'),
    default: '15m',
    help: 'time between two polls of the inventory, and between two polls of a suspended task',
  },
  PORTAL_SERIALS: {
    format: listOf(uuid),
    unset: 'all discovered',
    help: 'polls only these appliances; the inventory then brings only names, or is forbidden',
  },
  PORTAL_SERIES: {
    format: seriesList,
    unset: 'the standard series',
    help: '`all` but `appliance_health_score`; `-name` removes one; `name=1m` sets its interval',
  },
  PORTAL_COLLECTORS: {
    format: collectorList,
    unset: `\`${DEFAULT_COLLECTORS.join(',')}\``,
    help: '`all`, `-name`, `name=10m`; collectors that are off by default are experimental',
  },
  PORTAL_LOOKBACK: {
    format: within(duration, '6m', '30d'),
    default: '15m',
    help: 'length of the period that a series request covers',
  },
  PORTAL_BIN_SIZE: {
    format: within(duration, '1m', '1h'),
    default: '60s',
    help: 'length of an aggregated bin in a series request',
  },
  PORTAL_UNITS: {
    format: listOf(oneOf(['documented', ...unitNames]), 'words'),
    unset: '`documented`',
    help: 'units that the account uses instead of the documented ones; `--doctor` reports them',
  },
  PORTAL_CONCURRENCY: {
    format: within(wholeNumber, '1', '1000'),
    default: '8',
    help: 'maximum number of concurrent requests',
  },
  PORTAL_RATE_LIMIT: {
    format: rateLimit,
    default: '500/30s',
    help: 'most requests in a window; the exporter stays below it and slows down after a 429',
  },
  PORTAL_DAILY_LIMIT: {
    format: within(wholeNumber, '0'),
    default: '1000000',
    help: 'maximum number of requests in 24 hours; `0` for no limit',
  },
} as const satisfies Rows;

import { baseUrl } from '../../config/addresses.ts';
import type { Kind } from '../../config/kind.ts';
import { choice, count, duration, rate, SHORTEST_INTERVAL_MS, secret, wholeSeconds } from '../../config/kinds.ts';
import { serialList } from '../../config/lists.ts';
import type { Rows } from '../../config/section.ts';
import { type Selected, selection } from './selection.ts';
import type { Vocabulary } from './vocabulary.ts';

const INTERVAL = { least: SHORTEST_INTERVAL_MS };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What `PORTAL_COLLECTORS` stands for when it is not set, as far as the catalogue has them. */
export const USUAL_COLLECTORS = ['telemetry', 'volumes', 'edges', 'license'] as const;

/** The rows of the portal, for a catalogue of series and collectors. */
export function portalVariables(vocabulary: Vocabulary) {
  return {
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
      kind: seriesList(vocabulary),
      unset: 'the standard series',
      help: '`all` but the costly ones, `-name` drops one, `name=1m` gives one its own interval',
    },
    PORTAL_COLLECTORS: {
      kind: collectorList(vocabulary),
      unset: `\`${USUAL_COLLECTORS.join(',')}\``,
      help: 'what to export, or `all`; `-name` drops one, `name=10m` sets the interval of one',
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
  } as const satisfies Rows;
}

/**
 * Series of the portal: names, `all`, `name=interval`, and `-name` to drop one of those named before it. A list that
 * only drops starts from the standard series. The outcome is in the catalogue's order, whatever the list's.
 */
function seriesList({ standardSeries, furtherSeries, costlySeries }: Vocabulary): Kind<readonly Selected[]> {
  const known = [...standardSeries, ...furtherSeries];
  return {
    label: 'list of series',
    expects: 'series separated by commas, such as all,-smb_connections or cpu_utilization=1m,load_average',
    parse: (text) =>
      selection(text, {
        one: 'a series',
        known,
        usual: standardSeries,
        all: known.filter((name) => costlySeries[name] === undefined),
      }),
  };
}

/** Collectors of the portal, as {@link seriesList}; a list that only drops starts from the usual ones. */
function collectorList({ collectors }: Vocabulary): Kind<readonly Selected[]> {
  const known = collectors.map(({ name }) => name);
  return {
    label: 'list of collectors',
    expects: 'collectors separated by commas, such as all,-iam or telemetry,volumes=10m',
    parse: (text) =>
      selection(text, {
        one: 'a collector',
        known,
        usual: USUAL_COLLECTORS.filter((name) => known.includes(name)),
        all: known,
        noInterval: (name) =>
          collectors.find((collector) => collector.name === name)?.intervalMs === undefined
            ? 'is polled at PORTAL_INTERVAL, and each series at its own of PORTAL_SERIES'
            : undefined,
      }),
  };
}

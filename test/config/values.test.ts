import { describe, expect, test } from 'vitest';
import { variableRows } from '../../src/catalog.ts';
import type { Config } from '../../src/config/config.ts';
import type { PemFile } from '../../src/config/pem.ts';
import { FURTHER_SERIES, STANDARD_SERIES } from '../../src/sources/portal/appliances/operations.ts';
import { portalCollectors } from '../../src/sources/portal/variables.ts';
import { type BothConfig, both, configOf, type Environment, type Files, faultsOf } from './surroundings.ts';

/** Texts of one variable: what each good one means, and the whole line about each bad one. */
interface Case {
  readonly read: (config: BothConfig) => unknown;
  readonly good: readonly (readonly [text: string, value: unknown])[];
  readonly bad: readonly (readonly [text: string, line: string])[];
  /** What else has to be set. */
  readonly beside?: Environment;
  readonly files?: Files;
}

const series = (...names: readonly string[]) => names.map((name) => ({ name, intervalMs: 300_000 }));

const uuid = '0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';

const receiver = { REMOTE_WRITE_URL: 'http://127.0.0.1:9090/api/v1/write' };

const secretShape = 'expected the secret as issued, in printable ASCII characters';

const badSecrets = (name: string): Case['bad'] => [
  ['canary\n', `${name}: the value contains a line break; ${secretShape}`],
  ['canary\r\nX-Evil: 1', `${name}: the value contains a line break; ${secretShape}`],
  ['canary\u0000', `${name}: the value contains a control character; ${secretShape}`],
  ['canary\u00fc', `${name}: the value contains a character outside ASCII; ${secretShape}`],
  ['canary ', `${name}: the value begins or ends with a space; ${secretShape}`],
];

/** A row of durations: what its bounds look like and what lies outside. */
function durations(
  name: string,
  read: Case['read'],
  range: string,
  examples: string,
  outside: readonly (readonly [string, string])[],
): Case {
  const expected = `expected a Prometheus duration ${range}, such as ${examples}`;
  return {
    read,
    good: [['1h', 3_600_000]],
    bad: [
      ['5 minutes', `${name}: "5 minutes" is not a duration; ${expected}`],
      ['60', `${name}: "60" is not a duration; ${expected}`],
      ['-1s', `${name}: "-1s" is not a duration; ${expected}`],
      ...outside.map(([text, flaw]) => [text, `${name}: "${text}" ${flaw}; ${expected}`] as const),
    ],
  };
}

/** A row of whole numbers: what lies outside its bounds. */
function counts(
  name: string,
  read: Case['read'],
  range: string,
  outside: readonly (readonly [string, string])[],
): Case {
  const expected = `expected a whole number ${range}`;
  return {
    read,
    good: [['7', 7]],
    bad: [
      ...['1e3', '3.5', '-1', ' 4', 'many', '99999999999999999999'].map(
        (text) => [text, `${name}: "${text}" is not a whole number; ${expected}`] as const,
      ),
      ...outside.map(([text, flaw]) => [text, `${name}: "${text}" ${flaw}; ${expected}`] as const),
    ],
  };
}

function urls(name: string, ending: string, read: Case['read']): Case {
  const withEnding = ending === '' ? '' : ` ending in ${ending}`;
  const expected = `expected an http or https URL${withEnding}, without credentials or query, such as https://api.example.com${ending}`;
  return {
    read,
    good: [
      [`https://api.example.com${ending}`, `https://api.example.com${ending}`],
      [`http://[::1]:8080/base${ending}/`, `http://[::1]:8080/base${ending}`],
      [`HTTPS://API.example.com${ending}//`, `https://api.example.com${ending}`],
    ],
    bad: [
      ['api.example.com/v1', `${name}: "api.example.com/v1" is not a URL; ${expected}`],
      ['https://a b/v1', `${name}: "https://a b/v1" is not a URL; ${expected}`],
      ['https://a\n/v1', `${name}: "https://a\\n/v1" is not a URL; ${expected}`],
      ['ftp://host/v1', `${name}: "ftp://host/v1" is not an http or https URL; ${expected}`],
      ['http:host/v1', `${name}: "http:host/v1" is not an http or https URL; ${expected}`],
      ['https://me:canary@host/v1', `${name}: the value contains a user name or password; ${expected}`],
      ['https://me:can/ary@host/v1', `${name}: the value contains a user name or password; ${expected}`],
      ['https://host/v1?key=canary', `${name}: the value contains a query or fragment; ${expected}`],
      ['https://host/v1#canary', `${name}: the value contains a query or fragment; ${expected}`],
      ...(ending === ''
        ? []
        : ([
            ['https://host', `${name}: "https://host" does not end in /v1; ${expected}`],
            ['https://host/v1/data', `${name}: "https://host/v1/data" does not end in /v1; ${expected}`],
          ] as const)),
    ],
  };
}

const words = (name: string, all: string): Case['bad'] => [
  ['other', `${name}: "other" is not a known word; expected one of ${all}`],
  ['INFO', `${name}: "INFO" is not a known word; expected one of ${all}`],
];

const COLLECTORS_EXPECTED = 'expected collectors separated by commas, such as all,-iam or telemetry,volumes=10m';

/** Collectors at the intervals that they have of themselves. */
function collectors(...names: readonly string[]) {
  const own = (name: string) => portalCollectors.find((collector) => collector.name === name)?.intervalMs ?? 300_000;
  return names.map((name) => ({ name, intervalMs: own(name) }));
}

const COLLECTORS = portalCollectors.map(({ name }) => name);
const but = (names: readonly string[], ...left: readonly string[]) => names.filter((name) => !left.includes(name));
const CHEAP_SERIES = but([...STANDARD_SERIES, ...FURTHER_SERIES], 'appliance_health_score');

const UUID = '0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';
const OTHER_UUID = '1b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';

const cases: Readonly<Record<string, Case>> = {
  GFA_URL: urls('GFA_URL', '/v1', ({ gfa }) => gfa?.url),
  GFA_TOKEN: { read: ({ gfa }) => gfa?.token.reveal(), good: [['a b', 'a b']], bad: badSecrets('GFA_TOKEN') },
  GFA_CLIENT_KEY: {
    read: ({ gfa }) => gfa?.clientKey,
    good: [['rack 7', 'rack 7']],
    bad: [
      ['a\nb', 'GFA_CLIENT_KEY: "a\\nb" contains a line break; expected a text of printable ASCII characters'],
      ['é', 'GFA_CLIENT_KEY: "é" contains a character outside ASCII; expected a text of printable ASCII characters'],
    ],
  },
  GFA_CLIENT_KEY_HEADER: {
    read: ({ gfa }) => gfa?.clientKeyHeader,
    good: [['X-Other-client-key', 'X-Other-client-key']],
    bad: [
      [
        'X Key',
        'GFA_CLIENT_KEY_HEADER: "X Key" is not a header name; expected the name of a header that the exporter does not use already, such as X-Service-client-key',
      ],
      [
        'Authorization',
        'GFA_CLIENT_KEY_HEADER: "Authorization" is already in use; expected the name of a header that the exporter does not use already, such as X-Service-client-key',
      ],
    ],
  },
  GFA_INTERVAL: durations('GFA_INTERVAL', ({ gfa }) => gfa?.intervalMs, 'of at least 1s', '60s or 5m', [
    ['999ms', 'is below 1s'],
    ['0', 'is below 1s'],
  ]),
  GFA_METRICS: {
    read: ({ gfa }) => gfa?.groups,
    good: [['locks, filers,,locks', ['locks', 'filers']]],
    bad: [
      ['locks,loks', 'GFA_METRICS: "loks" is not a known word; did you mean locks?'],
      [
        ' , ',
        'GFA_METRICS: " , " is an empty list; expected a comma-separated list of filers, volumes, locks, propagation',
      ],
    ],
  },
  PORTAL_URL: urls('PORTAL_URL', '', ({ portal }) => portal?.url),
  PORTAL_SERVICE_KEY: {
    read: ({ portal }) => portal?.credentials.key.reveal(),
    good: [['key', 'key']],
    bad: badSecrets('PORTAL_SERVICE_KEY'),
    beside: { PORTAL_AUTH: 'oauth2', PORTAL_SERVICE_SECRET: 'secret' },
  },
  PORTAL_SERVICE_SECRET: {
    read: ({ portal }) => portal !== undefined && 'secret' in portal.credentials && portal.credentials.secret.reveal(),
    good: [['secret', 'secret']],
    bad: badSecrets('PORTAL_SERVICE_SECRET'),
    beside: { PORTAL_AUTH: 'oauth2', PORTAL_SERVICE_KEY: 'key' },
  },
  PORTAL_USER_KEY: {
    read: ({ portal }) => portal?.credentials.key.reveal(),
    good: [['key', 'key']],
    bad: badSecrets('PORTAL_USER_KEY'),
  },
  PORTAL_AUTH: {
    read: ({ portal }) => portal?.credentials.kind,
    good: [
      ['oauth2', 'oauth2'],
      ['service_key', 'service_key'],
      ['user_key', 'user_key'],
    ],
    bad: words('PORTAL_AUTH', 'oauth2, service_key, user_key'),
    beside: { PORTAL_SERVICE_KEY: 'key', PORTAL_SERVICE_SECRET: 'secret' },
  },
  PORTAL_INTERVAL: durations('PORTAL_INTERVAL', ({ portal }) => portal?.intervalMs, 'of at least 1s', '60s or 5m', [
    ['0s', 'is below 1s'],
  ]),
  PORTAL_MODE: {
    read: ({ portal }) => portal?.mode,
    good: [['economy', 'economy']],
    bad: words('PORTAL_MODE', 'full, economy'),
  },
  PORTAL_FULL_INTERVAL: durations(
    'PORTAL_FULL_INTERVAL',
    ({ portal }) => portal?.fullIntervalMs,
    'of at least 1s',
    '30m or 1h',
    [['999ms', 'is below 1s']],
  ),
  PORTAL_DISCOVERY_INTERVAL: durations(
    'PORTAL_DISCOVERY_INTERVAL',
    ({ portal }) => portal?.discoveryIntervalMs,
    'of at least 1s',
    '15m or 1h',
    [['0s', 'is below 1s']],
  ),
  PORTAL_SERIALS: {
    read: ({ portal }) => portal?.serials,
    good: [[`${uuid.toUpperCase()}, ${uuid}`, [uuid]]],
    bad: [
      [
        `${uuid},filer-7`,
        `PORTAL_SERIALS: "filer-7" is not a uuid; expected a comma-separated list of uuids, such as ${uuid}`,
      ],
    ],
  },
  PORTAL_SERIES: {
    read: ({ portal }) => portal?.series,
    good: [
      ['cpu_utilization,load_average', series('load_average', 'cpu_utilization')],
      ['all', series(...CHEAP_SERIES)],
      ['all,-smb_connections,-load_average', series(...but(CHEAP_SERIES, 'smb_connections', 'load_average'))],
      ['-cpu_utilization', series(...but(STANDARD_SERIES, 'cpu_utilization'))],
      ['-cpu_utilization,cpu_utilization', series('cpu_utilization')],
      ['cpu_utilization=1m', [{ name: 'cpu_utilization', intervalMs: 60_000 }]],
      ['cpu_utilization=1m,load_average', [...series('load_average'), { name: 'cpu_utilization', intervalMs: 60_000 }]],
      [
        'all=1h,-load_average,smb_connections = 2h',
        but(CHEAP_SERIES, 'load_average').map((name) => ({
          name,
          intervalMs: name === 'smb_connections' ? 7_200_000 : 3_600_000,
        })),
      ],
    ],
    bad: [
      ['cpu_utilisation', 'PORTAL_SERIES: "cpu_utilisation" is not a series; did you mean cpu_utilization?'],
      ['-smb_conections', 'PORTAL_SERIES: "smb_conections" is not a series; did you mean smb_connections?'],
      ['al', 'PORTAL_SERIES: "al" is not a series; did you mean all?'],
      [
        'cpu_utilization=1 min',
        'PORTAL_SERIES: "cpu_utilization=1 min" needs a duration of at least 1s; expected series separated by commas, such as all,-smb_connections or cpu_utilization=1m,load_average',
      ],
      [
        'cpu_utilization=',
        'PORTAL_SERIES: "cpu_utilization=" needs a duration of at least 1s; expected series separated by commas, such as all,-smb_connections or cpu_utilization=1m,load_average',
      ],
      [
        '-cpu_utilization=1m',
        'PORTAL_SERIES: "-cpu_utilization=1m" removes a series and cannot have an interval; expected series separated by commas, such as all,-smb_connections or cpu_utilization=1m,load_average',
      ],
      [
        'load_average,-load_average',
        'PORTAL_SERIES: "load_average,-load_average" selects no series; expected series separated by commas, such as all,-smb_connections or cpu_utilization=1m,load_average',
      ],
      [
        ',',
        'PORTAL_SERIES: "," selects no series; expected series separated by commas, such as all,-smb_connections or cpu_utilization=1m,load_average',
      ],
    ],
  },
  PORTAL_LOOKBACK: durations('PORTAL_LOOKBACK', ({ portal }) => portal?.lookbackMs, 'from 6m to 30d', '15m', [
    ['5m59s', 'is below 6m'],
    ['31d', 'is above 30d'],
  ]),
  PORTAL_UNITS: {
    good: [['ratio,latency_seconds', ['ratio', 'latency_seconds']]],
    bad: [
      ['rato', 'PORTAL_UNITS: "rato" is not a known word; did you mean ratio?'],
      [
        'percent',
        'PORTAL_UNITS: "percent" is not a known word; expected a comma-separated list of ratio, memory_bytes, latency_seconds, requests_per_second',
      ],
    ],
    read: ({ portal }) => portal?.units,
  },
  PORTAL_BIN_SIZE: {
    ...durations('PORTAL_BIN_SIZE', ({ portal }) => portal?.binSeconds, 'from 1m to 1h', '60s', [
      ['59s', 'is below 1m'],
      ['3601s', 'is above 1h'],
      ['60s500ms', 'is not a whole number of seconds'],
    ]),
    good: [
      ['60s', 60],
      ['15m', 900],
    ],
  },
  PORTAL_CONCURRENCY: counts('PORTAL_CONCURRENCY', ({ portal }) => portal?.concurrency, 'from 1 to 1000', [
    ['0', 'is below 1'],
    ['1001', 'is above 1000'],
  ]),
  PORTAL_RATE_LIMIT: {
    read: ({ portal }) => portal?.rateLimit,
    good: [
      ['20/1s', { requests: 20, windowMs: 1000 }],
      ['1000/1h30m', { requests: 1000, windowMs: 5_400_000 }],
    ],
    bad: ['500', '500/', '/30s', '0/30s', '500/0s', '500/30', '500 / 30s', '-5/30s'].map((text) => [
      text,
      `PORTAL_RATE_LIMIT: "${text}" is not a rate; expected a number of requests and a window, both above 0, such as 500/30s`,
    ]),
  },
  PORTAL_DAILY_LIMIT: {
    ...counts('PORTAL_DAILY_LIMIT', ({ portal }) => portal?.dailyLimit, 'of at least 0', []),
    good: [
      ['5000', 5000],
      ['0', undefined],
    ],
  },
  REQUEST_TIMEOUT: durations('REQUEST_TIMEOUT', ({ requests }) => requests.timeoutMs, 'from 1ms to 1d', '30s', [
    ['0', 'is below 1ms'],
    ['25h', 'is above 1d'],
  ]),
  MAX_RESPONSE_BYTES: counts('MAX_RESPONSE_BYTES', ({ requests }) => requests.maxResponseBytes, 'of at least 1', [
    ['0', 'is below 1'],
  ]),
  STALE_AFTER: counts('STALE_AFTER', ({ staleAfter }) => staleAfter, 'of at least 1', [['0', 'is below 1']]),
  FORGET_AFTER: durations('FORGET_AFTER', ({ forgetAfterMs }) => forgetAfterMs, 'from 1m to 30d', '1d', [
    ['59s', 'is below 1m'],
    ['31d', 'is above 30d'],
  ]),
  EVENT_BUCKETS: {
    read: ({ events }) => events.bucketsSeconds,
    good: [['500ms, 1.5,10,1m', [0.5, 1.5, 10, 60]]],
    bad: (
      [
        ['10s,soon', '"soon" is not a bucket'],
        ['0,10s', '"0" is not a bucket'],
        ['-1', '"-1" is not a bucket'],
        ['Infinity', '"Infinity" is not a bucket'],
        ['10s,5s', '"10s,5s" is not in ascending order'],
        ['60s,1m', '"60s,1m" is not in ascending order'],
        [',', '"," is an empty list'],
      ] as const
    ).map(([text, flaw]) => [
      text,
      `EVENT_BUCKETS: ${flaw}; expected durations or seconds of at least 1ms, ascending and separated by commas, such as 10s,1m,1h`,
    ]),
  },
  EVENT_HISTOGRAMS: {
    read: ({ events }) => events.histograms,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: [['yes', 'EVENT_HISTOGRAMS: "yes" is neither; expected true or false']],
  },
  FILER_ALIASES: {
    read: ({ filerAliases }) => filerAliases,
    good: [
      [`${UUID.toUpperCase()} = ${OTHER_UUID}`, [{ id: UUID, is: OTHER_UUID }]],
      [`${UUID}=Leeds = north,`, [{ id: UUID, is: 'Leeds = north' }]],
    ],
    bad: (
      [
        [',', '"," is an empty list'],
        ['leeds', '"leeds" does not begin with a uuid and an equals sign'],
        ['leeds=north', '"leeds=north" does not begin with a uuid and an equals sign'],
        [`${UUID}=`, `"${UUID}=" has nothing after the equals sign`],
        [`${UUID}=${UUID}`, `"${UUID}=${UUID}" has the same id on both sides`],
        [`${UUID}=a,${UUID}=b`, `"${UUID}" is listed twice`],
      ] as const
    ).map(([text, flaw]) => [
      text,
      `FILER_ALIASES: ${flaw}; expected filer_guid=serial or filer_guid=name, separated by commas`,
    ]),
  },
  STATE_FILE: {
    read: ({ stateFile }) => stateFile,
    good: [['state dir/state.json', 'state dir/state.json']],
    bad: [['a\u0000b', 'STATE_FILE: "a\\u0000b" contains a control character; expected the path of a file']],
  },
  ALLOW_INSECURE_UPSTREAM: {
    read: ({ requests }) => requests.allowInsecure,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: [['1', 'ALLOW_INSECURE_UPSTREAM: "1" is neither; expected true or false']],
  },
  PORTAL_COLLECTORS: {
    read: ({ portal }) => portal?.collectors,
    good: [
      ['notifications,telemetry', collectors('telemetry', 'notifications')],
      ['all', collectors(...COLLECTORS)],
      ['all,-volumes', collectors(...but(COLLECTORS, 'volumes'))],
      ['-volumes', collectors('telemetry', 'edges', 'license')],
      ['all=1h,-telemetry', but(COLLECTORS, 'telemetry').map((name) => ({ name, intervalMs: 3_600_000 }))],
      ['volumes=10m', [{ name: 'volumes', intervalMs: 600_000 }]],
    ],
    bad: [
      ['volume', 'PORTAL_COLLECTORS: "volume" is not a collector; did you mean volumes?'],
      ['volumes=0', `PORTAL_COLLECTORS: "volumes=0" needs a duration of at least 1s; ${COLLECTORS_EXPECTED}`],
      [
        '-volumes=1m',
        `PORTAL_COLLECTORS: "-volumes=1m" removes a collector and cannot have an interval; ${COLLECTORS_EXPECTED}`,
      ],
      [
        'telemetry=1m',
        'PORTAL_COLLECTORS: "telemetry=1m": telemetry has no interval of its own: set PORTAL_INTERVAL, or the interval of a series ' +
          `in PORTAL_SERIES; ${COLLECTORS_EXPECTED}`,
      ],
      ['volumes,-volumes', `PORTAL_COLLECTORS: "volumes,-volumes" selects no collector; ${COLLECTORS_EXPECTED}`],
    ],
  },
  MAX_SCRAPES: counts('MAX_SCRAPES', ({ web }) => web.maxScrapes, 'of at least 1', [['0', 'is below 1']]),
  LISTEN_ADDRESS: {
    read: ({ web }) => ({ host: web.host, port: web.port }),
    good: [
      [':0', { host: undefined, port: 0 }],
      ['localhost:9989', { host: 'localhost', port: 9989 }],
      ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }],
      ['[::1]:65535', { host: '::1', port: 65_535 }],
    ],
    bad: (
      [
        ['9989', 'is not a listen address'],
        ['localhost', 'is not a listen address'],
        ['::1:9989', 'is not a listen address'],
        ['http://host:1', 'is not a listen address'],
        [':99999', 'has a port above 65535'],
        ['[localhost]:1', 'has no IPv6 address in the brackets'],
        ['300.1.1.1:1', 'has an invalid IPv4 address'],
      ] as const
    ).map(([text, flaw]) => [
      text,
      `LISTEN_ADDRESS: "${text}" ${flaw}; expected host:port, [v6]:port or :port, such as :9989`,
    ]),
  },
  METRICS_PATH: {
    read: ({ web }) => web.metricsPath,
    good: [
      ['/metrics', '/metrics'],
      ['/exporter/filers', '/exporter/filers'],
    ],
    bad: (
      [
        ['metrics', 'does not start with /'],
        ['/metrics?x=1', 'contains a query or fragment'],
        ['/metrics#x', 'contains a query or fragment'],
        ['/a/../b', 'is not a plain path'],
        ['//host/metrics', 'is not a plain path'],
        ['/two words', 'is not a plain path'],
        ['/', 'is used by another page'],
        ['/healthz', 'is used by another page'],
        ['/readyz', 'is used by another page'],
        ['/status/', 'is used by another page'],
        ['/api/v1', 'is used by another page'],
      ] as const
    ).map(([text, flaw]) => [
      text,
      `METRICS_PATH: "${text}" ${flaw}; expected a path such as /metrics, without a query and not used by another page`,
    ]),
  },
  WEB_CONFIG_FILE: {
    read: ({ web }) => web.configFile,
    good: [['/etc/filer-exporter/web.yml', '/etc/filer-exporter/web.yml']],
    bad: [['a\tb', 'WEB_CONFIG_FILE: "a\\tb" contains a control character; expected the path of a file']],
  },
  WEB_OPEN_PATHS: {
    read: ({ web }) => web.openPaths,
    good: [
      ['/readyz', { paths: ['/readyz'], named: true }],
      ['/readyz, /healthz,/readyz', { paths: ['/readyz', '/healthz'], named: true }],
      ['none', { paths: [], named: true }],
    ],
    bad: (
      [
        ['/metrics', '"/metrics" is not one of them'],
        ['/healthz,none', '"none" is not one of them'],
        [',', '"," is an empty list'],
      ] as const
    ).map(([text, flaw]) => [
      text,
      `WEB_OPEN_PATHS: ${flaw}; expected a comma-separated list of /healthz, /readyz, or none`,
    ]),
  },
  MAX_CONNECTIONS: counts('MAX_CONNECTIONS', ({ web }) => web.maxConnections, 'of at least 1', [['0', 'is below 1']]),
  SHARD: {
    read: ({ shard }) => shard.index,
    good: [
      ['7', 7],
      ['filer-exporter-0', 0],
      ['release-1-filer-exporter-7', 7],
    ],
    bad: ['1e3', '3.5', '-1', ' 4', 'many', '99999999999999999999', 'filer-exporter-6f7b9-x2kqp', 'exporter7'].map(
      (text) => [
        text,
        `SHARD: "${text}" is not a number and does not end in one; expected a whole number of at least 0, or the name of a StatefulSet pod such as filer-exporter-2`,
      ],
    ),
    beside: { TOTAL_SHARDS: '8' },
  },
  TOTAL_SHARDS: counts('TOTAL_SHARDS', ({ shard }) => shard.total, 'of at least 1', [['0', 'is below 1']]),
  SHUTDOWN_TIMEOUT: durations('SHUTDOWN_TIMEOUT', (config) => config.shutdownTimeoutMs, 'from 0s to 1d', '10s', [
    ['2d', 'is above 1d'],
  ]),
  LOG_LEVEL: {
    read: ({ log }) => log.level,
    good: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'].map((level) => [level, level]),
    bad: words('LOG_LEVEL', 'trace, debug, info, warn, error, fatal, silent'),
  },
  LOG_FORMAT: {
    read: ({ log }) => log.format,
    good: ['json', 'pretty', 'auto'].map((format) => [format, format]),
    bad: words('LOG_FORMAT', 'json, pretty, auto'),
  },
  REMOTE_WRITE_URL: urls('REMOTE_WRITE_URL', '', ({ remoteWrite }) => remoteWrite?.url),
  REMOTE_WRITE_TOKEN: {
    read: ({ remoteWrite }) => remoteWrite?.token?.reveal(),
    good: [['canary', 'canary']],
    bad: badSecrets('REMOTE_WRITE_TOKEN'),
    beside: receiver,
  },
  REMOTE_WRITE_USER: {
    read: ({ remoteWrite }) => remoteWrite?.basic?.user,
    good: [['writer', 'writer']],
    bad: [
      [
        'wri\u00fcter',
        'REMOTE_WRITE_USER: "wri\u00fcter" contains a character outside ASCII; expected a text of printable ASCII characters',
      ],
    ],
    beside: { ...receiver, REMOTE_WRITE_PASSWORD: 'canary' },
  },
  REMOTE_WRITE_PASSWORD: {
    read: ({ remoteWrite }) => remoteWrite?.basic?.password.reveal(),
    good: [['canary', 'canary']],
    bad: badSecrets('REMOTE_WRITE_PASSWORD'),
    beside: { ...receiver, REMOTE_WRITE_USER: 'writer' },
  },
  REMOTE_WRITE_HEADERS: {
    read: ({ remoteWrite }) => remoteWrite?.headers?.reveal(),
    good: [['X-Scope-OrgID=one, X-Other=a=b', 'X-Scope-OrgID=one, X-Other=a=b']],
    bad: [
      ...badSecrets('REMOTE_WRITE_HEADERS'),
      ['canary', 'REMOTE_WRITE_HEADERS: contains no headers; expected Name=value, separated by commas'],
    ],
    beside: receiver,
  },
  REMOTE_WRITE_LABELS: {
    read: ({ remoteWrite }) => remoteWrite?.labels,
    good: [['job=filer-exporter,instance=here:9989', { job: 'filer-exporter', instance: 'here:9989' }]],
    bad: ['job', '1a=b', '__name__=b'].map(
      (text) =>
        [
          text,
          `REMOTE_WRITE_LABELS: "${text}" has no label name; expected label names and values, such as job=filer-exporter,instance=filer-exporter:9989`,
        ] as const,
    ),
    beside: receiver,
  },
  REMOTE_WRITE_CATCH_UP: {
    ...durations('REMOTE_WRITE_CATCH_UP', ({ remoteWrite }) => remoteWrite?.catchUpMs, 'from 15m to 30d', '6h', [
      ['14m', 'is below 15m'],
      ['31d', 'is above 30d'],
    ]),
    beside: receiver,
  },
  REMOTE_WRITE_CA_FILE: pemFiles('REMOTE_WRITE_CA_FILE', 'certificate', ({ ca }) => ca),
  REMOTE_WRITE_CERT_FILE: pemFiles('REMOTE_WRITE_CERT_FILE', 'certificate', ({ cert }) => cert, {
    REMOTE_WRITE_KEY_FILE: '/all.pem',
  }),
  REMOTE_WRITE_KEY_FILE: pemFiles('REMOTE_WRITE_KEY_FILE', 'private key', ({ key }) => key, {
    REMOTE_WRITE_CERT_FILE: '/all.pem',
  }),
  REMOTE_WRITE_AND_EXPOSE: {
    read: ({ remoteWrite }) => remoteWrite?.isExposedToo,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: [],
    beside: receiver,
  },
};

/** The path of a file with such a block. */
function pemFiles(
  name: string,
  block: 'certificate' | 'private key',
  read: (tls: NonNullable<Config['remoteWrite']>['tls']) => PemFile | undefined,
  beside: Environment = {},
): Case {
  const expected = 'expected the path of a PEM file';
  const text = `# one\n-----BEGIN ${block.toUpperCase()}-----\n`;
  const both = '-----BEGIN TRUSTED CERTIFICATE-----\n-----BEGIN EC PRIVATE KEY-----\n';
  return {
    read: ({ remoteWrite }) => remoteWrite && read(remoteWrite.tls)?.reveal(),
    good: [
      ['/etc/one.pem', text],
      ['/all.pem', both],
    ],
    bad: [
      ['/nowhere/a.pem', `${name}: "/nowhere/a.pem" cannot be read (ENOENT); ${expected}`],
      ['/etc/other.pem', `${name}: "/etc/other.pem" contains no ${block}; ${expected}`],
      ['/etc/empty.pem', `${name}: "/etc/empty.pem" contains no ${block}; ${expected}`],
      ['/etc\n', `${name}: "/etc\\n" contains a control character; ${expected}`],
    ],
    beside: { ...receiver, ...beside },
    files: {
      '/etc/one.pem': text,
      '/etc/other.pem': '-----BEGIN PUBLIC KEY-----\n',
      '/etc/empty.pem': '',
      '/all.pem': both,
    },
  };
}

test('every variable has texts here', () => {
  expect(new Set(Object.keys(cases))).toEqual(new Set(variableRows.map(({ name }) => name)));
});

describe.each(Object.entries(cases).map(([name, one]) => ({ name, ...one })))(
  '$name',
  ({ name, read, good, bad, beside, files }) => {
    test.each(good)('%j is understood', (text, value) => {
      expect(read(configOf({ ...both, ...beside, [name]: text }, files))).toEqual(value);
    });

    test.each(bad)('%j is refused in one line', (text, line) => {
      expect(faultsOf({ ...both, ...beside, [name]: text }, files)).toEqual([line]);
    });

    test('an empty text is as if it were not set', () => {
      const without = { ...both, ...beside, [name]: undefined };
      expect(faultsOf({ ...without, [name]: '' }, files)).toEqual(faultsOf(without, files));
    });
  },
);

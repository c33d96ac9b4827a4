import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/runtime/errors.ts';
import { ADDITIONAL_SERIES, STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { both, configOf, errorsOf, gfaOnly, portalOnly } from './surroundings.ts';

const { PORTAL_URL } = portalOnly;
const pair = { PORTAL_SERVICE_KEY: 'key-canary', PORTAL_SERVICE_SECRET: 'secret-canary' };
const userKey = { PORTAL_USER_KEY: 'user-canary' };

describe('with nothing but what is required', () => {
  test('everything else has its default', () => {
    expect(configOf(both)).toMatchObject({
      gfa: {
        url: 'https://gfa.example.com/v1',
        clientKey: 'filer-exporter',
        clientKeyHeader: 'X-Service-client-key',
        intervalMs: 60_000,
        groups: ['filers', 'volumes', 'locks', 'propagation'],
      },
      portal: {
        url: 'https://portal.example.com',
        credentials: { kind: 'user_key' },
        intervalMs: 300_000,
        discoveryIntervalMs: 900_000,
        serials: undefined,
        series: STANDARD_SERIES.map((name) => ({ name, intervalMs: 300_000 })),
        lookbackMs: 900_000,
        binSeconds: 60,
        rateLimit: { requests: 500, windowMs: 30_000 },
        dailyLimit: 1_000_000,
        collectors: [
          { name: 'telemetry', intervalMs: 300_000 },
          { name: 'volumes', intervalMs: 300_000 },
          { name: 'edges', intervalMs: 3_600_000 },
          { name: 'license', intervalMs: 3_600_000 },
        ],
      },
      requests: { timeoutMs: 30_000, maxResponseBytes: 33_554_432, proxy: undefined },
      staleAfter: 3,
      events: { histograms: true },
      stateFile: undefined,
      shard: { index: 0, total: 1 },
      web: { host: undefined, port: 9989, metricsPath: '/metrics', maxScrapes: 40, configFile: undefined },
      shutdownTimeoutMs: 10_000,
      log: { level: 'info', format: 'auto' },
    });
  });

  test('a costly series is polled only when it is named, at its own interval unless it is given another', () => {
    const seriesOf = (PORTAL_SERIES: string) => configOf({ ...portalOnly, PORTAL_SERIES }).portal?.series;
    expect(seriesOf('all')?.map(({ name }) => name)).not.toContain('appliance_health_score');
    const name = 'appliance_health_score';
    expect(seriesOf(`all,${name}`)?.at(-1)).toEqual({ name, intervalMs: 1_800_000 });
    expect(seriesOf(`${name}=1h`)).toEqual([{ name, intervalMs: 3_600_000 }]);
  });

  test('without the collector telemetry no series is polled', () => {
    for (const PORTAL_MODE of ['full', 'economy']) {
      const { portal } = configOf({ ...portalOnly, PORTAL_MODE, PORTAL_COLLECTORS: 'volumes' });
      expect(portal).toMatchObject({ series: [], collectors: [{ name: 'volumes', intervalMs: 300_000 }] });
    }
  });

  test('a series without an interval of its own follows PORTAL_INTERVAL', () => {
    const { portal } = configOf({
      ...portalOnly,
      PORTAL_INTERVAL: '2m',
      PORTAL_SERIES: 'load_average,cpu_utilization=1h',
    });
    expect(portal?.series).toEqual([
      { name: 'load_average', intervalMs: 120_000 },
      { name: 'cpu_utilization', intervalMs: 3_600_000 },
    ]);
  });
});

describe('an API is on when its URL is set', () => {
  test('one of them is enough', () => {
    expect(configOf(gfaOnly)).toMatchObject({ gfa: {}, portal: undefined });
    expect(configOf(portalOnly)).toMatchObject({ gfa: undefined, portal: {} });
  });

  test('with neither there is nothing to do, and that is a fault', () => {
    expect(errorsOf({ GFA_URL: '' })).toEqual([
      'GFA_URL: is not set and neither is PORTAL_URL; expected at least one of them',
    ]);
  });

  test('the file acceleration service needs its token', () => {
    expect(errorsOf({ GFA_URL: gfaOnly.GFA_URL })).toEqual([
      'GFA_TOKEN: is not set; GFA_URL needs it: set GFA_TOKEN or GFA_TOKEN_FILE',
    ]);
  });

  test('a secret for an API that is off is a fault', () => {
    expect(errorsOf({ ...portalOnly, GFA_TOKEN: 'token-canary' })).toEqual([
      'GFA_TOKEN: is set but GFA_URL is not; expected both or neither',
    ]);
    expect(errorsOf({ ...gfaOnly, ...userKey })).toEqual([
      'PORTAL_USER_KEY: is set but PORTAL_URL is not; expected both or neither',
    ]);
  });
});

describe('credentials of the portal', () => {
  test.each([
    [{ ...pair }, 'oauth2'],
    [{ ...userKey }, 'user_key'],
    [{ ...pair, PORTAL_AUTH: 'service_key' }, 'service_key'],
    [{ ...pair, ...userKey, PORTAL_AUTH: 'user_key' }, 'user_key'],
    [{ ...pair, ...userKey, PORTAL_AUTH: 'oauth2' }, 'oauth2'],
  ])('%j is %s', (credentials, kind) => {
    expect(configOf({ PORTAL_URL, ...credentials }).portal?.credentials.kind).toBe(kind);
  });

  const neededBy = 'is not set; the other half of the pair needs it: set';
  test.each([
    [
      {},
      ['PORTAL_URL: is set without credentials; set PORTAL_SERVICE_KEY and PORTAL_SERVICE_SECRET, or PORTAL_USER_KEY'],
    ],
    [
      { PORTAL_SERVICE_KEY: 'k' },
      [`PORTAL_SERVICE_SECRET: ${neededBy} PORTAL_SERVICE_SECRET or PORTAL_SERVICE_SECRET_FILE`],
    ],
    [{ PORTAL_SERVICE_SECRET: 's' }, [`PORTAL_SERVICE_KEY: ${neededBy} PORTAL_SERVICE_KEY or PORTAL_SERVICE_KEY_FILE`]],
    [
      { ...pair, ...userKey },
      [
        'PORTAL_AUTH: is not set, but a service key and a user key are both set; set it to oauth2, service_key or user_key',
      ],
    ],
    [
      { ...pair, PORTAL_AUTH: 'user_key' },
      ['PORTAL_USER_KEY: is not set; PORTAL_AUTH=user_key needs it: set PORTAL_USER_KEY or PORTAL_USER_KEY_FILE'],
    ],
    [
      { ...userKey, PORTAL_AUTH: 'oauth2' },
      [
        'PORTAL_SERVICE_KEY: is not set; PORTAL_AUTH=oauth2 needs it: set PORTAL_SERVICE_KEY or PORTAL_SERVICE_KEY_FILE',
        'PORTAL_SERVICE_SECRET: is not set; PORTAL_AUTH=oauth2 needs it: set PORTAL_SERVICE_SECRET or PORTAL_SERVICE_SECRET_FILE',
      ],
    ],
  ])('%j says what is missing', (credentials, lines) => {
    expect(errorsOf({ PORTAL_URL, ...credentials })).toEqual(lines);
  });

  test('an unusable PORTAL_AUTH is one fault, not a second one about what it needs', () => {
    expect(errorsOf({ PORTAL_URL, PORTAL_AUTH: 'basic' })).toEqual([
      'PORTAL_AUTH: "basic" is not a known word; expected one of oauth2, service_key, user_key',
    ]);
  });
});

test('a shard is one of those there are', () => {
  expect(configOf({ ...gfaOnly, SHARD: '2', TOTAL_SHARDS: '3' }).shard).toEqual({ index: 2, total: 3 });
  expect(errorsOf({ ...gfaOnly, SHARD: '3', TOTAL_SHARDS: '3' })).toEqual([
    'SHARD: "3" is not below TOTAL_SHARDS; expected a whole number from 0 to 2',
  ]);
  expect(errorsOf({ ...gfaOnly, SHARD: '3', TOTAL_SHARDS: 'x' })).toEqual([
    'TOTAL_SHARDS: "x" is not a whole number; expected a whole number of at least 1, such as 1',
  ]);
});

test('every fault is reported at once, in the order of the documentation, and the strangers last', () => {
  const environment = {
    PORTAL_INTERVALL: '5m',
    GFA_TOKN: 'token-canary',
    HTTPS_PROXY: 'gopher://me:proxy-canary@proxy',
    SHARD: '7',
    EVENT_HISTOGRAMS: '1',
    LOG_LEVEL: 'loud',
    GFA_INTERVAL: '5 minutes',
    GFA_URL: 'https://gfa.example.com',
    PORTAL_URL,
    PORTAL_SERVICE_KEY: 'key-canary\n',
    PORTAL_SERIES: 'load_avrage,cpu',
  };
  const proxy = 'expected an http or https URL with nothing after host and port, such as http://proxy.example.com:3128';
  const expected = [
    'GFA_URL: "https://gfa.example.com" does not end in /v1; expected an http or https URL ending in /v1, without credentials or query, such as https://api.example.com/v1',
    'GFA_TOKEN: is not set; GFA_URL needs it: set GFA_TOKEN or GFA_TOKEN_FILE',
    'GFA_INTERVAL: "5 minutes" is not a duration; expected a Prometheus duration of at least 1s, such as 60s',
    'PORTAL_SERVICE_KEY: the value contains a line break; expected the secret as issued, in printable ASCII characters',
    'PORTAL_SERVICE_SECRET: is not set; the other half of the pair needs it: set PORTAL_SERVICE_SECRET or PORTAL_SERVICE_SECRET_FILE',
    'PORTAL_SERIES: "load_avrage" is not a series; did you mean load_average?',
    `PORTAL_SERIES: "cpu" is not a series; known are all, ${[...STANDARD_SERIES, ...ADDITIONAL_SERIES].join(', ')}; expected series separated by commas, such as all,-smb_connections or cpu_utilization=1m,load_average`,
    'EVENT_HISTOGRAMS: "1" is neither; expected true or false',
    'SHARD: "7" is not below TOTAL_SHARDS; expected a whole number from 0 to 0',
    'LOG_LEVEL: "loud" is not a known word; expected one of trace, debug, info, warn, error, fatal, silent',
    `HTTPS_PROXY: the value is not a proxy; ${proxy}`,
    'GFA_TOKN: unknown variable; did you mean GFA_TOKEN?',
    'PORTAL_INTERVALL: unknown variable; did you mean PORTAL_INTERVAL?',
  ];
  expect(errorsOf(environment)).toEqual(expected);
  expect(() => configOf(environment)).toThrow(new ConfigError(expected));
});

describe('an http URL', () => {
  const line = (name: string) =>
    `${name}: is an http URL beyond this machine; expected https, or ALLOW_INSECURE_UPSTREAM=true to send keys and tokens unencrypted`;

  test.each([
    ...['http://localhost:1', 'http://LOCALHOST', 'http://127.0.0.1', 'http://127.9.9.9:80', 'http://127.1'],
    ...['http://[::1]:1', 'http://[::ffff:127.0.0.1]:1'],
  ])('%s leads to this machine and is fine', (origin) => {
    expect(errorsOf({ ...both, GFA_URL: `${origin}/v1`, PORTAL_URL: origin })).toEqual([]);
  });

  test.each([
    'http://10.0.0.1',
    'http://gfa.example.com',
    'http://localhost.example.com',
    // Neither is in a hosts file, so it is the network that says where they lead.
    'http://a.localhost',
    'http://localhost.',
    'http://128.0.0.1',
    'http://[::2]',
    'http://[::ffff:10.0.0.1]',
  ])('[plain-upstream] %s leads beyond it and needs ALLOW_INSECURE_UPSTREAM', (origin) => {
    const environment = { ...both, GFA_URL: `${origin}/v1`, PORTAL_URL: origin };
    expect(errorsOf(environment)).toEqual([line('GFA_URL'), line('PORTAL_URL')]);
    expect(errorsOf({ ...environment, ALLOW_INSECURE_UPSTREAM: 'true' })).toEqual([]);
  });
});

describe('the files that hold secrets', () => {
  test('are those that variables name, each once', () => {
    const files = { '/run/key': 'k\n', '/run/token': 't\n' };
    const named = { PORTAL_SERVICE_KEY_FILE: '/run/key', PORTAL_SERVICE_SECRET_FILE: '/run/key' };
    const environment = { GFA_URL: gfaOnly.GFA_URL, GFA_TOKEN_FILE: '/run/token', PORTAL_URL, ...named };
    expect(configOf(environment, files).ownFiles).toEqual([
      { path: '/run/token', isSecret: true },
      { path: '/run/key', isSecret: true },
    ]);
    expect(configOf(both).ownFiles).toEqual([]);
  });

  test('are the PEM files with a key too, also beside a certificate, and not those of certificates alone', () => {
    const [certificate, key] = ['-----BEGIN CERTIFICATE-----\n', '-----BEGIN EC PRIVATE KEY-----\n'];
    const files = { '/ca': certificate, '/cert': certificate, '/key': key, '/all': certificate + key };
    const ownFiles = (cert: string, own: string) =>
      configOf(
        {
          ...both,
          REMOTE_WRITE_URL: 'https://receiver.example.com/write',
          REMOTE_WRITE_CA_FILE: '/ca',
          REMOTE_WRITE_CERT_FILE: cert,
          REMOTE_WRITE_KEY_FILE: own,
        },
        files,
      ).ownFiles;
    expect(ownFiles('/cert', '/key')).toEqual([{ path: '/key', isSecret: true }]);
    expect(ownFiles('/all', '/all')).toEqual([{ path: '/all', isSecret: true }]);
    expect(ownFiles('/all', '/key')).toEqual([
      { path: '/all', isSecret: true },
      { path: '/key', isSecret: true },
    ]);
  });

  test.each([
    ['a token', `GFA_TOKEN=${gfaOnly.GFA_TOKEN}`, true],
    ['a token that the environment has too', 'GFA_TOKEN=another', true],
    ['a proxy with a password', 'https_proxy=http://me:proxy-canary@proxy:3128', true],
    ['a proxy without one', 'HTTPS_PROXY=http://proxy:3128', false],
    ['a token of nothing', 'GFA_TOKEN=', false],
    ['no secret', 'GFA_INTERVAL=2m', false],
  ])('are .env too, which others must not change in any case, nor read where it has %s', (_, dotenv, isOne) => {
    expect(configOf(gfaOnly, { '.env': `${dotenv}\n` }).ownFiles).toEqual([{ path: '.env', isSecret: isOne }]);
  });
});

import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/runtime/errors.ts';
import { FURTHER_SERIES, STANDARD_SERIES } from '../../src/sources/portal/appliances/operations.ts';
import { both, configOf, faultsOf, gfaOnly, portalOnly, services, systemError } from './surroundings.ts';

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

  test('the event buckets go from ten seconds to a day', () => {
    const { bucketsSeconds } = configOf(gfaOnly).events;
    expect([bucketsSeconds[0], bucketsSeconds.at(-1), bucketsSeconds.length]).toEqual([10, 86_400, 14]);
  });

  test('a costly series is polled only when it is named, at its own interval unless it is given another', () => {
    const seriesOf = (PORTAL_SERIES: string) => configOf({ ...portalOnly, PORTAL_SERIES }).portal?.series;
    expect(seriesOf('all')?.map(({ name }) => name)).not.toContain('appliance_health_score');
    const name = 'appliance_health_score';
    expect(seriesOf(`all,${name}`)?.at(-1)).toEqual({ name, intervalMs: 1_800_000 });
    expect(seriesOf(`${name}=1h`)).toEqual([{ name, intervalMs: 3_600_000 }]);
  });

  test('without the collector telemetry no series is polled', () => {
    const { portal } = configOf({ ...portalOnly, PORTAL_COLLECTORS: 'volumes' });
    expect(portal).toMatchObject({ series: [], collectors: [{ name: 'volumes', intervalMs: 300_000 }] });
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
    expect(faultsOf({ GFA_URL: '' })).toEqual([
      'GFA_URL: is not set and neither is PORTAL_URL; expected at least one of them',
    ]);
  });

  test('the file acceleration service needs its token', () => {
    expect(faultsOf({ GFA_URL: gfaOnly.GFA_URL })).toEqual([
      'GFA_TOKEN: is not set; GFA_URL needs it: set GFA_TOKEN or GFA_TOKEN_FILE',
    ]);
  });

  test('a secret for an API that is off is a fault', () => {
    expect(faultsOf({ ...portalOnly, GFA_TOKEN: 'token-canary' })).toEqual([
      'GFA_TOKEN: is set but GFA_URL is not; expected both or neither',
    ]);
    expect(faultsOf({ ...gfaOnly, ...userKey })).toEqual([
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
      ['PORTAL_AUTH: is not set, but both a service key and a user key are; set it to oauth2, service_key or user_key'],
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
    expect(faultsOf({ PORTAL_URL, ...credentials })).toEqual(lines);
  });

  test('an unusable PORTAL_AUTH is one fault, not a second one about what it needs', () => {
    expect(faultsOf({ PORTAL_URL, PORTAL_AUTH: 'basic' })).toEqual([
      'PORTAL_AUTH: "basic" is not a known word; expected one of oauth2, service_key, user_key',
    ]);
  });
});

test('a shard is one of those there are', () => {
  expect(configOf({ ...gfaOnly, SHARD: '2', TOTAL_SHARDS: '3' }).shard).toEqual({ index: 2, total: 3 });
  expect(faultsOf({ ...gfaOnly, SHARD: '3', TOTAL_SHARDS: '3' })).toEqual([
    'SHARD: "3" is not below TOTAL_SHARDS; expected a whole number from 0 to 2',
  ]);
  expect(faultsOf({ ...gfaOnly, SHARD: '3', TOTAL_SHARDS: 'x' })).toEqual([
    'TOTAL_SHARDS: "x" is not a whole number; expected a whole number of at least 1',
  ]);
});

test('every fault is reported at once, in the order of the documentation, and the strangers last', () => {
  const environment = {
    PORTAL_INTERVALL: '5m',
    GFA_TOKN: 'token-canary',
    HTTPS_PROXY: 'gopher://me:proxy-canary@proxy',
    SHARD: '7',
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
    'GFA_INTERVAL: "5 minutes" is not a duration; expected a Prometheus duration of at least 1s, such as 60s or 5m',
    'PORTAL_SERVICE_KEY: the value contains a line break; expected the secret as issued, in printable ASCII characters',
    'PORTAL_SERVICE_SECRET: is not set; the other half of the pair needs it: set PORTAL_SERVICE_SECRET or PORTAL_SERVICE_SECRET_FILE',
    'PORTAL_SERIES: "load_avrage" is not a series; did you mean load_average?',
    `PORTAL_SERIES: "cpu" is not a series; known are all, ${[...STANDARD_SERIES, ...FURTHER_SERIES].join(', ')}; expected series separated by commas, such as all,-smb_connections or cpu_utilization=1m,load_average`,
    'SHARD: "7" is not below TOTAL_SHARDS; expected a whole number from 0 to 0',
    'LOG_LEVEL: "loud" is not a known word; expected one of trace, debug, info, warn, error, fatal, silent',
    `HTTPS_PROXY: the value is not a proxy; ${proxy}`,
    'GFA_TOKN: unknown variable; did you mean GFA_TOKEN?',
    'PORTAL_INTERVALL: unknown variable; did you mean PORTAL_INTERVAL?',
  ];
  expect(faultsOf(environment)).toEqual(expected);
  expect(() => configOf(environment)).toThrow(new ConfigError(expected));
});

describe('names that nobody knows', () => {
  test.each([
    ['PORTAL_INTERVALL', 'PORTAL_INTERVAL'],
    ['PORTAL_SERAILS', 'PORTAL_SERIALS'],
    ['PORTAL_SERVICE_KEYFILE', 'PORTAL_SERVICE_KEY_FILE'],
    ['GFA_TOKEN_FIEL', 'GFA_TOKEN_FILE'],
    ['GFA_URL_FILE', 'GFA_URL'],
    ['PORTAL_STALE_AFTER', 'STALE_AFTER'],
    ['PORTAL_service_key', 'PORTAL_SERVICE_KEY'],
  ])('%s is a fault that names %s', (name, meant) => {
    expect(faultsOf({ ...gfaOnly, [name]: 'canary' })).toEqual([`${name}: unknown variable; did you mean ${meant}?`]);
  });

  test.each([
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['STATEFILE', 'STATE_FILE'],
    ['LISTENADDRESS', 'LISTEN_ADDRESS'],
    ['PORT_INTERVAL', 'PORTAL_INTERVAL'],
  ])('%s has no effect, and a warning names %s', (name, meant) => {
    const { warnings } = configOf({ ...gfaOnly, [name]: 'x', HOSTNAME: 'host', LOGNAME: 'me', SHELL: '/bin/sh' });
    expect(warnings).toEqual([`${name}: has no effect here; did you mean ${meant}?`]);
  });

  test('a name that would break the line is shown in quotes', () => {
    expect(faultsOf({ ...gfaOnly, 'GFA_\nURL': 'x' })).toEqual([
      '"GFA_\\nURL": unknown variable; did you mean GFA_URL?',
    ]);
  });

  test('one that is empty, or has another prefix, is none of our business', () => {
    expect(faultsOf({ ...gfaOnly, GFA_TOKN: '', MY_GFA_TOKN: 'x', PORTALS: 'x', gfa_token: 'x' })).toEqual([]);
  });

  test('what Kubernetes sets for a Service called gfa or portal is let through', () => {
    const links = {
      GFA_SERVICE_HOST: '10.0.0.7',
      PORTAL_SERVICE_HOST: '10.0.0.1',
      PORTAL_SERVICE_PORT: '443',
      PORTAL_SERVICE_PORT_HTTPS: '443',
      PORTAL_PORT: 'tcp://10.0.0.1:443',
      PORTAL_PORT_443_TCP: 'tcp://10.0.0.1:443',
      PORTAL_PORT_443_TCP_ADDR: '10.0.0.1',
      PORTAL_PORT_443_TCP_PORT: '443',
      PORTAL_PORT_443_TCP_PROTO: 'tcp',
      PORTAL_PORT_53_UDP: 'udp://10.0.0.1:53',
      PORTAL_WEB_SERVICE_HOST: '10.0.0.2',
      PORTAL_WEB_PORT_80_TCP_ADDR: '10.0.0.2',
    };
    expect(faultsOf({ ...gfaOnly, ...links })).toEqual([]);
    expect(faultsOf({ ...gfaOnly, PORTAL_PORTS: '1' })).toHaveLength(1);
  });
});

describe('.env in the working directory', () => {
  const dotenv = '# ours\nGFA_URL=https://from-file.example.com/v1\nGFA_TOKEN="a#b"\nGFA_INTERVAL=2m\n';

  test('is read, and the environment goes before it', () => {
    const { gfa } = configOf({ GFA_INTERVAL: '3m' }, { '.env': `\uFEFF${dotenv}` });
    expect(gfa).toMatchObject({ url: 'https://from-file.example.com/v1', intervalMs: 180_000 });
    expect(gfa?.token.reveal()).toBe('a#b');
  });

  test('counts where the environment has only an empty text', () => {
    expect(configOf({ GFA_INTERVAL: '' }, { '.env': dotenv }).gfa?.intervalMs).toBe(120_000);
  });

  test('is checked like the environment', () => {
    expect(faultsOf(gfaOnly, { '.env': 'GFA_INTERVALL=1m\nSTALE_AFTER=0\n' })).toEqual([
      'STALE_AFTER: "0" is below 1; expected a whole number of at least 1',
      'GFA_INTERVALL: unknown variable; did you mean GFA_INTERVAL?',
    ]);
  });

  test('may be missing, but not unreadable', () => {
    const load = (error: Error) => () =>
      loadConfig({
        environment: gfaOnly,
        services,
        readFile: () => {
          throw error;
        },
      });
    expect(load(systemError('ENOENT'))).not.toThrow();
    expect(load(systemError('EACCES'))).toThrow(new ConfigError(['.env: cannot be read (EACCES)']));
    expect(load(new Error('odd'))).toThrow(new ConfigError(['.env: cannot be read (unknown reason)']));
  });
});

describe('proxies', () => {
  test('the usual variables are taken, those in lower case first', () => {
    const { proxy } = configOf({
      ...gfaOnly,
      HTTP_PROXY: 'http://upper:1',
      http_proxy: 'http://lower:2',
      HTTPS_PROXY: 'me:proxy-canary@proxy.example.com:3128',
      NO_PROXY: 'localhost, .internal\nfilers',
    }).requests;
    expect(proxy?.httpProxy).toEqual({ url: 'http://lower:2', authorization: undefined, shown: 'http://lower:2' });
    expect(proxy?.httpsProxy?.url).toBe('http://proxy.example.com:3128');
    expect(proxy?.httpsProxy?.shown).toBe('http://[redacted]@proxy.example.com:3128');
    expect(proxy?.noProxy).toBe('localhost,.internal,filers');
  });

  test.each([
    ['me:secret', 'me:secret'],
    ['me:se%20cret%25', 'me:se cret%'],
    ['TOKEN', 'TOKEN:'],
    ['TOKEN:', 'TOKEN:'],
    [':secret', ':secret'],
    ['m%C3%BC:p@ss', 'mü:p@ss'],
    ['mü:"', 'mü:"'],
  ])('what stands before the @, %j, lets in as a name and a password: %j', (userinfo, credentials) => {
    const { proxy } = configOf({ ...gfaOnly, HTTP_PROXY: `http://${userinfo}@proxy:3128` }).requests;
    const [scheme, encoded = ''] = proxy?.httpProxy?.authorization?.reveal().split(' ') ?? [];
    expect([scheme, Buffer.from(encoded, 'base64').toString()]).toEqual(['Basic', credentials]);
    expect(proxy?.httpProxy).toMatchObject({ url: 'http://proxy:3128', shown: 'http://[redacted]@proxy:3128' });
  });

  test.each(['me:50%off', 'me%:x', 'me:100%', 'me:%FF', '%zz'])(
    'a percent sign in %j that encodes nothing is a fault, and the line says how it is written',
    (userinfo) => {
      expect(faultsOf({ ...gfaOnly, HTTPS_PROXY: `http://${userinfo}@proxy:3128` })).toEqual([
        'HTTPS_PROXY: the value has a % in its user name or password that does not start an encoded character; write % as %25',
      ]);
    },
  );

  test('of the environment go before those of .env, whichever case either is in', () => {
    const proxyOf = (environment: Readonly<Record<string, string>>, dotenv: string) =>
      configOf({ ...gfaOnly, ...environment }, { '.env': dotenv }).requests.proxy;
    const upper = { HTTPS_PROXY: 'http://process:1', NO_PROXY: 'process' };
    const lower = { https_proxy: 'http://process:1', no_proxy: 'process' };
    for (const environment of [upper, lower]) {
      for (const dotenv of ['https_proxy=http://file:2\nno_proxy=file', 'HTTPS_PROXY=http://file:2\nNO_PROXY=file']) {
        expect(proxyOf(environment, dotenv)).toMatchObject({
          httpsProxy: { url: 'http://process:1' },
          noProxy: 'process',
        });
      }
    }
    expect(proxyOf({ HTTPS_PROXY: '' }, 'https_proxy=http://file:2\n')?.httpsProxy?.url).toBe('http://file:2');
    expect(proxyOf({}, 'HTTPS_PROXY=http://upper:3\nhttps_proxy=http://file:2\n')?.httpsProxy?.url).toBe(
      'http://file:2',
    );
  });

  test('without one of the two there is none, whatever NO_PROXY says', () => {
    expect(configOf({ ...gfaOnly, NO_PROXY: '*', HTTP_PROXY: '' }).requests.proxy).toBeUndefined();
  });

  test.each(['socks5://proxy:1', 'http://me:proxy-canary@proxy/path', 'http://proxy?x=proxy-canary', 'a b', '%%'])(
    '%j is not one, and is not quoted, for it may hold a password',
    (text) => {
      expect(faultsOf({ ...gfaOnly, https_proxy: text })).toEqual([
        'https_proxy: the value is not a proxy; expected an http or https URL with nothing after host and port, such as http://proxy.example.com:3128',
      ]);
    },
  );
});

test('a value in a line is cut when long and cannot break the line or the terminal', () => {
  const [line = ''] = faultsOf({ ...gfaOnly, GFA_INTERVAL: `\u001b[31m\u2028\u202e${'x'.repeat(500)}` });
  expect(line).toMatch(/^GFA_INTERVAL: "\\u001b\[31m\\u\{2028\}\\u\{202e\}x+…" is not a duration; expected /);
  expect(line.length).toBeLessThan(250);
});

describe('an http URL', () => {
  const line = (name: string) =>
    `${name}: is an http URL beyond this machine; expected https, or ALLOW_INSECURE_UPSTREAM=true to send keys and tokens unencrypted`;

  test.each([
    'http://localhost:1',
    'http://127.0.0.1',
    'http://127.9.9.9:80',
    'http://[::1]:1',
    'http://[::ffff:127.0.0.1]:1',
  ])('%s leads to this machine and is fine', (origin) => {
    expect(faultsOf({ ...both, GFA_URL: `${origin}/v1`, PORTAL_URL: origin })).toEqual([]);
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
  ])('%s leads beyond it and needs ALLOW_INSECURE_UPSTREAM', (origin) => {
    const environment = { ...both, GFA_URL: `${origin}/v1`, PORTAL_URL: origin };
    expect(faultsOf(environment)).toEqual([line('GFA_URL'), line('PORTAL_URL')]);
    expect(faultsOf({ ...environment, ALLOW_INSECURE_UPSTREAM: 'true' })).toEqual([]);
  });
});

test('an authority that only .env names is a fault, for Node looks for it before .env is read', () => {
  const dotenv = { '.env': 'NODE_EXTRA_CA_CERTS=/etc/ca.pem\n' };
  expect(faultsOf(both, dotenv)).toEqual([
    'NODE_EXTRA_CA_CERTS: is set in .env, which Node does not read; set it in the environment of the process',
  ]);
  expect(faultsOf({ ...both, NODE_EXTRA_CA_CERTS: '/etc/ca.pem' }, dotenv)).toEqual([]);
  expect(faultsOf(both, { '.env': 'NODE_EXTRA_CA_CERTS=\n' })).toEqual([]);
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

test('the checking of certificates cannot be switched off', () => {
  expect(faultsOf({ ...both, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([
    'NODE_TLS_REJECT_UNAUTHORIZED: is 0; expected to be unset: certificates are always checked; add your own certificate authority with NODE_EXTRA_CA_CERTS',
  ]);
  expect(faultsOf({ ...both, NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toEqual([]);
});

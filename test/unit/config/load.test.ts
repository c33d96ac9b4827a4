import { inspect, parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { effectiveConfiguration } from '../../../src/cli/check-config.ts';
import { both, configOf, errorsOf, gfaOnly, portalOnly, type Variables } from '../../harness/load-config.ts';

const CANARY = 'canary-7f3a';
const { GFA_URL } = gfaOnly;
const { PORTAL_URL } = portalOnly;
const pair = { PORTAL_SERVICE_KEY: 'key-canary', PORTAL_SERVICE_SECRET: 'secret-canary' };
const REMOTE_WRITE_URL = 'https://receiver.example.com/write?db=filers';
const sending = { ...both, REMOTE_WRITE_URL };
const basic = { REMOTE_WRITE_USER: 'me', REMOTE_WRITE_PASSWORD: 'x' };

const files = {
  '/run/token': 'token',
  '/run/empty': '\n',
  '/run/lines': `${CANARY}\n${CANARY}\n`,
  '/run/quoted': `"${CANARY}"`,
  '/etc/ca.pem': '-----BEGIN CERTIFICATE-----\nabc\n',
  '/etc/key.pem': '-----BEGIN PRIVATE KEY-----\nabc\n',
};
const AS_ISSUED = 'expected the secret as issued, in printable ASCII characters';
const SECRET_FILE = 'expected the path of a file with the secret';
const AUTHORITIES = 'expected the path of a PEM file with certificates of authorities';

/** Combinations of variables, also with the content of `.env`, and the lines about them. */
const combinations: readonly (readonly [variables: Variables, ...lines: string[]])[] = [
  [both],
  [gfaOnly],
  [portalOnly],
  [{ GFA_URL: '' }, 'GFA_URL: is not set and neither is PORTAL_URL; expected at least one of them'],
  [{ GFA_URL }, 'GFA_TOKEN: is not set; GFA_URL needs it: set GFA_TOKEN or GFA_TOKEN_FILE'],
  [{ ...portalOnly, GFA_TOKEN: 'x' }, 'GFA_TOKEN: is set but GFA_URL is not; expected both or neither'],
  [
    { PORTAL_URL },
    'PORTAL_URL: is set without credentials; set PORTAL_SERVICE_KEY and PORTAL_SERVICE_SECRET, or PORTAL_USER_KEY',
  ],
  [{ PORTAL_URL, ...pair }],
  [
    { PORTAL_URL, PORTAL_SERVICE_KEY: 'k' },
    'PORTAL_SERVICE_SECRET: is not set; the other half of the pair needs it: set PORTAL_SERVICE_SECRET or PORTAL_SERVICE_SECRET_FILE',
  ],
  [
    { ...portalOnly, ...pair },
    'PORTAL_AUTH: is not set, but a service key and a user key are both set; set it to oauth2, service_key or user_key',
  ],
  [
    { ...portalOnly, PORTAL_AUTH: 'service_key', PORTAL_SERVICE_KEY: 'k' },
    'PORTAL_SERVICE_SECRET: is not set; PORTAL_AUTH=service_key needs it: set PORTAL_SERVICE_SECRET or PORTAL_SERVICE_SECRET_FILE',
  ],
  [
    { PORTAL_URL, PORTAL_AUTH: 'password' },
    'PORTAL_AUTH: "password" is not a known word; expected one of oauth2, service_key, user_key',
  ],
  [
    { ...both, PORTAL_LOOKBACK: '6m', PORTAL_BIN_SIZE: '1h', REMOTE_WRITE_TOKEN: 'x' },
    'PORTAL_LOOKBACK: is below PORTAL_BIN_SIZE; expected at least one whole bin',
    'REMOTE_WRITE_TOKEN: is set but REMOTE_WRITE_URL is not; expected both or neither',
  ],
  [
    { ...both, GFA_URL: 'http://gfa.example.com/v1' },
    'GFA_URL: is an http URL beyond this machine; expected https, or ALLOW_INSECURE_UPSTREAM=true to send keys and tokens unencrypted',
  ],
  [{ ...both, GFA_URL: 'http://gfa.example.com/v1', ALLOW_INSECURE_UPSTREAM: 'true' }],
  [{ ...both, GFA_URL: 'http://127.9.9.9:80/v1', PORTAL_URL: 'http://[::1]:1' }],
  [
    { ...gfaOnly, REMOTE_WRITE_URL },
    'REMOTE_WRITE_URL: is set, but nothing that is polled has a history; expected PORTAL_URL, and telemetry in PORTAL_COLLECTORS',
  ],
  [{ ...sending, ...basic, REMOTE_WRITE_HEADERS: 'X-Other=a,X-More=', REMOTE_WRITE_LABELS: 'job=x' }],
  [
    { ...sending, ...basic, REMOTE_WRITE_TOKEN: 'x', REMOTE_WRITE_HEADERS: 'X', REMOTE_WRITE_LABELS: '__y=1' },
    'REMOTE_WRITE_LABELS: "__y=1" has no label name; expected a comma-separated list of label names and values, such as job=filer-exporter,instance=filer-exporter:9989',
    'REMOTE_WRITE_TOKEN: is set and so is basic auth; expected one of them',
    'REMOTE_WRITE_HEADERS: contains no headers; expected Name=value, separated by commas',
  ],
  [
    { ...sending, REMOTE_WRITE_USER: 'me', REMOTE_WRITE_HEADERS: 'X-Other=a,host=5' },
    'REMOTE_WRITE_PASSWORD: is set without REMOTE_WRITE_USER; expected both or neither',
    'REMOTE_WRITE_HEADERS: contains Host, which the exporter sets; expected other headers',
  ],
  [
    { ...gfaOnly, HTTPS_PROXY: 'http://me:50%off@proxy:3128' },
    'HTTPS_PROXY: the value has a % in its user name or password that does not start an encoded character; write % as %25',
  ],
  [
    { ...both, NODE_TLS_REJECT_UNAUTHORIZED: '0', HTTPS_PROXY: 'socks5://me:canary@proxy:1' },
    'NODE_TLS_REJECT_UNAUTHORIZED: is 0; expected to be unset: certificates are always checked; add your own certificate authority with NODE_EXTRA_CA_CERTS',
    'HTTPS_PROXY: the value is not a proxy; expected an http or https URL with nothing after host and port, such as http://proxy.example.com:3128',
  ],
  // All at once, in the order of the documentation, and unknown variables last.
  [
    { GFA_TOKN: 'x', LOG_LEVEL: 'loud', GFA_INTERVAL: '5 minutes', PORTAL_SERIES: 'load_avrage', ...both },
    'GFA_INTERVAL: "5 minutes" is not a duration; expected a Prometheus duration of at least 1s',
    'PORTAL_SERIES: "load_avrage" is not a series; did you mean load_average?',
    'LOG_LEVEL: "loud" is not a known word; expected one of trace, debug, info, warn, error, fatal, silent',
    'GFA_TOKN: unknown variable; did you mean GFA_TOKEN?',
  ],
  [{ ...both, SHARD: '1', PORTALS: 'x', PORTAL_SERVICE_PORT_HTTPS: '443', PORTAL_PORT_443_TCP: 'tcp://10.0.0.1:443' }],
  [{ GFA_URL, GFA_TOKEN_FILE: '/run/token' }],
  [{ GFA_URL, GFA_TOKEN_FILE: '/run/empty' }, `GFA_TOKEN_FILE: the value is empty; ${AS_ISSUED}`],
  [{ GFA_URL, GFA_TOKEN_FILE: '/run/lines' }, `GFA_TOKEN_FILE: the value contains a line break; ${AS_ISSUED}`],
  [{ GFA_URL, GFA_TOKEN_FILE: '/run/quoted' }, `GFA_TOKEN_FILE: the value is in quotes; ${AS_ISSUED}`],
  [{ ...gfaOnly, GFA_TOKEN_FILE: '/run/token' }, 'GFA_TOKEN: is set and so is GFA_TOKEN_FILE; expected one of them'],
  [
    { GFA_URL, GFA_TOKEN_FILE: '/run/missing' },
    `GFA_TOKEN_FILE: "/run/missing" cannot be read (ENOENT); ${SECRET_FILE}`,
  ],
  // What is no path may be the secret.
  [{ GFA_URL, GFA_TOKEN_FILE: CANARY }, `GFA_TOKEN_FILE: the file cannot be read (ENOENT); ${SECRET_FILE}`],
  [{ ...both, NODE_EXTRA_CA_CERTS: '/etc/ca.pem' }],
  [
    { ...both, NODE_EXTRA_CA_CERTS: '/etc/key.pem' },
    `NODE_EXTRA_CA_CERTS: "/etc/key.pem" contains no certificate in PEM; ${AUTHORITIES}`,
  ],
  [
    { ...both, NODE_EXTRA_CA_CERTS: '/etc/nowhere' },
    `NODE_EXTRA_CA_CERTS: "/etc/nowhere" cannot be read (ENOENT); ${AUTHORITIES}`,
  ],
  [
    { ...both, '.env': 'NODE_EXTRA_CA_CERTS=/etc/ca.pem\n' },
    'NODE_EXTRA_CA_CERTS: is set in .env, which Node does not read; set it in the environment of the process',
  ],
  [
    { GFA_URL, '.env': 'GFA_TOKEN=abc#def\nexport STALE_AFTER=4 # ok\n' },
    '.env: GFA_TOKEN has a # in a value without quotes, which cuts the value; expected it in quotes',
  ],
];

test.each(combinations.map(([variables, ...lines]) => ({ variables, lines })))(
  '$variables has these errors: $lines',
  async ({ variables: { '.env': dotenv, ...environment }, lines }) => {
    expect(await errorsOf(environment, dotenv === undefined ? files : { ...files, '.env': dotenv })).toEqual(lines);
  },
);

test('a series has PORTAL_INTERVAL or its own, all leaves out the costly one, and without telemetry there is none', async () => {
  const intervalsOf = async (variables: Variables) => {
    const { portal } = await configOf({ ...portalOnly, PORTAL_INTERVAL: '2m', ...variables });
    return Object.fromEntries(portal?.series.map(({ name, intervalMs }) => [name, intervalMs]) ?? []);
  };
  const chosen = await intervalsOf({ PORTAL_SERIES: 'load_average,cpu_utilization=1h' });
  expect(chosen).toEqual({ load_average: 120_000, cpu_utilization: 3_600_000 });
  const usual = await intervalsOf({});
  expect(Object.keys(usual)).toHaveLength(15);
  expect(await intervalsOf({ PORTAL_SERIES: '-cpu_utilization' })).toEqual({ ...usual, cpu_utilization: undefined });
  const all = await intervalsOf({ PORTAL_SERIES: 'all' });
  expect(all).not.toHaveProperty('appliance_health_score');
  const withCostly = await intervalsOf({ PORTAL_SERIES: 'all,appliance_health_score' });
  expect(withCostly).toEqual({ ...all, appliance_health_score: 1_800_000 });
  expect(await intervalsOf({ PORTAL_COLLECTORS: 'volumes=10m' })).toEqual({});
});

test('.env is read, and the environment overrides it unless its value is empty', async () => {
  const dotenv = `\uFEFFGFA_URL=${GFA_URL}\nGFA_TOKEN="a#b"\nGFA_INTERVAL=2m # two\nSTALE_AFTER=4\n`;
  const config = await configOf({ GFA_INTERVAL: '3m', STALE_AFTER: '' }, { '.env': dotenv });
  expect([config.gfa?.intervalMs, config.gfa?.token.reveal(), config.staleAfter]).toEqual([180_000, 'a#b', 4]);
  expect(config.ownFiles).toEqual([{ path: '.env', isSecret: true }]);
});

test('the name of a proxy in lower case overrides, and its user name and password are apart', async () => {
  const proxyOf = async (variables: Variables) => (await configOf({ ...gfaOnly, ...variables })).requests.proxy;
  const proxy = await proxyOf({ HTTP_PROXY: 'http://upper:1', http_proxy: 'me:se%20cret@lower:2', NO_PROXY: 'a, b' });
  expect(proxy?.httpProxy).toMatchObject({ url: 'http://lower:2' });
  expect(proxy?.httpProxy?.authorization?.reveal()).toBe(`Basic ${Buffer.from('me:se cret').toString('base64')}`);
  expect(proxy?.noProxy).toBe('a,b');
  expect(await proxyOf({ NO_PROXY: '*', HTTP_PROXY: '' })).toBeUndefined();
});

test('a secret in a file is read without its line ends, and after a rotation; an incomplete file changes nothing', async () => {
  const rotated: Record<string, string> = { '/run/token': 'old\r\n\n', '.env': 'STALE_AFTER=4\n' };
  const { gfa, ownFiles } = await configOf({ GFA_URL, GFA_TOKEN_FILE: '/run/token' }, rotated);
  for (const content of ['', 'two\nlines\n', '"new"']) {
    rotated['/run/token'] = content;
    expect(await gfa?.token.reload()).toBe(false);
  }
  expect(gfa?.token.reveal()).toBe('old');
  rotated['/run/token'] = 'new\n';
  expect(await gfa?.token.reload()).toBe(true);
  expect(gfa?.token.reveal()).toBe('new');
  expect(ownFiles).toEqual([
    { path: '/run/token', isSecret: true },
    { path: '.env', isSecret: false },
  ]);
});

test('the effective configuration masks secrets, and is a valid .env that gives the same configuration', async () => {
  const variables = {
    ...both,
    PORTAL_SERIES: 'all=20s,cpu_utilization=1h30m',
    PORTAL_COLLECTORS: 'telemetry,notifications=1m30s',
    STATE_FILE: '/var/a b#c.json',
    GFA_CLIENT_KEY: 'it\'s "#1"',
    EVENT_BUCKETS: '0.5,1.0005,10s',
    HTTPS_PROXY: 'http://me:proxy-canary@proxy:3128',
  };
  const config = await configOf(variables);
  const text = effectiveConfiguration(config);
  const shown = [text, JSON.stringify(config), inspect(config, { depth: 20, showHidden: true })];
  expect(shown.join()).not.toContain('canary');
  expect(text).toContain('\nHTTPS_PROXY=http://[redacted]@proxy:3128\n');
  const secrets = { GFA_TOKEN: both.GFA_TOKEN, PORTAL_USER_KEY: both.PORTAL_USER_KEY };
  const again = await configOf({ ...parseEnv(text), ...secrets, HTTPS_PROXY: variables.HTTPS_PROXY });
  expect(again).toEqual(config);
  expect(again.stateFile).toBe(variables.STATE_FILE);
});

import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/runtime/errors.ts';
import { loadConfig } from '../support/load-config.ts';
import { both, configOf, errorsOf, gfaOnly, services, systemError } from './surroundings.ts';

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
    expect(errorsOf({ ...gfaOnly, [name]: 'canary' })).toEqual([`${name}: unknown variable; did you mean ${meant}?`]);
  });

  test.each([
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['STATEFILE', 'STATE_FILE'],
    ['LISTENADDRESS', 'LISTEN_ADDRESS'],
    ['PORT_INTERVAL', 'PORTAL_INTERVAL'],
  ])('%s has no effect, and a warning names %s', (name, meant) => {
    const { warnings } = configOf({ ...gfaOnly, [name]: 'x', HOSTNAME: 'host', LOGNAME: 'me', SHELL: '/bin/sh' });
    expect(warnings).toEqual([`${name}: is no variable of the exporter; did you mean ${meant}?`]);
  });

  test('a name that would break the line is shown in quotes', () => {
    expect(errorsOf({ ...gfaOnly, 'GFA_\nURL': 'x' })).toEqual([
      '"GFA_\\nURL": unknown variable; did you mean GFA_URL?',
    ]);
  });

  test('one that is empty, or has another prefix, is none of our business', () => {
    expect(errorsOf({ ...gfaOnly, GFA_TOKN: '', MY_GFA_TOKN: 'x', PORTALS: 'x', gfa_token: 'x' })).toEqual([]);
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
    expect(errorsOf({ ...gfaOnly, ...links })).toEqual([]);
    expect(errorsOf({ ...gfaOnly, PORTAL_PORTS: '1' })).toHaveLength(1);
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
    expect(errorsOf(gfaOnly, { '.env': 'GFA_INTERVALL=1m\nSTALE_AFTER=0\n' })).toEqual([
      'STALE_AFTER: "0" is below 1; expected a whole number of at least 1, such as 3',
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
      expect(errorsOf({ ...gfaOnly, HTTPS_PROXY: `http://${userinfo}@proxy:3128` })).toEqual([
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
      expect(errorsOf({ ...gfaOnly, https_proxy: text })).toEqual([
        'https_proxy: the value is not a proxy; expected an http or https URL with nothing after host and port, such as http://proxy.example.com:3128',
      ]);
    },
  );
});

test('a value in a line is cut when long and cannot break the line or the terminal', () => {
  const [line = ''] = errorsOf({ ...gfaOnly, GFA_INTERVAL: `\u001b[31m\u2028\u202e${'x'.repeat(500)}` });
  expect(line).toMatch(/^GFA_INTERVAL: "\\u001b\[31m\\u\{2028\}\\u\{202e\}x+…" is not a duration; expected /);
  expect(line.length).toBeLessThan(250);
});

test('[late-authority] an authority that only .env names is a fault, for Node looks for it before .env is read', () => {
  const dotenv = { '.env': 'NODE_EXTRA_CA_CERTS=/etc/ca.pem\n' };
  expect(errorsOf(both, dotenv)).toEqual([
    'NODE_EXTRA_CA_CERTS: is set in .env, which Node does not read; set it in the environment of the process',
  ]);
  expect(errorsOf({ ...both, NODE_EXTRA_CA_CERTS: '/etc/ca.pem' }, dotenv)).toEqual([]);
  expect(errorsOf(both, { '.env': 'NODE_EXTRA_CA_CERTS=\n' })).toEqual([]);
});

test('[certificates] the checking of certificates cannot be switched off', () => {
  expect(errorsOf({ ...both, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([
    'NODE_TLS_REJECT_UNAUTHORIZED: is 0; expected to be unset: certificates are always checked; add your own certificate authority with NODE_EXTRA_CA_CERTS',
  ]);
  expect(errorsOf({ ...both, NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toEqual([]);
});

import { describe, expect, test } from 'vitest';
import type { ProxyConfig } from '../../src/config/config.ts';
import { proxyFor } from '../../src/config/no-proxy.ts';
import fc from '../support/fast-check.ts';
import { configOf, type Environment, gfaOnly } from './surroundings.ts';

function proxyOf(environment: Environment): ProxyConfig | undefined {
  return configOf({ ...gfaOnly, ...environment }).requests.proxy;
}

/** Whether a URL is reached without the proxy that is configured for everything. */
function isDirect(url: string, noProxy: string): boolean {
  const proxy = proxyOf({ HTTP_PROXY: 'http://plain:1', HTTPS_PROXY: 'http://secure:2', NO_PROXY: noProxy });
  expect(proxy).toBeDefined();
  return proxyFor(url, proxy) === undefined;
}

describe('NO_PROXY', () => {
  test.each<readonly [noProxy: string, direct: readonly string[], proxied: readonly string[]]>([
    ['', [], ['https://api.example.com/v1', 'http://10.0.0.1']],
    [
      'example.com',
      ['https://example.com/v1', 'https://api.example.com', 'https://a.b.example.com:8443', 'http://EXAMPLE.com'],
      ['https://myexample.com', 'https://example.com.evil.net', 'https://com'],
    ],
    ['.example.com', ['https://api.example.com', 'https://a.b.example.com'], ['https://example.com']],
    ['*.example.com', ['https://api.example.com', 'https://a.b.example.com'], ['https://example.com']],
    ['*', ['https://api.example.com', 'http://10.0.0.1', 'https://[2001:db8::1]'], []],
    ['other.net,*', ['https://api.example.com', 'http://10.0.0.1'], []],
    ['*example.com', [], ['https://api.example.com', 'https://example.com']],
    ['EXAMPLE.Com', ['https://api.example.com'], []],
    ['example.com.', ['https://example.com', 'https://api.example.com.'], ['https://example.net.']],
    ['example.com', ['https://example.com.', 'https://api.example.com.:8443'], ['https://com.']],
    ['bücher.example', ['https://bücher.example', 'https://api.xn--bcher-kva.example'], ['https://xn--bcher.example']],
    [
      'other.net, example.com\t10.0.0.1\nlast.org',
      ['https://example.com', 'http://10.0.0.1', 'https://a.last.org', 'https://other.net'],
      ['https://example.org'],
    ],
    [
      'example.com:8443',
      ['https://example.com:8443', 'https://api.example.com:8443'],
      ['https://example.com', 'https://example.com:443', 'https://example.com:84'],
    ],
    ['example.com:443', ['https://example.com', 'https://api.example.com:443'], ['http://example.com']],
    ['.example.com:80', ['http://api.example.com'], ['http://example.com', 'https://api.example.com']],
    ['10.0.0.1', ['http://10.0.0.1', 'https://10.0.0.1:8443'], ['http://10.0.0.10', 'https://10.0.0.2']],
    ['10.0.0.1:8080', ['http://10.0.0.1:8080'], ['http://10.0.0.1', 'https://10.0.0.1']],
    ['0.1', [], ['http://10.0.0.1']],
    ['2001:db8::1', ['https://[2001:db8::1]', 'https://[2001:DB8:0:0::1]:8443'], ['https://[2001:db8::2]']],
    ['[2001:db8::1]', ['https://[2001:db8::1]', 'https://[2001:db8::1]:8443'], ['https://[2001:db8::2]']],
    ['[2001:db8::1]:8443', ['https://[2001:db8::1]:8443'], ['https://[2001:db8::1]', 'https://[2001:db8::2]:8443']],
    ['2001:DB8:0::1', ['https://[2001:db8::1]'], []],
    [
      '10.0.0.0/8',
      ['http://10.1.2.3', 'https://10.255.255.255:8443', 'https://[::ffff:10.1.2.3]'],
      ['http://11.0.0.1', 'https://api.example.com', 'https://[a01:203::]', 'https://10.example.com'],
    ],
    ['192.168.7.0/25', ['http://192.168.7.127'], ['http://192.168.7.128']],
    ['10.0.0.7/32', ['http://10.0.0.7'], ['http://10.0.0.6']],
    ['0.0.0.0/0', ['http://10.0.0.1', 'http://192.0.2.1'], ['https://example.com', 'https://[2001:db8::1]']],
    ['fd00::/8', ['https://[fd12:3456::1]', 'https://[FDFF::]:8443'], ['https://[fe00::1]', 'http://10.0.0.1']],
    ['::/0', ['https://[2001:db8::1]'], ['http://10.0.0.1', 'https://[::ffff:10.1.2.3]', 'https://example.com']],
    ['::ffff:10.0.0.0/104', ['http://10.0.0.1', 'https://[::ffff:10.1.2.3]'], ['http://11.0.0.1']],
    ['example.com:', ['https://example.com', 'https://api.example.com:8443'], ['https://example.net']],
    ['10.0.0.1:,[2001:db8::1]:', ['http://10.0.0.1', 'https://[2001:db8::1]:8443'], ['http://10.0.0.2']],
    ['2001:db8::/33', ['https://[2001:db8:7fff::1]'], ['https://[2001:db8:8000::1]']],
    ['10.0.0.0/33,2001:db8::/129,10.0.0/8,x/8,/8,:80,.,*.,[],::1%lo', [], ['http://10.0.0.1', 'https://[2001:db8::]']],
    ['http://example.com', [], ['https://example.com', 'http://example.com']],
    ['ample.com', [], ['http://example.com']],
    ['示例.com', ['http://www.xn--fsq092h.com'], ['http://xn--fsq092h.com.example.net']],
  ])('%j exempts %j and not %j', (noProxy, direct, proxied) => {
    expect([...direct, ...proxied].filter((url) => isDirect(url, noProxy))).toEqual(direct);
  });

  test('counts in lower case before it does in upper case', () => {
    const both = { HTTPS_PROXY: 'http://proxy:1', no_proxy: 'lower.net', NO_PROXY: 'upper.net' };
    expect(proxyFor('https://lower.net', proxyOf(both))).toBeUndefined();
    expect(proxyFor('https://upper.net', proxyOf(both))).toBeDefined();
  });

  test('may be anything at all: what means nothing exempts nothing', () => {
    const entry = fc.oneof(fc.string({ unit: 'binary' }), fc.ipV4Extended(), fc.ipV6(), fc.domain());
    const text = fc
      .tuple(entry, fc.constantFrom('', '/8', '/999', ':80', '%eth0', '.', ']'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        text,
        fc.constantFrom('https://api.example.com', 'http://10.0.0.1', 'https://[2001:db8::1]'),
        (noProxy, url) => {
          const proxy = { url: 'http://proxy', authorization: undefined, shown: 'http://proxy' };
          expect([undefined, proxy]).toContain(proxyFor(url, { httpProxy: proxy, httpsProxy: undefined, noProxy }));
        },
      ),
    );
  });
});

describe('[no-proxy] the proxy of a service', () => {
  const shown = (url: string, environment: Environment) => proxyFor(url, proxyOf(environment))?.shown;
  const two = { HTTP_PROXY: 'http://plain:1', HTTPS_PROXY: 'http://secure:2' };

  test('is the one for its scheme, and for https the other one where there is only that', () => {
    expect(shown('https://api.example.com', two)).toBe('http://secure:2');
    expect(shown('http://api.example.com', two)).toBe('http://plain:1');
    expect(shown('https://api.example.com', { HTTP_PROXY: 'http://plain:1' })).toBe('http://plain:1');
    expect(shown('http://api.example.com', { HTTPS_PROXY: 'http://secure:2' })).toBeUndefined();
    expect(shown('https://api.example.com', {})).toBeUndefined();
  });

  test('is none for what is on this machine: nothing that may be in the clear leaves it', () => {
    expect(shown('http://localhost:8080/v1', two)).toBeUndefined();
    expect(shown('http://localhost.example.com', two)).toBe('http://plain:1');
  });
});

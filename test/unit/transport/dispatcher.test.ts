import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import net, { connect, type Socket } from 'node:net';
import tls from 'node:tls';
import { Dispatcher } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ProxyConfig } from '../../../src/config/config.ts';
import { proxyFor } from '../../../src/config/proxy.ts';
import { Secret } from '../../../src/runtime/secret.ts';
import { describeConnectionError, describeTlsError } from '../../../src/transport/connection-errors.ts';
import { createDispatcher, type HttpProxy } from '../../../src/transport/dispatcher.ts';
import { certificateText } from '../../harness/certificates.ts';
import { clientOf, listing, portOf, running } from './served.ts';

const pair = (name: string) => ({ cert: certificateText(`${name}.crt`), key: certificateText(`${name}.key`) });

/** A client of a service that is reached through this proxy. */
function behind(proxy: Partial<HttpProxy> & Pick<HttpProxy, 'url'>, service = 'https://portal.invalid') {
  const whole = { authorization: undefined, noProxy: '', timeoutMs: 30_000, ...proxy };
  return clientOf(service, createDispatcher(whole));
}

/** A proxy that opens tunnels to this port, or returns this status line. `seen` lists what it was asked for. */
async function proxyOf(tunnel: number | string, proxy = createServer()) {
  const seen: string[] = [];
  proxy.on('request', ({ method, url }, response) => {
    seen.push(`${method} ${url}`);
    response.end('["forwarded"]');
  });
  proxy.on('connect', ({ url, headers }, socket: Socket) => {
    seen.push(`CONNECT ${url} ${headers['proxy-authorization']}`);
    if (typeof tunnel === 'string') return void socket.end(`HTTP/1.1 ${tunnel}\r\n\r\n`);
    const onward = connect(tunnel, '127.0.0.1').on('error', () => {});
    socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\n\r\n');
    socket
      .pipe(onward)
      .pipe(socket)
      .on('close', () => onward.destroy());
  });
  return { port: await portOf(proxy), seen };
}

test('a proxy opens a tunnel to an https service, with its credentials', async () => {
  const service = await portOf(createSecureServer(pair('server'), (_, response) => void response.end('["secure"]')));
  // As if NODE_EXTRA_CA_CERTS named the authority.
  const { connect: connectTls } = tls;
  const trusting = (options: tls.ConnectionOptions) => connectTls({ ...options, ca: certificateText('authority.crt') });
  vi.spyOn(tls, 'connect').mockImplementation(trusting as typeof tls.connect);
  onTestFinished(() => void vi.restoreAllMocks());
  const { port, seen } = await proxyOf(service);
  const proxy = { url: `http://127.0.0.1:${port}`, authorization: new Secret('Basic VE9LRU46') };
  const { client } = await behind(proxy, `https://localhost:${service}`);
  expect(await client.send(listing, running)).toEqual(['secure']);
  expect(seen).toEqual([`CONNECT localhost:${service} Basic VE9LRU46`]);
});

test.each(['proxy', 'service'])('a bad certificate of the %s is told from one of the other', async (party) => {
  const service = await portOf(createSecureServer(pair('stranger')));
  const proxy = await proxyOf(service, party === 'proxy' ? createSecureServer(pair('stranger')) : createServer());
  const url = party === 'proxy' ? `https://localhost:${proxy.port}` : `http://localhost:${proxy.port}`;
  const { failure } = await behind({ url }, `https://localhost:${service}`);
  const message = expect.stringContaining(`the ${party}'s certificate is self-signed`);
  expect(await failure()).toMatchObject({ message, problem: 'authority' });
});

test('a proxy and every service have three seconds for each of their addresses, and then only the time limit of the request', async () => {
  const requesting = vi.spyOn(Dispatcher.prototype, 'request');
  const connecting = [vi.spyOn(net, 'connect'), vi.spyOn(tls, 'connect')];
  onTestFinished(() => void vi.restoreAllMocks());
  await (await clientOf('http://127.0.0.1:1')).failure();
  await (await clientOf('https://localhost:1')).failure();
  await (await behind({ url: 'http://127.0.0.1:1' })).failure();
  await (await behind({ url: 'https://localhost:1' })).failure();
  await (await behind({ url: 'http://127.0.0.1:1' }, 'http://portal.invalid')).failure();
  const options = connecting.flatMap(({ mock }) => mock.calls.map(([given]) => given));
  expect(options).toHaveLength(5);
  for (const given of options)
    expect(given).toMatchObject({ autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 3_000 });
  expect(requesting.mock.calls[0]?.[0]).toMatchObject({ headersTimeout: 0, bodyTimeout: 0 });
});

test('a proxy that opens no tunnel, or that is down, is named', async () => {
  const closed = await proxyOf('407 Who are you');
  const rejection = await (await behind({ url: `http://127.0.0.1:${closed.port}` })).failure();
  const message = 'GET /serials got no response: the proxy returned 407';
  expect(rejection).toMatchObject({ message, problem: 'proxy_credentials' });
  const refusal = await (await behind({ url: 'http://127.0.0.1:1' })).failure();
  const refused = expect.stringContaining('(ECONNREFUSED at 127.0.0.1:1)');
  expect(refusal).toMatchObject({ message: refused, problem: 'proxy' });
});

test('a proxy is used for its scheme, and never for this machine', () => {
  const proxy = (url: string) => ({ url, authorization: undefined });
  const both = { httpProxy: proxy('http://plain:1'), httpsProxy: proxy('http://secure:2'), noProxy: 'x.net' };
  const used = (url: string, given: ProxyConfig) =>
    proxyFor(url, { proxy: given, timeoutMs: 1, maxResponseBytes: 1, allowInsecure: false });
  expect(used('https://api.example.com', both)).toMatchObject({ url: 'http://secure:2', noProxy: 'x.net' });
  expect(used('https://api.example.com', { ...both, httpsProxy: undefined })?.url).toBe('http://plain:1');
  expect(used('http://api.example.com', { ...both, httpProxy: undefined })).toBeUndefined();
  expect(used('http://localhost:8080/v1', both)).toBeUndefined();
});

test.each([
  ['direct', ['127.0.0.1', 'other.net 127.0.0.1', '127.0.0.1:PORT', '.0.0.1', '*.0.0.1', '0.0.1', '*']],
  ['forwarded', ['', '27.0.0.1', '127.0.0.1:1', '127.0.0.0/8', 'other.net,*']],
])('[no-proxy] requests to 127.0.0.1 are %s with NO_PROXY %j', async (way, values) => {
  const service = await portOf(createServer((_, response) => void response.end('["direct"]')));
  const { port } = await proxyOf('500');
  for (const value of values) {
    const proxy = { url: `http://127.0.0.1:${port}`, noProxy: value.replace('PORT', String(service)) };
    const { client } = await behind(proxy, `http://127.0.0.1:${service}`);
    expect(await client.send(listing, running), value).toEqual([way]);
  }
});

test('an error of a connection names each address, or the host, with its own error', () => {
  const coded = (code: string, more: object, message = code) => Object.assign(new Error(message), { code, ...more });
  const late = 'Connect Timeout Error (attempted address: 192.0.2.1:443, timeout: 10000ms)';
  const refused = coded('ECONNREFUSED', { address: '192.0.2.1', port: 443 });
  const unreachable = coded('ENETUNREACH', { address: '::2', port: 443 });
  const both = Object.assign(new AggregateError([refused, unreachable]), { code: 'ECONNREFUSED' });
  const connecting = [both, coded('UND_ERR_CONNECT_TIMEOUT', {}, late)];
  const lookups = ['ENOTFOUND', 'EAI_AGAIN'].map((code) => coded(code, { hostname: 'a.test' }));
  expect([...connecting, ...lookups].map((cause) => describeConnectionError(cause).text)).toEqual([
    'ECONNREFUSED at 192.0.2.1:443, ENETUNREACH at [::2]:443',
    'UND_ERR_CONNECT_TIMEOUT (attempted address: 192.0.2.1:443, timeout: 10000ms)',
    'the host name a.test is not known to the name server (ENOTFOUND)',
    'the host name a.test cannot be looked up (EAI_AGAIN)',
  ]);
  expect(describeTlsError('CERT_REVOKED', 'service')?.problem).toBe('certificate');
  for (const code of ['ECONNREFUSED', 'constructor']) expect(describeTlsError(code, 'service')).toBeUndefined();
});

import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import net, { connect, type Socket } from 'node:net';
import tls from 'node:tls';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
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
  return clientOf(service, createDispatcher(whole, { ca: certificateText('authority.crt') }));
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

describe('a proxy', () => {
  test('opens a tunnel to an https service, with its credentials', async () => {
    const service = await portOf(createSecureServer(pair('server'), (_, response) => void response.end('["secure"]')));
    const { port, seen } = await proxyOf(service);
    const proxy = { url: `http://127.0.0.1:${port}`, authorization: Secret.of('Basic VE9LRU46') };
    const { client } = await behind(proxy, `https://localhost:${service}`);
    expect(await client.send(listing, running)).toEqual(['secure']);
    expect(seen).toEqual([`CONNECT localhost:${service} Basic VE9LRU46`]);
  });

  test('with an https URL is connected to with TLS, and its certificate is checked', async () => {
    const { port } = await proxyOf('500', createSecureServer(pair('stranger')));
    const { message, problem } = await (await behind({ url: `https://localhost:${port}` })).failure();
    expect([message, problem]).toEqual([
      expect.stringContaining("the proxy's certificate is self-signed"),
      'authority',
    ]);
  });

  test('is not blamed for the certificate of the service behind it', async () => {
    const service = await portOf(createSecureServer(pair('stranger')));
    const { port } = await proxyOf(service);
    const { message } = await (
      await behind({ url: `http://127.0.0.1:${port}` }, `https://localhost:${service}`)
    ).failure();
    expect(message).toContain("the service's certificate is self-signed");
  });

  test('and every service are given three seconds for each of their addresses', async () => {
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
  });

  test('forwards a request to an http service', async () => {
    const { port, seen } = await proxyOf('500');
    const { client } = await behind({ url: `http://127.0.0.1:${port}` }, 'http://portal.invalid');
    expect(await client.send(listing, running)).toEqual(['forwarded']);
    expect(seen).toEqual(['GET http://portal.invalid/serials']);
  });

  test.each([
    ['407 Who are you', 'the proxy returned 407', 'proxy_credentials'],
    ['502 No', 'the proxy returned 502', 'proxy'],
  ])('that returns %s is named', async (status, text, problem) => {
    const { port } = await proxyOf(status);
    const { failure } = await behind({ url: `http://127.0.0.1:${port}` });
    expect(await failure()).toMatchObject({ message: `GET /serials got no response: ${text}`, problem });
  });

  test('that is down is named with its address', async () => {
    const { message, problem } = await (await behind({ url: 'http://127.0.0.1:1' })).failure();
    expect(message).toContain('the proxy cannot be reached (ECONNREFUSED at 127.0.0.1:1)');
    expect(problem).toBe('proxy');
  });

  test('is used for its scheme, and never for this machine', () => {
    const proxy = (url: string) => ({ url, authorization: undefined, shown: url });
    const both = { httpProxy: proxy('http://plain:1'), httpsProxy: proxy('http://secure:2'), noProxy: 'x.net' };
    expect(proxyFor('https://api.example.com', both)).toMatchObject({ url: 'http://secure:2', noProxy: 'x.net' });
    expect(proxyFor('https://api.example.com', { ...both, httpsProxy: undefined })?.url).toBe('http://plain:1');
    expect(proxyFor('http://api.example.com', { ...both, httpProxy: undefined })).toBeUndefined();
    expect(proxyFor('http://localhost:8080/v1', both)).toBeUndefined();
  });
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

describe('an error of a connection', () => {
  const coded = (code: string, more: object = {}, message = code) =>
    Object.assign(new Error(message), { code, ...more });
  const late = 'Connect Timeout Error (attempted address: 192.0.2.1:443, timeout: 10000ms)';
  const tried = [
    coded('ETIMEDOUT', { address: '192.0.2.1', port: 443 }),
    coded('ENETUNREACH', { address: '::2', port: 443 }),
  ];

  test.each([
    [tried[0], 'ETIMEDOUT at 192.0.2.1:443'],
    [
      Object.assign(new AggregateError(tried), { code: 'ETIMEDOUT' }),
      'ETIMEDOUT at 192.0.2.1:443, ENETUNREACH at [::2]:443',
    ],
    [coded('UND_ERR_CONNECT_TIMEOUT', {}, late), `UND_ERR_CONNECT_TIMEOUT ${late.slice(22)}`],
    [coded('ENOTFOUND', { hostname: 'a.test' }), 'the host name a.test is not known to the name server (ENOTFOUND)'],
    [coded('EAI_AGAIN', { hostname: 'a.test' }), 'the host name a.test cannot be looked up (EAI_AGAIN)'],
  ])('names each address, or the host, with its own error', (cause: Error | undefined, text) => {
    expect(describeConnectionError(cause ?? new Error()).text).toBe(text);
  });

  test('is one of TLS only if its code is', () => {
    for (const code of ['ECONNREFUSED', 'constructor', '']) expect(describeTlsError(code, 'service')).toBeUndefined();
    expect(describeTlsError('CERT_REVOKED', 'service')?.problem).toBe('certificate');
  });
});

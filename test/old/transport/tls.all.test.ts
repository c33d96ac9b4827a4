// Only here: certificates that a real process is shown, by a service and by a proxy.
import { createServer as createPlainServer, type Server as PlainServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import { connect, type Socket } from 'node:net';
import { request } from 'undici';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createDispatcher } from '../../src/transport/dispatcher.ts';
import { servedPort } from '../support/listening.ts';
import { run, temporaryDirectory } from '../support/program.ts';
import { portalEnvironment } from '../support/real-services.ts';
import { hasTlsClients, makePair, type Pair, type Wanted } from '../web/certificates.ts';

/** An authority, and a certificate for this machine that it has signed, or itself. */
function made({ isSigned = true, ...wanted }: Wanted & { readonly isSigned?: boolean } = {}) {
  const folder = temporaryDirectory();
  const authority = makePair(folder, 'authority', { authority: true });
  const names = { names: 'DNS:localhost,IP:127.0.0.1', ...wanted };
  return { authority: authority.cert, pair: makePair(folder, 'end', isSigned ? { ...names, by: authority } : names) };
}

/** A portal, and its environment where it is behind TLS with this certificate. */
async function behindTls(pair?: Pair) {
  const mocks = await startMockServices({ clock: systemClock, appliances: 1, volumes: 1 });
  onTestFinished(() => mocks.close());
  const plain = new URL(mocks.portalUrl);
  const server = createServer({ cert: pair?.certText, key: pair?.keyText }, (asked, response) => {
    const { method = 'GET', url = '/' } = asked;
    const headers = { ...asked.headers, host: plain.host };
    void request(plain.origin + url, { method: method as 'GET', headers, body: method === 'GET' ? null : asked }).then(
      ({ statusCode, headers: answered, body }) => {
        response.writeHead(statusCode, answered);
        body.pipe(response);
      },
    );
  });
  const port = pair === undefined ? Number(plain.port) : await servedPort(server);
  const PORTAL_URL = mocks.portalUrl.replace(plain.origin, `https://localhost:${port}`);
  return { mocks, port, environment: { ...portalEnvironment(mocks), PORTAL_URL, LOG_LEVEL: 'trace' } };
}

/** Lets a proxy open its tunnels to this port, and lists them. */
function tunnelling(proxy: Server | PlainServer, port: number): readonly (string | undefined)[] {
  const tunnels: (string | undefined)[] = [];
  proxy.on('connect', (asked, socket: Socket) => {
    tunnels.push(asked.url);
    const onward = connect(port, '127.0.0.1');
    for (const end of [socket, onward]) end.on('error', () => {});
    onTestFinished(() => void onward.destroy());
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
  return tunnels;
}

/** What one poll says that fails. */
async function said(environment: Readonly<Record<string, string>>): Promise<string> {
  const { code, stderr } = await run(['--once'], { environment });
  expect(code).toBe(1);
  return stderr;
}

describe.runIf(hasTlsClients)('an https service', () => {
  test('is polled where its authority is named in NODE_EXTRA_CA_CERTS', async () => {
    const { authority, pair } = made();
    const { environment } = await behindTls(pair);
    const { code, stdout } = await run(['--once'], { environment: { ...environment, NODE_EXTRA_CA_CERTS: authority } });
    expect(code).toBe(0);
    expect(stdout).toContain('filer_api_up{api="portal"} 1');
  });

  test.each([
    ['from an unknown authority', {}, true, 'is from an unknown certificate authority', 'set NODE_EXTRA_CA_CERTS to'],
    ['signed by itself', { isSigned: false }, true, 'is self-signed', 'set NODE_EXTRA_CA_CERTS to'],
    [
      'for another host',
      { names: 'DNS:other.example.com' },
      false,
      'is for another host name',
      'check the host in PORTAL_URL',
    ],
    ['that has expired', { days: -1 }, false, 'has expired', 'and the clock of this machine'],
  ])(
    'whose certificate is %s is not polled, and the words say what to do',
    async (_, wanted, isUnknown, words, step) => {
      const { authority, pair } = made(wanted);
      const { environment, mocks } = await behindTls(pair);
      const trust = isUnknown ? {} : { NODE_EXTRA_CA_CERTS: authority };
      const stderr = await said({ ...environment, ...trust });
      expect(stderr).toContain(`the service's certificate ${words}`);
      expect(stderr).toContain(step);
      expect(mocks.requests).toEqual([]);
    },
  );

  test('is checked even where that switch comes in unseen, and through a proxy too', async () => {
    const { port, mocks } = await behindTls(made().pair);
    const proxy = createPlainServer();
    const tunnels = tunnelling(proxy, port);
    const url = `http://127.0.0.1:${await servedPort(proxy)}`;
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const way of [undefined, { url, authorization: undefined, timeoutMs: 30_000 }]) {
      const dispatcher = createDispatcher(way);
      onTestFinished(() => dispatcher.destroy());
      await expect(request(`https://127.0.0.1:${port}/serials`, { dispatcher })).rejects.toMatchObject({
        code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      });
    }
    expect(tunnels).toEqual([`127.0.0.1:${port}`]);
    expect(mocks.requests).toEqual([]);
  });

  test('that does not speak TLS is told apart', async () => {
    const { environment } = await behindTls();
    const stderr = await said(environment);
    expect(stderr).toContain('the service does not speak TLS there');
    expect(stderr).toContain('check scheme and port of PORTAL_URL');
  });
});

describe.runIf(hasTlsClients)('a proxy that is spoken to with TLS', () => {
  const through = (port: number, trusted: string) =>
    said({
      PORTAL_URL: 'https://portal.invalid',
      PORTAL_USER_KEY: 'a-key',
      HTTPS_PROXY: `https://localhost:${port}`,
      NODE_EXTRA_CA_CERTS: trusted,
    });

  test('and has a certificate for another host is told apart from the service', async () => {
    const { authority, pair } = made({ names: 'DNS:other.example.com' });
    const port = await servedPort(createServer({ cert: pair.certText, key: pair.keyText }));
    const stderr = await through(port, authority);
    expect(stderr).toContain("got no response: the proxy's certificate is for another host name");
    expect(stderr).toContain('check HTTPS_PROXY');
    expect(stderr).not.toContain("the service's certificate");
  });

  test('and does not speak it is told so', async () => {
    const stderr = await through(await servedPort(createPlainServer()), made().authority);
    expect(stderr).toContain('the proxy does not speak TLS there');
    expect(stderr).toContain('HTTPS_PROXY');
  });

  test('[proxy-certificates] opens tunnels, and what is wrong with the service behind it is told of the service', async () => {
    const { authority, pair } = made();
    const stranger = made({ names: 'DNS:portal.invalid', isSigned: false }).pair;
    const proxy = createServer({ cert: pair.certText, key: pair.keyText });
    tunnelling(proxy, await servedPort(createServer({ cert: stranger.certText, key: stranger.keyText })));
    const stderr = await through(await servedPort(proxy), authority);
    expect(stderr).toContain("the service's certificate is self-signed");
    expect(stderr).not.toContain("the proxy's");
  });
});

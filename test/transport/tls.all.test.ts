import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { request } from 'undici';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startStandIn } from '../../src/demo/stand-in.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { tlsFault } from '../../src/transport/connection-faults.ts';
import { createDispatcher } from '../../src/transport/dispatcher.ts';
import { portalEnvironment } from '../support/live.ts';
import { run, temporaryDirectory } from '../support/program.ts';
import { hasTlsClients, makePair, type Pair } from '../web/certificates.ts';

/** Both services behind TLS with this certificate, as a process sees them. */
async function behindTls(pair: Pair) {
  const standIn = await startStandIn({ clock: systemClock, appliances: 1, volumes: 1 });
  onTestFinished(() => standIn.close());
  const plain = new URL(standIn.portalUrl);
  const server = createServer({ cert: pair.certText, key: pair.keyText }, (asked, response) => {
    const headers = { ...asked.headers, host: plain.host };
    const { method = 'GET', url = '/' } = asked;
    void request(plain.origin + url, { method: method as 'GET', headers, body: method === 'GET' ? null : asked }).then(
      ({ statusCode, headers: answered, body }) => {
        response.writeHead(statusCode, answered);
        body.pipe(response);
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const environmentAt = (host: string) => ({
    ...portalEnvironment(standIn),
    PORTAL_URL: standIn.portalUrl.replace(plain.origin, `https://${host}:${port}`),
    LOG_LEVEL: 'trace',
  });
  return { standIn, port, environmentAt };
}

describe.runIf(hasTlsClients)('an https service', () => {
  function made(wanted: Parameters<typeof makePair>[2] = {}, by?: string) {
    const folder = temporaryDirectory();
    const authority = makePair(folder, 'authority', { authority: true });
    const names = { names: 'DNS:localhost,IP:127.0.0.1', ...wanted };
    return { authority, pair: makePair(folder, 'service', by === 'itself' ? names : { ...names, by: authority }) };
  }

  test('is polled where its authority is named in NODE_EXTRA_CA_CERTS', async () => {
    const { authority, pair } = made();
    const { environmentAt } = await behindTls(pair);
    const environment = { ...environmentAt('localhost'), NODE_EXTRA_CA_CERTS: authority.cert };
    const { code, stdout } = await run(['--once'], { environment });
    expect(code).toBe(0);
    expect(stdout).toContain('filer_api_up{api="portal"} 1');
  });

  test.each([
    ['from an unknown authority', {}, undefined, true, 'is from an unknown certificate authority; if your network'],
    ['signed by itself', {}, 'itself', true, 'is self-signed; to trust it, set NODE_EXTRA_CA_CERTS'],
    [
      'for another host',
      { names: 'DNS:other.example.com' },
      undefined,
      false,
      'is for another host name; check the URL',
    ],
    ['that has expired', { days: -1 }, undefined, false, "has expired, or this machine's clock is wrong"],
  ])('whose certificate is %s is not polled, and the words say what to do', async (_, wanted, by, isUnknown, words) => {
    const { authority, pair } = made(wanted, by);
    const { environmentAt, standIn } = await behindTls(pair);
    const trust = isUnknown ? {} : { NODE_EXTRA_CA_CERTS: authority.cert };
    const { code, stderr } = await run(['--once'], { environment: { ...environmentAt('localhost'), ...trust } });
    expect(code).toBe(1);
    expect(stderr).toContain(`the service's certificate ${words}`);
    expect(standIn.requests).toEqual([]);
  });

  test('is never polled unchecked: the switch of Node is refused at the start', async () => {
    const { pair } = made();
    const { environmentAt } = await behindTls(pair);
    const environment = { ...environmentAt('localhost'), NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const { code, stderr } = await run(['--once'], { environment });
    expect(code).toBe(78);
    expect(stderr).toMatch(
      /^NODE_TLS_REJECT_UNAUTHORIZED: is 0; expected to be unset: certificates are always checked/m,
    );
  });

  test('is checked even where that switch comes in unseen, and through a proxy too', async () => {
    const { pair } = made();
    const { port, standIn } = await behindTls(pair);
    const tunnels: (string | undefined)[] = [];
    const proxy = createPlainServer();
    proxy.on('connect', (asked, socket: Socket) => {
      tunnels.push(asked.url);
      const onward = connect(port, '127.0.0.1');
      for (const end of [socket, onward]) end.on('error', () => {});
      onTestFinished(() => void onward.destroy());
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
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
    expect(standIn.requests).toEqual([]);
  });

  test('that does not speak TLS is told apart', async () => {
    const standIn = await startStandIn({ clock: systemClock, appliances: 1, volumes: 1 });
    onTestFinished(() => standIn.close());
    const environment = { ...portalEnvironment(standIn), PORTAL_URL: standIn.portalUrl.replace('http:', 'https:') };
    const { code, stderr } = await run(['--once'], { environment });
    expect(code).toBe(1);
    expect(stderr).toContain('the service does not speak TLS there; check scheme and port of the URL');
  });
});

test('a fault that is not one of TLS has no words of it', () => {
  expect(tlsFault('CERT_REVOKED', 'service')).toBe("the service's certificate has been revoked (CERT_REVOKED)");
  for (const code of ['ECONNREFUSED', 'constructor', '']) expect(tlsFault(code, 'service')).toBeUndefined();
});

import { createServer as createPlainServer, type Server as PlainServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run, temporaryDirectory } from '../support/program.ts';
import { hasTlsClients, makePair, type Wanted } from '../web/certificates.ts';

async function portOf(server: Server | PlainServer): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** What one poll says of a service that is reached through this proxy. */
async function said(proxy: string, trusted: string) {
  const environment = {
    ...{ PORTAL_URL: 'https://portal.invalid', PORTAL_USER_KEY: 'a-key' },
    ...{ HTTPS_PROXY: proxy, NODE_EXTRA_CA_CERTS: trusted },
  };
  const { code, stderr } = await run(['--once'], { environment });
  expect(code).toBe(1);
  return stderr;
}

describe.runIf(hasTlsClients)('a proxy that is spoken to with TLS', () => {
  function made(wanted: Wanted = {}, isSigned = true) {
    const folder = temporaryDirectory();
    const authority = makePair(folder, 'authority', { authority: true });
    const names = { names: 'DNS:localhost', ...wanted };
    return { authority, pair: makePair(folder, 'end', isSigned ? { ...names, by: authority } : names) };
  }

  test.each<[string, Wanted, boolean, string]>([
    [
      'for another host',
      { names: 'DNS:other.example.com' },
      true,
      "is for another host name; check the proxy's URL (ERR_TLS_CERT_ALTNAME_INVALID)",
    ],
    ['signed by itself', {}, false, 'is self-signed; to trust it, set NODE_EXTRA_CA_CERTS to it'],
    ['that has expired', { days: -1 }, true, "has expired, or this machine's clock is wrong"],
  ])('whose certificate is %s is told apart from the service', async (_, wanted, isSigned, words) => {
    const { authority, pair } = made(wanted, isSigned);
    const port = await portOf(createServer({ cert: pair.certText, key: pair.keyText }));
    const stderr = await said(`https://localhost:${port}`, authority.cert);
    expect(stderr).toContain(`got no answer: the proxy's certificate ${words}`);
    expect(stderr).not.toContain("the service's certificate");
  });

  test('and does not speak it is told so', async () => {
    const stderr = await said(`https://localhost:${await portOf(createPlainServer())}`, made().authority.cert);
    expect(stderr).toContain("the proxy does not speak TLS there; check scheme and port of the proxy's URL");
  });

  test('opens tunnels, and what is wrong with the service behind it is told of the service', async () => {
    const { authority, pair } = made();
    const stranger = made({ names: 'DNS:portal.invalid' }, false).pair;
    const service = await portOf(createServer({ cert: stranger.certText, key: stranger.keyText }));
    const proxy = createServer({ cert: pair.certText, key: pair.keyText });
    proxy.on('connect', (_, socket: Socket) => {
      const onward = connect(service, '127.0.0.1');
      for (const end of [socket, onward]) end.on('error', () => {});
      onTestFinished(() => void onward.destroy());
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    const stderr = await said(`https://localhost:${await portOf(proxy)}`, authority.cert);
    expect(stderr).toContain("the service's certificate is self-signed");
    expect(stderr).not.toContain("the proxy's");
  });
});

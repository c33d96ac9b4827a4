import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:tls';
import { expect, test } from 'vitest';
import { explainFor } from '../../src/contract/causes.ts';
import type { ReportFinding } from '../../src/doctor/finding.ts';
import { checkNetwork, type NetworkProxy, systemNetwork } from '../../src/doctor/network.ts';
import { gfaCauses } from '../../src/services/gfa/causes.ts';
import { servedPort } from '../support/listening.ts';
import { temporaryDirectory } from '../support/program.ts';
import { hasTlsClients, makePair } from '../web/certificates.ts';

const isLeftOut = !process.env.REQUIRE_TLS_CLIENTS && !hasTlsClients;
const NOW = Date.now();
const DAY_MS = 86_400_000;

async function found(url: string, proxy: NetworkProxy | undefined, now = NOW): Promise<readonly string[]> {
  const findings: string[] = [];
  const find: ReportFinding = (level, check, code, _, { advice } = {}) =>
    void findings.push([level, check, code, ...(advice === undefined ? [] : [advice])].join(' '));
  await checkNetwork(
    { url, isLocal: false, proxy },
    { network: systemNetwork, timeoutMs: 5_000, now, explain: explainFor(gfaCauses) },
    find,
  );
  return findings;
}

test.skipIf(isLeftOut)('a real TLS server with a certificate of its own is not trusted', async () => {
  const { certText: cert, keyText: key } = makePair(temporaryDirectory(), 'own', { names: 'DNS:localhost', days: 1 });
  const server = createServer({ cert, key }, (socket) => socket.on('error', () => {}));
  server.on('tlsClientError', () => {});
  const port = await servedPort(server);
  expect(await found(`https://localhost:${port}`, undefined)).toEqual([
    'ok name resolved',
    'failure tls untrusted set NODE_EXTRA_CA_CERTS to the certificate of that authority if it is the one of your network',
  ]);
});

test.skipIf(isLeftOut)('the chain that a real TLS server shows has an end', async () => {
  const { certText: cert, keyText: key } = makePair(temporaryDirectory(), 'own', { names: 'DNS:localhost', days: 1 });
  const server = createServer({ cert, key }, (socket) => socket.on('error', () => {}));
  const { endsAt, protocol } = await systemNetwork.handshake('localhost', await servedPort(server), undefined, 5_000);
  expect(endsAt).toBeGreaterThan(NOW);
  expect(endsAt).toBeLessThan(NOW + 2 * DAY_MS);
  expect(protocol).toMatch(/^TLSv1/);
});

test('a server that speaks no TLS is told by its port, not by a code', async () => {
  const server = createProxy((_, response) => response.end('plain'));
  expect(await found(`https://localhost:${await servedPort(server)}`, undefined)).toEqual([
    'ok name resolved',
    'failure tls no-connection check scheme and port of GFA_URL, which ends in /v1, and HTTPS_PROXY',
  ]);
});

test('a port where nothing listens is a failure of the connection', async () => {
  const server = createProxy();
  const port = await servedPort(server);
  await new Promise((resolve) => server.close(resolve));
  expect(await found(`https://localhost:${port}`, undefined)).toEqual([
    'ok name resolved',
    expect.stringMatching(
      /^failure tls no-connection check the firewall, and host and port in GFA_URL, .* set HTTPS_PROXY$/,
    ),
  ]);
});

test.for([
  [407, 'put them into HTTPS_PROXY, as in http://user:password@host:port'],
  [403, 'check HTTPS_PROXY; if the service needs no proxy, name its host in NO_PROXY'],
] as const)('a proxy that answers CONNECT with %i is named, with its step', async ([status, step]) => {
  const proxy = createProxy();
  proxy.on('connect', (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\nconnection: close\r\n\r\n`));
  const url = `http://127.0.0.1:${await servedPort(proxy)}`;
  const way: NetworkProxy = { url, shown: url, authorization: undefined };
  expect(await found('https://portal.example.com', way)).toEqual([
    ...['ok proxy in-use', 'ok name resolved', `failure tls no-connection ${step}`],
  ]);
});

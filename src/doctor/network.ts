import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { connect, type DetailedPeerCertificate } from 'node:tls';
import type { Explain } from '../contract/causes.ts';
import { asError, errorCode } from '../runtime/errors.ts';
import { describeConnectionError, describeTlsError, proxyRejection } from '../transport/connection-errors.ts';
import type { HttpProxy } from '../transport/dispatcher.ts';
import type { ReportFinding } from './finding.ts';

/** Checks the connection to a service without sending it a request. */
export interface Network {
  /** The addresses of a name. Rejects with the resolver's error. */
  resolve(host: string): Promise<readonly string[]>;
  /** Opens a TLS connection, through the proxy if there is one, and closes it. Rejects if none can be opened. */
  handshake(host: string, port: number, proxy: NetworkProxy | undefined, timeoutMs: number): Promise<Handshake>;
}

interface Handshake {
  /** The code of the error in the chain; undefined if it is trusted. */
  readonly fault: string | undefined;
  /** When the certificate of the chain that expires first does so, in epoch milliseconds; undefined if unknown. */
  readonly endsAt: number | undefined;
  readonly protocol: string;
}

export const systemNetwork: Network = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  handshake: async (host, port, proxy, timeoutMs) => {
    const tunnel = proxy && (await openTunnel(proxy, `${host}:${port}`, timeoutMs));
    // Accepts any chain: the check list shows its error.
    const socket = connect({
      ...(tunnel ? { socket: tunnel } : { host, port }),
      servername: host,
      rejectUnauthorized: false,
      timeout: timeoutMs,
    });
    socket.once('timeout', () => socket.destroy(new Error(`no TLS handshake within ${timeoutMs} ms`)));
    await once(socket, 'secureConnect');
    const fault = socket.authorizationError as Error | string | undefined | null;
    const handshake = {
      fault: fault ? (errorCode(fault) ?? String(fault)) : undefined,
      endsAt: firstEnd(socket.getPeerCertificate(true)),
      protocol: socket.getProtocol() ?? '',
    };
    socket.destroy();
    return handshake;
  },
};

async function openTunnel(proxy: NetworkProxy, target: string, timeoutMs: number): Promise<Socket> {
  const authorization = proxy.authorization?.reveal();
  const connecting = request(proxy.url, {
    method: 'CONNECT',
    path: target,
    timeout: timeoutMs,
    headers: { host: target, ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }) },
  });
  connecting.once('timeout', () => connecting.destroy(new Error(`the proxy opened no tunnel within ${timeoutMs} ms`)));
  connecting.end();
  const [{ statusCode }, socket] = (await once(connecting, 'connect')) as [IncomingMessage, Socket];
  if (statusCode === 200) return socket;
  socket.destroy();
  throw proxyRejection(statusCode);
}

function firstEnd(leaf: DetailedPeerCertificate): number | undefined {
  const ends: number[] = [];
  for (let certificate = leaf; certificate?.valid_to !== undefined; certificate = certificate.issuerCertificate) {
    ends.push(Date.parse(certificate.valid_to));
    if (certificate.issuerCertificate === certificate) break;
  }
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** A proxy; `shown` is its URL without credentials. */
export type NetworkProxy = Pick<HttpProxy, 'url' | 'authorization'> & { readonly shown: string };

export interface Destination {
  readonly url: string;
  /** On this machine, where encryption is not needed. */
  readonly isLocal: boolean;
  /** Undefined for a direct connection. */
  readonly proxy: NetworkProxy | undefined;
}

const DAY_MS = 86_400_000;
/** A chain that expires within this time is a warning: certificates are usually renewed a month before they expire. */
const SOON_MS = 21 * DAY_MS;

interface NetworkDependencies {
  readonly network: Network;
  readonly timeoutMs: number;
  readonly now: number;
  readonly explain: Explain;
}

/** Checks name resolution, the proxy and TLS. Resolves with false if no request can reach the service. */
export async function checkNetwork(
  { url, isLocal, proxy }: Destination,
  { network, timeoutMs, now, explain }: NetworkDependencies,
  reportFinding: ReportFinding,
): Promise<boolean> {
  const { port, protocol } = new URL(url);
  if (proxy !== undefined) reportFinding('ok', 'proxy', 'in-use', `requests go through ${proxy.shown}`);
  if (
    !(await checkName(
      hostOf(proxy?.url ?? url),
      network,
      explain(proxy === undefined ? 'dns' : 'proxy').advice,
      reportFinding,
    ))
  )
    return false;
  if (protocol === 'http:' && isLocal) {
    reportFinding('ok', 'tls', 'loopback', 'not needed on this machine');
    return true;
  }
  if (protocol === 'http:') {
    const observed = 'the URL begins with http:, so keys travel unencrypted';
    reportFinding('warning', 'tls', 'none', observed, { advice: 'use the https: URL of the service' });
    return true;
  }
  try {
    const handshake = await network.handshake(hostOf(url), Number(port || 443), proxy, timeoutMs);
    return checkChain(handshake, now, explain, reportFinding);
  } catch (thrown) {
    const { text, problem = proxy === undefined ? 'network' : 'proxy' } = describeConnectionError(asError(thrown));
    const { advice } = explain(problem);
    reportFinding('failure', 'tls', 'no-connection', text, { expected: 'a TLS connection', advice });
    return false;
  }
}

/** An address of IP version 6 without its brackets. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
}

async function checkName(
  host: string,
  network: Network,
  advice: string,
  reportFinding: ReportFinding,
): Promise<boolean> {
  try {
    const { length } = await network.resolve(host);
    reportFinding('ok', 'name', 'resolved', `${host} has ${length} address${length === 1 ? '' : 'es'}`);
    return true;
  } catch (thrown) {
    const code = errorCode(thrown) ?? asError(thrown).message;
    reportFinding('failure', 'name', 'unresolved', `${host} cannot be resolved (${code})`, {
      expected: 'an address',
      advice,
    });
    return false;
  }
}

function checkChain(
  { fault, endsAt, protocol }: Handshake,
  now: number,
  explain: Explain,
  reportFinding: ReportFinding,
): boolean {
  if (fault !== undefined) {
    const { problem = 'certificate', text } = describeTlsError(fault, 'service') ?? {
      text: `the service's certificate is not trusted (${fault})`,
    };
    const { advice } = explain(problem);
    reportFinding('failure', 'tls', 'untrusted', text, { expected: 'a certificate chain that is trusted', advice });
    return false;
  }
  const day = endsAt === undefined ? 'an unknown day' : new Date(endsAt).toISOString().slice(0, 10);
  const observed = `${protocol}, trusted; the chain expires on ${day}`;
  if (endsAt !== undefined && endsAt - now < SOON_MS) {
    const advice = 'inform the operator of the service; no data arrives after the certificate has expired';
    reportFinding('warning', 'tls', 'ends-soon', observed, { advice });
  } else reportFinding('ok', 'tls', 'trusted', observed);
  return true;
}

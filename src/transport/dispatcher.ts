import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Secret } from '../runtime/secret.ts';
import { ProxyConnectionError } from './connection-errors.ts';

export interface HttpProxy {
  /** Scheme, host and port only. */
  readonly url: string;
  readonly authorization: Secret | undefined;
  readonly timeoutMs: number;
}

/** PEM texts: certificate authorities that are trusted in addition, and the certificate and key that the exporter presents. */
export interface TlsPem {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Certificates are always verified: `NODE_TLS_REJECT_UNAUTHORIZED` has no effect here. */
const VERIFIED = { timeout: 10_000, rejectUnauthorized: true } as const;

/**
 * Creates the connection pool of one service or receiver: connections are kept alive, and each carries one request at a
 * time. If there is a proxy, it opens a tunnel for https URLs and forwards requests for http URLs, because few proxies
 * allow a tunnel to port 80.
 */
export function createDispatcher(proxy: HttpProxy | undefined, tls: TlsPem = {}): Dispatcher {
  const requestTls = { ...VERIFIED, ...tls };
  const options = { pipelining: 1, keepAliveTimeout: 30_000, connect: requestTls };
  if (proxy === undefined) return new Agent(options);
  const connect = markProxyErrors(buildConnector(VERIFIED));
  // undici passes these options, and not those of `clientFactory`, to the connections inside its tunnels.
  return new ProxyAgent({
    ...options,
    uri: proxy.url,
    ...(proxy.authorization === undefined ? {} : { token: proxy.authorization.reveal() }),
    requestTls,
    proxyTls: VERIFIED,
    proxyTunnel: false,
    clientFactory: (origin) => new Pool(origin, { connect, headersTimeout: proxy.timeoutMs }),
  });
}

/** Wraps errors of the connection to the proxy, so that they differ from those of the connection to the service. */
function markProxyErrors(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error === null) callback(null, socket);
      else callback(new ProxyConnectionError(error), null);
    });
}

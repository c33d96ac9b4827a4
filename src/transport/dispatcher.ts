import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { Secret } from '../runtime/secret.ts';
import { ProxyConnectionError } from './connection-errors.ts';

export interface HttpProxy {
  /** Scheme, host and port only. */
  readonly url: string;
  readonly authorization: Secret | undefined;
  /** The hosts that are reached without the proxy, as in NO_PROXY. */
  readonly noProxy: string;
  readonly timeoutMs: number;
}

/**
 * How every connection is opened. Certificates are always verified: `NODE_TLS_REJECT_UNAUTHORIZED` has no effect here. Node
 * tries the addresses of a host one after the other, and by default gives each 250 ms, which is too short for one that is
 * far away.
 */
const CONNECT = {
  timeout: 10_000,
  rejectUnauthorized: true,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: 3_000,
} as const;

/**
 * Creates the connection pool of one service or receiver: connections are kept alive, and each carries one request at a
 * time. If there is a proxy, it opens a tunnel for https URLs and forwards requests for http URLs, because few proxies
 * allow a tunnel to port 80.
 */
export function createDispatcher(proxy: HttpProxy | undefined): Dispatcher {
  const options = { pipelining: 1, keepAliveTimeout: 30_000, connect: CONNECT };
  if (proxy === undefined) return new Agent(options);
  const { url, authorization, noProxy, timeoutMs } = proxy;
  const connect = markProxyErrors(buildConnector(CONNECT));
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: url,
    httpsProxy: url,
    noProxy,
    ...(authorization === undefined ? {} : { token: authorization.reveal() }),
    // undici passes these options, and not those of `clientFactory`, to the connections inside its tunnels.
    requestTls: CONNECT,
    proxyTls: CONNECT,
    proxyTunnel: false,
    clientFactory: (origin: URL) => new Pool(origin, { connect, headersTimeout: timeoutMs }),
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

import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Secret } from '../runtime/secret.ts';
import { ProxyConnectionError } from './connection-errors.ts';

export interface HttpProxy {
  /** Scheme, host and port only. */
  readonly url: string;
  readonly authorization: Secret | undefined;
  readonly timeoutMs: number;
}

/** Further trusted certificate authorities, and the program's own certificate; all in PEM. */
export interface TlsPem {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Certificates are always checked; `NODE_TLS_REJECT_UNAUTHORIZED` has no effect here. */
const CHECKED = { timeout: 10_000, rejectUnauthorized: true } as const;

/**
 * The connections to one API or receiver: kept alive, one request on each at a time, all through a proxy if there is one. A
 * proxy opens a tunnel for https URLs and forwards requests for http URLs: few allow a tunnel to port 80.
 */
export function createDispatcher(proxy: HttpProxy | undefined, tls: TlsPem = {}): Dispatcher {
  const requestTls = { ...CHECKED, ...tls };
  const options = { pipelining: 1, keepAliveTimeout: 30_000, connect: requestTls };
  if (proxy === undefined) return new Agent(options);
  const connect = toldApart(buildConnector(CHECKED));
  // undici passes these options on to its tunnels, and not those of the connections.
  return new ProxyAgent({
    ...options,
    uri: proxy.url,
    ...(proxy.authorization === undefined ? {} : { token: proxy.authorization.reveal() }),
    requestTls,
    proxyTls: CHECKED,
    proxyTunnel: false,
    clientFactory: (origin) => new Pool(origin, { connect, headersTimeout: proxy.timeoutMs }),
  });
}

function toldApart(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error === null) callback(null, socket);
      else callback(new ProxyConnectionError(error), null);
    });
}

import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Secret } from '../runtime/secret.ts';
import { ProxyConnectionError } from './connection-faults.ts';

/** A proxy to go through. */
export interface Proxy {
  /** Scheme, host and port alone. */
  readonly url: string;
  /** The value of `Proxy-Authorization`, where it asks who comes. */
  readonly authorization: Secret | undefined;
  /** How long it may take to open a tunnel, in milliseconds: who waits for one may have given up long before. */
  readonly timeoutMs: number;
}

/** Certificates are checked, whatever Node's environment says: `NODE_TLS_REJECT_UNAUTHORIZED` does not reach in here. */
const CHECKED = { timeout: 10_000, rejectUnauthorized: true } as const;

/**
 * The connections to one API: kept alive, at most `connections` of them, all through a proxy where there is one. A proxy
 * is asked for a tunnel to https URLs, and to pass on requests to http ones: few let a tunnel through to port 80.
 */
export function createDispatcher(connections: number, proxy: Proxy | undefined): Dispatcher {
  const options = { connections, pipelining: 1, keepAliveTimeout: 30_000, connect: CHECKED };
  if (proxy === undefined) return new Agent(options);
  const connect = toldApart(buildConnector(CHECKED));
  // Of what was said of connections, undici passes on to tunnels what is said here.
  return new ProxyAgent({
    ...options,
    uri: proxy.url,
    ...(proxy.authorization === undefined ? {} : { token: proxy.authorization.reveal() }),
    requestTls: CHECKED,
    proxyTls: CHECKED,
    proxyTunnel: false,
    clientFactory: (origin) => new Pool(origin, { connect, headersTimeout: proxy.timeoutMs }),
  });
}

/** The same connections, whose faults say that they are of the way to the proxy. */
function toldApart(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error === null) callback(null, socket);
      else callback(new ProxyConnectionError(error), null);
    });
}

import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';

/** The proxies to go through; empty texts for none. */
export interface Proxies {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

/** Certificates are checked, whatever Node's environment says: `NODE_TLS_REJECT_UNAUTHORIZED` does not reach in here. */
const CHECKED = { timeout: 10_000, rejectUnauthorized: true } as const;

/**
 * The connections to one API: kept alive, at most `connections` of them, through a proxy where one is configured. A proxy
 * is asked for a tunnel to https URLs, and to pass on requests to http ones: few let a tunnel through to port 80.
 */
export function createDispatcher(connections: number, proxies: Proxies | undefined): Dispatcher {
  const options = { connections, pipelining: 1, keepAliveTimeout: 30_000, connect: CHECKED };
  if (proxies === undefined) return new Agent(options);
  // Of what was said of connections, undici passes on to tunnels what is said here.
  return new EnvHttpProxyAgent({
    ...options,
    ...proxies,
    requestTls: CHECKED,
    proxyTls: CHECKED,
    proxyTunnel: false,
  });
}

import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';

/** The proxies to go through; empty texts for none. */
export interface Proxies {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

/** The connections to one API: kept alive, at most `connections` of them, through a proxy where one is configured. */
export function createDispatcher(connections: number, proxies: Proxies | undefined): Dispatcher {
  const options = { connections, pipelining: 1, keepAliveTimeout: 30_000, connect: { timeout: 10_000 } };
  return proxies === undefined ? new Agent(options) : new EnvHttpProxyAgent({ ...options, ...proxies });
}

import type { Config } from '../config/config.ts';
import type { Api } from '../metrics/snapshot.ts';
import type { Upstream } from '../sources/upstream.ts';
import { configuredUpstreams } from '../sources/upstreams.ts';

export interface AskedUpstream {
  readonly api: Api;
  readonly upstream: Upstream;
  readonly settings: unknown;
}

/** The configured services, without those that another shard polls. */
export function askedUpstreams(config: Config): readonly AskedUpstream[] {
  return configuredUpstreams(config).filter(({ upstream }) => !upstream.isWhole || config.shard.index === 0);
}

import type { Config } from '../config/config.ts';
import { gfa } from './gfa/upstream.ts';
import { portal } from './portal/upstream.ts';
import type { Upstream } from './upstream.ts';

/** Every service that can be polled, in the order of the exposition. Add one here and nowhere else. */
export const upstreams: readonly Upstream[] = [gfa, portal];

export interface ConfiguredUpstream {
  readonly api: string;
  readonly upstream: Upstream;
  readonly settings: unknown;
}

export function configuredUpstreams(config: Config): readonly ConfiguredUpstream[] {
  return upstreams.flatMap((upstream) => {
    const settings = upstream.section.of(config);
    return settings === undefined ? [] : [{ api: upstream.section.api, upstream, settings }];
  });
}

/** The configured services, without those that another shard polls. */
export function askedUpstreams(config: Config): readonly ConfiguredUpstream[] {
  return configuredUpstreams(config).filter(({ upstream }) => !upstream.isWhole || config.shard.index === 0);
}

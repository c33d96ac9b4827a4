import type { Config } from '../config/config.ts';
import { gfa } from './gfa/upstream.ts';
import { portal } from './portal/upstream.ts';
import type { Upstream } from './upstream.ts';

/** Every service that can be polled, in the order of the exposition. Add one here and nowhere else. */
export const upstreams: readonly Upstream[] = [gfa, portal];

/** The services that are configured, with their settings. */
export function configuredUpstreams(config: Config) {
  return upstreams.flatMap((upstream) => {
    const settings = upstream.section.of(config);
    return settings === undefined ? [] : [{ api: upstream.section.api, upstream, settings }];
  });
}

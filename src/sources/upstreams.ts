import { gfa } from './gfa/upstream.ts';
import { portal } from './portal/upstream.ts';
import type { Upstream } from './upstream.ts';

/** Every service that can be polled, in the order of the exposition. Add one here and nowhere else. */
export const upstreams: readonly Upstream[] = [gfa, portal];

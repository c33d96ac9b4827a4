import { json } from '../../exchange.ts';
import { confidentialOf } from '../../world/confidential.ts';
import { floorTo, MINUTE_MS, rfc3339 } from '../../world/waveforms.ts';
import { item } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';

/** The keys of the file acceleration service: the one in use, and a new one that has not been used. */
export const gfaKeyOperations: readonly DemoOperation[] = [
  get('gfa_api_keys', '/gfa/api_keys', ({ world, variations, now }) => {
    const [used, unused] = confidentialOf(world.seed).gfaKeys;
    const lastUsed = rfc3339(floorTo(now, MINUTE_MS));
    const items = [
      item('gfa key 1', { key: used, created: '2025-02-01T09:30:00Z' }, { last_used: lastUsed }, variations),
      item('gfa key 2', { key: unused, created: '2026-01-15T16:00:00Z' }, { last_used: null }, variations),
    ];
    return json(200, { items });
  }),
];

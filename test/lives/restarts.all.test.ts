import { describe, vi } from 'vitest';
import { clocks } from './stories/clocks.ts';
import { counts } from './stories/counts.ts';
import { fleet } from './stories/fleet.ts';
import { limits } from './stories/limits.ts';
import { outages } from './stories/outages.ts';
import { rights } from './stories/rights.ts';
import { setups } from './stories/setups.ts';
import { tell } from './story.ts';

vi.setConfig({ testTimeout: 120_000 });

describe.each(['with its state', 'without any state'] as const)('restarted %s', (restarts) => {
  tell([...outages, ...fleet, ...limits, ...clocks, ...rights, ...counts, ...setups], restarts);
});

// Only here: what a restart forgets in the middle of a story.
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

const stories = [...outages, ...fleet, ...limits, ...clocks, ...rights, ...counts, ...setups];

// Each story once, every other with what was saved: a restart in the middle of it costs a life.
describe.each(['with its state', 'without any state'] as const)('restarted %s', (restarts) => {
  const own = restarts === 'with its state' ? 0 : 1;
  tell(
    stories.filter((_, index) => index % 2 === own),
    restarts,
  );
});

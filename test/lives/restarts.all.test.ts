// Only here: what a restart forgets in the middle of a story.
import process from 'node:process';
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

// A restart in the middle of a story costs a life: half of them here, and with EVERY_STORY=1 all, in both ways.
const ways = process.env.EVERY_STORY === '1' ? 1 : 4;
describe.each([
  ['with its state', 0],
  ['without any state', 1],
] as const)('restarted %s', (restarts, first) => {
  tell(
    stories.filter((_, index) => ways === 1 || index % ways === first),
    restarts,
  );
});

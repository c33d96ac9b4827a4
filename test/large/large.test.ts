// Only here: what size does to trouble. Hours of a fleet of any size, the whole program but for requests.
import { vi } from 'vitest';
import { moreShards, slowAnswers, stories, tellLarge } from './stories.ts';

vi.setConfig({ testTimeout: 600_000 });

tellLarge(200, [...stories, ...slowAnswers], 3);
tellLarge(60, moreShards, 1);

tellLarge(
  2_000,
  stories.filter(({ name }) => name.includes('40 minutes')),
  2,
);

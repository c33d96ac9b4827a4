import { vi } from 'vitest';
import { tell } from '../lives/story.ts';
import { drawn } from './drawn.ts';

vi.setConfig({ testTimeout: 240_000 });

tell(
  [
    drawn('usual', 1),
    drawn('usual', 6),
    drawn('usual', 8),
    drawn('usual', 9),
    drawn('large', 22),
    drawn('large', 31),
    drawn('large', 49),
    drawn('large', 51),
    drawn('overloaded', 2),
    drawn('misled', 6),
    drawn('misled', 10),
    drawn('quiet', 1),
  ],
  'never',
);

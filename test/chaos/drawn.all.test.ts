import { vi } from 'vitest';
import { tell } from '../lives/story.ts';
import { drawn } from './drawn.ts';

vi.setConfig({ testTimeout: 120_000 });

tell(
  [
    ...[1, 2, 3].map((seed) => drawn('usual', seed)),
    ...(['large', 'overloaded', 'misled', 'quiet'] as const).map((kind) => drawn(kind, 1)),
  ],
  'never',
);

// Only here: a count that falls or jumps in the answers of days.
import { vi } from 'vitest';
import { counts } from './stories/counts.ts';
import { tell } from './story.ts';

vi.setConfig({ testTimeout: 120_000 });

tell(counts, 'never');

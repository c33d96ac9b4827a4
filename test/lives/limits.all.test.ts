// Only here: a limit that holds for a moment and not for a day.
import { vi } from 'vitest';
import { limits } from './stories/limits.ts';
import { tell } from './story.ts';

vi.setConfig({ testTimeout: 120_000 });

tell(limits, 'never');

import { vi } from 'vitest';
import { limits } from './stories/limits.ts';
import { tell } from './story.ts';

vi.setConfig({ testTimeout: 120_000 });

tell(limits, 'never');

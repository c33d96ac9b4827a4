// Only here: a clock that is set, wrong or asleep and changes what is shown.
import { vi } from 'vitest';
import { clocks } from './stories/clocks.ts';
import { tell } from './story.ts';

vi.setConfig({ testTimeout: 120_000 });

tell(clocks, 'never');

import { vi } from 'vitest';
import { outages } from './stories/outages.ts';
import { tell } from './story.ts';

vi.setConfig({ testTimeout: 120_000 });

tell(outages, 'never');

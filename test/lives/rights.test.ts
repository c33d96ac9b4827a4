import { vi } from 'vitest';
import { rights } from './stories/rights.ts';
import { tell } from './story.ts';

vi.setConfig({ testTimeout: 120_000 });

tell(rights, 'never');

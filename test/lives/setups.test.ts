// Only here: settings that few have, in hours of use.
import { vi } from 'vitest';
import { setups } from './stories/setups.ts';
import { tell } from './story.ts';

vi.setConfig({ testTimeout: 120_000 });

tell(setups, 'never');

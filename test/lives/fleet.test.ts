// Only here: what hours of appliances that come, go and are off do to the others.
import { vi } from 'vitest';
import { fleet } from './stories/fleet.ts';
import { tell } from './story.ts';

vi.setConfig({ testTimeout: 120_000 });

tell(fleet, 'never');

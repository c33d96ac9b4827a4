// Only here: what size does to trouble. Days of a fleet of any size, the whole program but for requests.
import { vi } from 'vitest';
import { tellLarge, tellMoreShards } from './stories.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

tellLarge({ appliances: 60 });
tellMoreShards(60);

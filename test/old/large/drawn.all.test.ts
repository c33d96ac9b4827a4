// Only here: troubles of the portal and of a receiver that nobody thought of together.
import { test, vi } from 'vitest';
import { drawnHistory } from './drawn.ts';

vi.setConfig({ testTimeout: 600_000 });

test.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'half a day of troubles drawn from %d: every minute arrives once, or is reported',
  (seed) => drawnHistory(seed),
);

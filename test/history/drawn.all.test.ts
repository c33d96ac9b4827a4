import { test } from 'vitest';
import { drawnHistory } from './drawn.ts';

test.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'half a day of troubles drawn from %d: every minute arrives once, or is reported',
  (seed) => drawnHistory(seed),
);

import { test } from 'vitest';
import { drawnHistory } from './drawn.ts';

const DRAWS = 60;

test.each(Array.from({ length: DRAWS }, (_, seed) => seed))(
  'history %d: delivered and told as lost are together what the portal holds',
  (seed) => drawnHistory(seed),
  120_000,
);

import { test } from 'vitest';
import { DELIVERIES, killAgainAndAgain } from './killing.ts';

test.each(DELIVERIES)(
  'killed 50 times anywhere in a poll, with %s delivery: every exposition is exactly what was saved',
  (delivery) => killAgainAndAgain(50, delivery),
);

import { test } from 'vitest';
import { hasPrometheus } from '../../support/prometheus.ts';
import { backfilledDay } from './backfilled-day.ts';

const isLeftOut = !hasPrometheus && process.env.REQUIRE_PROMETHEUS !== '1';

test.skipIf(isLeftOut)(
  'a backfill that is killed and begun again gives promtool every minute of every series, as the portal has it',
  () => backfilledDay(),
);

import { test } from 'vitest';
import { temporaryDirectory } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';
import { dayOf } from './day.ts';
import { prometheusReceiver } from './receivers.ts';

const isLeftOut = !hasPrometheus && process.env.REQUIRE_PROMETHEUS !== '1';

// The other receivers are in day.explore.test.ts.
test.skipIf(isLeftOut)('Prometheus holds every minute of a day with outages, kills and restarts', async () => {
  await dayOf(await prometheusReceiver('prometheus', temporaryDirectory()));
});

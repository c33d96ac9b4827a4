import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';
import { backfilledDay } from './backfilled-day.ts';
import { dayOf } from './day.ts';
import { influxReceiver, prometheusReceiver, type RealReceiver, victoriaReceiver } from './receivers.ts';

/** The path of a Prometheus 3, with its promtool beside it. It, and those on the PATH, are there where the variables are set. */
const newer = process.env.NEWER_PROMETHEUS ?? '';
const hasVictoria = Boolean(process.env.REQUIRE_VICTORIA_METRICS);
const hasInflux = Boolean(process.env.REQUIRE_INFLUXDB);

const outOfOrder = 'storage:\n  tsdb:\n    out_of_order_time_window: 6h\n';

const receivers: readonly (readonly [string, (folder: string) => Promise<RealReceiver>, boolean])[] = [
  ['Prometheus with a window', (folder) => prometheusReceiver('prometheus', folder, outOfOrder), hasPrometheus],
  ['Prometheus 3', (folder) => prometheusReceiver(newer, folder), newer !== ''],
  ['Prometheus 3 with a window', (folder) => prometheusReceiver(newer, folder, outOfOrder), newer !== ''],
  ['VictoriaMetrics', victoriaReceiver, hasVictoria],
  ['InfluxDB', influxReceiver, hasInflux],
];

for (const [name, make, isThere] of receivers) {
  test.skipIf(!isThere)(
    `${name} holds every minute of a day with outages, kills and restarts`,
    async () => {
      if (name.startsWith('Prometheus 3')) expect(existsSync(newer), `NEWER_PROMETHEUS: ${newer}`).toBe(true);
      await dayOf(await make(temporaryDirectory()));
    },
    600_000,
  );
}

test.skipIf(newer === '')('a backfill gives the promtool of Prometheus 3 every minute of every series', () =>
  backfilledDay(dirname(newer)),
);

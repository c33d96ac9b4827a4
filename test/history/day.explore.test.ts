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

const receivers: readonly (readonly [string, (folder: string) => Promise<RealReceiver>, string, boolean])[] = [
  [
    'Prometheus with a window',
    (folder) => prometheusReceiver('prometheus', folder, outOfOrder),
    '0.1.0',
    hasPrometheus,
  ],
  ['Prometheus 3', (folder) => prometheusReceiver(newer, folder), '2.0.0', newer !== ''],
  ['Prometheus 3 with a window', (folder) => prometheusReceiver(newer, folder, outOfOrder), '2.0.0', newer !== ''],
  ['VictoriaMetrics', victoriaReceiver, '0.1.0', hasVictoria],
  ['InfluxDB', influxReceiver, '0.1.0', hasInflux],
];

for (const [name, make, version, isThere] of receivers) {
  test.skipIf(!isThere)(
    `${name} holds every minute of a day with outages, kills and restarts, by protocol ${version}`,
    async () => {
      if (name.startsWith('Prometheus 3')) expect(existsSync(newer), `NEWER_PROMETHEUS: ${newer}`).toBe(true);
      expect(await dayOf(await make(temporaryDirectory()))).toBe(version);
    },
    600_000,
  );
}

test.skipIf(newer === '')('a backfill gives the promtool of Prometheus 3 every minute of every series', () =>
  backfilledDay(dirname(newer)),
);

// Only here: what docs/history.md has a reader set, and alerts that see the same with it and without.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import type { WrittenGroup } from '../../deploy/prometheus/template.ts';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { freePort } from '../support/listening.ts';
import { root, start, temporaryDirectory } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';
import { portalEnvironment } from '../support/real-services.ts';
import { until } from '../support/until.ts';
import { type Alerting, alertmanagerProgram, hastened, startAlerting } from './alerting.ts';
import { blockOf } from './pages.ts';

const ALERT = 'FilerApplianceCpuHigh';
const MINUTE_MS = 60_000;

/** Minutes of a busy processor, so many minutes late. */
function busyMinutes(late: number): string {
  const newest = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - late * MINUTE_MS;
  const times = Array.from({ length: 13 }, (_, index) => newest - (12 - index) * MINUTE_MS);
  return JSON.stringify({ items: times.map((time) => ({ time, cpu_usage: '97' })) });
}

/** When the alert arrived, in epoch milliseconds. */
async function arrived({ received }: Alerting): Promise<number> {
  await until(`${ALERT} to arrive`, () => received.some(({ labels }) => labels.alertname === ALERT));
  return Date.now();
}

// Two minutes late, an instant query sees what was sent; six minutes late it does not.
test.runIf(hasPrometheus && alertmanagerProgram !== undefined).each([2, 6])(
  'a busy appliance whose minutes come %d minutes late: the alert arrives with remote write as without it',
  async (late) => {
    const services = await startMockServices({ clock: systemClock, appliances: 2, volumes: 1 });
    onTestFinished(() => services.close());
    onTestFinished(services.fail({ kind: 'body', operation: 'cpu_utilization', body: busyMinutes(late) }));
    const exporterPort = await freePort();
    const exporter = `http://127.0.0.1:${exporterPort}`;
    const rules = hastened(readFileSync(join(root, 'deploy/prometheus/filer-exporter.rules.yml'), 'utf8'), ALERT);
    const flag = blockOf('docs/history.md, Prepare the receiver, 1').text.trim().split(' ').slice(1);
    const withHistory = await startAlerting(exporter, rules, 'filer-exporter', ...flag);
    const without = await startAlerting(exporter, rules, 'filer-exporter');
    const folder = temporaryDirectory();
    const block = blockOf('docs/history.md, Configure the exporter, 1')
      .text.replaceAll('/var/lib/filer-exporter', join(folder, 'filer-exporter'))
      .replace('http://prometheus:9090', withHistory.prometheus.url);
    start([], {
      environment: {
        ...portalEnvironment(services),
        PORTAL_INTERVAL: '5s',
        LISTEN_ADDRESS: `127.0.0.1:${exporterPort}`,
        PORTAL_SERIES: 'cpu_utilization,memory_utilization_details,cache_utilization',
      },
      through: ['sh', '-ec', `${block}\nexec "$@"`, 'sh'],
    });
    const [one, other] = await Promise.all([arrived(withHistory), arrived(without)]);
    // Both scrape, evaluate and group each second, on a machine that may be busy.
    expect(Math.abs(one - other)).toBeLessThan(20_000);

    const minutes = 'count_over_time(filer_appliance_cpu_utilization_ratio{job="filer-exporter-minutes"}[30m])';
    await until('the minutes to arrive', async () => (await withHistory.prometheus.query(minutes)).length === 2);
    const { groups } = parse(rules) as { readonly groups: readonly WrittenGroup[] };
    const expressions = groups.flatMap((group) => group.rules.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(50);
    const labelsOf = async ({ prometheus }: Alerting, expression: string, at: number) => {
      const found = await prometheus.query(expression, at);
      return found.map(({ metric }) => JSON.stringify(Object.entries(metric).sort())).sort();
    };
    // The two scrape at different moments, so a difference may last for a scrape.
    for (const expression of expressions) {
      await until(`both to see the same by ${expression}`, async () => {
        const at = Date.now() / 1000 - 2;
        const [seen, expected] = [await labelsOf(withHistory, expression, at), await labelsOf(without, expression, at)];
        return JSON.stringify(seen) === JSON.stringify(expected);
      });
    }
  },
  180_000,
);

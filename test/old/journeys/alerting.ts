import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { alertRules } from '../../deploy/prometheus/groups.ts';
import { remedyOf } from '../../deploy/prometheus/runbooks.ts';
import type { WrittenGroup } from '../../deploy/prometheus/template.ts';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { freePort, servedPort } from '../support/listening.ts';
import { works } from '../support/machine.ts';
import { temporaryDirectory } from '../support/program.ts';
import { type Prometheus, runPrometheus } from '../support/prometheus.ts';
import { until } from '../support/until.ts';

/** Whether Alertmanager is installed; Debian has it under a name of its own. */
export const alertmanagerProgram: string | undefined = ['prometheus-alertmanager', 'alertmanager'].find((name) =>
  works(name, '--version'),
);

/** An alert as Alertmanager hands it to a receiver. */
export interface ReceivedAlert {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A Prometheus that scrapes an exporter by rules, with an Alertmanager, and who is told in the end. */
export interface Alerting {
  readonly prometheus: Prometheus;
  /** All that arrived, oldest first. */
  readonly received: readonly ReceivedAlert[];
}

/**
 * Starts all of it for one test. `rules`: the text of a rule file, of which every group is evaluated each second;
 * `job`: the name of the scrape job; `options`: of Prometheus.
 */
export async function startAlerting(
  exporter: string,
  rules: string,
  job = 'any-name',
  ...options: readonly string[]
): Promise<Alerting> {
  const folder = temporaryDirectory();
  const received: ReceivedAlert[] = [];
  const webhook = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    received.push(...(JSON.parse(text) as { readonly alerts: readonly ReceivedAlert[] }).alerts);
    response.end();
  });
  const alertmanager = await startAlertmanager(
    folder,
    stringify({
      route: {
        receiver: 'test',
        group_by: ['alertname'],
        group_wait: '0s',
        group_interval: '1s',
        repeat_interval: '1h',
      },
      receivers: [
        {
          name: 'test',
          webhook_configs: [{ url: `http://127.0.0.1:${await servedPort(webhook)}`, send_resolved: true }],
        },
      ],
    }),
  );
  const { groups } = parse(rules) as { readonly groups: readonly WrittenGroup[] };
  const everySecond = { groups: groups.map((group) => ({ ...group, interval: '1s' })) };
  writeFileSync(join(folder, 'filer-exporter.rules.yml'), stringify(everySecond));
  const prometheus = await runPrometheus(
    folder,
    stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: ['filer-exporter.rules.yml'],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
      scrape_configs: [{ job_name: job, static_configs: [{ targets: [new URL(exporter).host] }] }],
    }),
    ...options,
  );
  onTestFinished(() => ended(prometheus.child));
  return { prometheus, received };
}

/** Starts an Alertmanager with this configuration for one test; gives its address. */
export async function startAlertmanager(folder: string, config: string): Promise<string> {
  const file = join(folder, 'alertmanager.yml');
  writeFileSync(file, config);
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    alertmanagerProgram ?? '',
    [
      ...[`--config.file=${file}`, `--storage.path=${join(folder, 'alertmanager')}`],
      ...[`--web.listen-address=${address}`, '--cluster.listen-address='],
    ],
    { stdio: 'ignore' },
  );
  onTestFinished(() => ended(child));
  await until('Alertmanager to be ready', async () => (await fetch(`http://${address}/-/ready`)).ok);
  return address;
}

/** Rules as they are shipped, but that this alert waits a second, and ends with its cause. */
export function hastened(rules: string, alert: string = OUTAGE): string {
  const { groups } = parse(rules) as { readonly groups: readonly WrittenGroup[] };
  const quick = groups.map((group) => ({
    name: group.name,
    rules: group.rules.map((rule) =>
      'alert' in rule && rule.alert === alert ? { ...rule, for: '1s', keep_firing_for: '0s' } : rule,
    ),
  }));
  return stringify({ groups: quick });
}

/** The alert that an outage of the portal raises. */
const OUTAGE = 'FilerApiDown';

/**
 * Causes an outage of the portal, waits until the alert that the runbook describes has arrived with its words, ends the outage,
 * and waits until the alert has arrived as resolved. Gives it as it came first.
 */
export async function outageArrives(alerting: Alerting, mocks: MockServices): Promise<ReceivedAlert> {
  let seen = alerting.received.length;
  const arrival = (status: ReceivedAlert['status']) =>
    until(`${OUTAGE} to arrive as ${status}`, () => {
      const next = alerting.received[seen];
      if (next === undefined) return undefined;
      seen += 1;
      return next.labels.alertname === OUTAGE && next.status === status ? next : undefined;
    });
  const mend = mocks.fail({ operation: /^(?!data$)/, kind: 'status', status: 503 });
  onTestFinished(mend);
  const firing = await arrival('firing');
  expect(firing.labels).toMatchObject({ api: 'portal', severity: 'critical' });
  const rule = alertRules.find(({ alert }) => alert === OUTAGE);
  if (rule === undefined) throw new Error(`no rule is called ${OUTAGE}`);
  expect(firing.annotations).toMatchObject({
    summary: 'A service cannot be polled.',
    description: expect.stringContaining(
      `filer-exporter at ${firing.labels.instance} cannot poll the portal service (server_error).`,
    ),
    runbook: remedyOf(rule).replaceAll('{{ $labels.api }}', 'portal'),
  });
  mend();
  await arrival('resolved');
  return firing;
}

/** The names of the rules that Prometheus has loaded, once it has evaluated each without an error. */
export async function healthyRules({ prometheus }: Pick<Alerting, 'prometheus'>): Promise<readonly string[]> {
  interface Loaded {
    readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
  }
  return until('every rule to be evaluated', async () => {
    const rules = (await prometheus.ask<Loaded>('rules')).groups.flatMap((group) => group.rules);
    return rules.length > 0 && rules.every(({ health }) => health === 'ok') && rules.map(({ name }) => name);
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await closed;
}

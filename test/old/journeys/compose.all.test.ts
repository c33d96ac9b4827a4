import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { render } from '../../deploy/prometheus/render.ts';
import { template } from '../../deploy/prometheus/template.ts';
import { works } from '../support/machine.ts';
import { until } from '../support/until.ts';
import { hastened, type ReceivedAlert } from './alerting.ts';
import { bases, Containers } from './containers.ts';
import { blockOf } from './pages.ts';

/*
 * A check before a release: the demo of docs/install/containers.md with Compose, from the page's own block, on the ports of the page,
 * up to the alert about the appliance that is off on purpose. `docker compose` is podman-compose; the images of Prometheus and
 * Alertmanager are put together from the programs of this machine. What is not real: Grafana, whose program cannot be had
 * here, and that Prometheus waits for a healthy exporter, which podman-compose does not do.
 */

const COMPOSE = 'deploy/compose/compose.yaml';
const RULES = 'deploy/prometheus/filer-exporter.rules.yml';
const ALERT = 'FilerNotCheckingIn';

/** What is in the place of an image of the Compose file. */
const PROGRAMS = [
  { name: 'prometheus', program: '/usr/bin/prometheus', further: [] },
  {
    name: 'alertmanager',
    program: '/usr/bin/prometheus-alertmanager',
    further: ['/usr/share/prometheus/alertmanager'],
  },
] as const;

interface Rules {
  readonly data: { readonly groups: readonly { readonly rules: readonly { readonly health: string }[] }[] };
}

const canRun = bases !== undefined && works('podman-compose', '--version');

describe.runIf(canRun)('the demo with Compose', () => {
  let containers: Containers;

  beforeAll(() => {
    containers = new Containers();
    const { services } = parse(readFileSync(join(containers.clone, COMPOSE), 'utf8'), { merge: true });
    for (const { name, program, further } of PROGRAMS) {
      const context = join(containers.folder, name);
      mkdirSync(join(context, 'data'), { recursive: true });
      for (const path of [program, ...further])
        containers.run(`mkdir -p ${context}/root && cp -rL --parents ${path} ${context}/root`);
      const lines = [
        ...['FROM localhost/base/runtime:1', 'COPY root /', `COPY --chown=65534:65534 data /${name}`],
        ...['USER 65534', `WORKDIR /${name}`, `ENTRYPOINT ["${program}"]`],
      ];
      writeFileSync(join(context, 'Dockerfile'), lines.join('\n'));
      containers.run(
        `podman build --isolation chroot --pull=never --format docker -t ${services[name].image} ${context}`,
      );
    }
    // Only how long this alert waits is other than shipped.
    const rules = join(containers.clone, RULES);
    writeFileSync(rules, hastened(readFileSync(rules, 'utf8'), ALERT));
  });

  afterAll(() => {
    // As podman-compose calls it, which takes the folder's name.
    containers?.run('podman rm --all --force --time 0; podman network rm --force compose_default');
    containers?.remove();
  });

  test('serves, is scraped by every rule, and its failing appliance arrives at Alertmanager', async () => {
    const { text } = blockOf('docs/install/containers.md, The demo with Compose, 1');
    const up = containers.start(`export SERVICES='exporter ${PROGRAMS.map(({ name }) => name).join(' ')}'\n${text}`);
    try {
      const ask = async <Answer>(address: string) =>
        (await fetch(`http://127.0.0.1:${address}`)).json() as Promise<Answer>;
      const healthy = await until(
        'every rule to be healthy',
        async () => {
          const { data } = await ask<Rules>('9090/api/v1/rules');
          const rules = data.groups.flatMap((group) => group.rules);
          return rules.length > 0 && rules.every(({ health }) => health === 'ok') && rules;
        },
        240_000,
      );
      expect(healthy).toHaveLength(render(template).flatMap(({ rules }) => rules).length);
      const alert = await until(
        `${ALERT} to arrive`,
        async () => {
          const alerts = await ask<readonly Pick<ReceivedAlert, 'labels'>[]>('9093/api/v2/alerts');
          return alerts.find(({ labels }) => labels.alertname === ALERT);
        },
        120_000,
      );
      expect(alert.labels).toMatchObject({ job: 'filer-exporter', severity: 'critical' });
    } finally {
      up.kill('SIGTERM');
    }
  }, 400_000);
});

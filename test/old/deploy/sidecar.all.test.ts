// Only here: a pod whose containers do not find each other.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { start, temporaryDirectory } from '../support/program.ts';
import { hasPrometheus, startPrometheus } from '../support/prometheus.ts';
import { until } from '../support/until.ts';
import { environmentOf, exporterIn, type Manifest } from './kubernetes/manifest.ts';
import { hasKubectl, renderOverlay } from './kubernetes/render.ts';

/*
 * The pod of the sidecar overlay, as processes that share this machine's loopback as its containers share the pod's: the
 * exporter with exactly the environment that the manifest gives it, and a real Prometheus with the job that its ConfigMap
 * holds. Changed are only what a test cannot have: where the services are, where files are, and the port.
 */

const HOME = '/run/secrets/filer-exporter';

test.runIf(hasKubectl && hasPrometheus)(
  'beside Prometheus in one pod, the exporter is a healthy target, and has its secrets from files alone',
  async () => {
    const manifests = renderOverlay(join('deploy', 'kubernetes', 'overlays', 'sidecar'));
    const mocks = await startMockServices({ clock: systemClock, appliances: 3, volumes: 2 });
    onTestFinished(() => mocks.close());
    const { gfaToken, serviceKey, serviceSecret } = mocks.credentials;

    const secrets = temporaryDirectory();
    const files = { 'gfa-token': gfaToken, 'portal-service-key': serviceKey, 'portal-service-secret': serviceSecret };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(secrets, name), `${text}\n`, { mode: 0o440 });

    const container = exporterIn(manifests);
    expect(container.volumeMounts).toEqual([{ name: 'filer-exporter-secrets', mountPath: HOME, readOnly: true }]);
    const given = { ...dataOf(manifests, 'filer-exporter'), ...environmentOf(container) };
    expect(given.LISTEN_ADDRESS).toBe('127.0.0.1:9989');
    const environment = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace(HOME, secrets)]),
    );
    const program = start([], {
      environment: {
        ...environment,
        // What the overlay of whoever takes it adds.
        GFA_URL: mocks.gfaUrl,
        GFA_TOKEN_FILE: join(secrets, 'gfa-token'),
        PORTAL_URL: mocks.portalUrl,
        PORTAL_SERVICE_KEY_FILE: join(secrets, 'portal-service-key'),
        PORTAL_SERVICE_SECRET_FILE: join(secrets, 'portal-service-secret'),
        LISTEN_ADDRESS: '127.0.0.1:0',
      },
    });
    const address = new URL(await program.serving()).host;
    const inside = readFileSync(`/proc/${program.child.pid}/environ`, 'utf8');
    expect(Object.values(files).filter((secret) => inside.includes(secret))).toEqual([]);

    const { scrape_configs } = parse(dataOf(manifests, 'prometheus')['prometheus.yml'] ?? '');
    const jobs = Object.fromEntries(
      scrape_configs.map((job: { job_name: string; static_configs: [{ targets: [string] }] }) => {
        const [{ targets }] = job.static_configs;
        return [job.job_name, targets[0].replace(given.LISTEN_ADDRESS ?? '', address)];
      }),
    );
    expect(jobs).toEqual({ 'filer-exporter': address });
    const prometheus = await startPrometheus(temporaryDirectory(), jobs);
    onTestFinished(async () => {
      prometheus.child.kill('SIGKILL');
      await new Promise((resolve) => prometheus.child.once('close', resolve));
    });
    const [target] = await until('a healthy target', async () => {
      const targets = await prometheus.targets();
      return targets.length === 1 && targets[0]?.health === 'up' && targets;
    });
    expect(target).toMatchObject({ health: 'up', lastError: '' });
    await until('both services and every appliance, as Prometheus has them', async () => {
      const [services] = await prometheus.query('sum(filer_api_up{job="filer-exporter"})');
      const [appliances] = await prometheus.query('sum(filer_appliance_up{job="filer-exporter"})');
      return services?.value[1] === '2' && appliances?.value[1] === '3';
    });
  },
);

/** The data of the only ConfigMap whose name begins so. */
function dataOf(manifests: readonly Manifest[], name: string): Readonly<Record<string, string>> {
  const found = manifests.filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith(`${name}-`));
  expect(found).toHaveLength(1);
  return found[0]?.data ?? {};
}

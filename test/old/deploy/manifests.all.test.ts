// Only here: manifests that Kubernetes would reject.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { services } from '../../src/services/services.ts';
import { loadConfig } from '../support/load-config.ts';
import { environmentOf, exporterIn, type Manifest, podSpecOf } from './kubernetes/manifest.ts';
import { schemaFaults, typeFaults } from './kubernetes/models.ts';
import { chart, hasKubectl, overlays, renderAll, renderChart, runHelm, valueSets } from './kubernetes/render.ts';

/**
 * What the restricted Pod Security Standard asks of each container, by itself or by its pod. Source:
 * https://kubernetes.io/docs/concepts/security/pod-security-standards/
 */
const RESTRICTED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** What may be set in addition to that. */
const ALLOWED = ['fsGroup', 'fsGroupChangePolicy', 'readOnlyRootFilesystem', 'runAsGroup', 'runAsUser'];
const VOLUMES = ['configMap', 'emptyDir', 'persistentVolumeClaim', 'secret'];

/**
 * Which Kubernetes minors serve the APIs that our manifests use: the three newest as of November 2026. Sources:
 * `api/discovery/apis.json` of https://github.com/kubernetes/kubernetes, which lists what a release serves, and rule 4a of
 * https://kubernetes.io/docs/reference/using-api/deprecation-policy/, by which a version that is stable stays for as long
 * as Kubernetes is at 1.
 */
const servedApis: Readonly<Record<string, readonly string[]>> = {
  v1: ['1.35', '1.36', '1.37'],
  'apps/v1': ['1.35', '1.36', '1.37'],
  'batch/v1': ['1.35', '1.36', '1.37'],
  'networking.k8s.io/v1': ['1.35', '1.36', '1.37'],
  'policy/v1': ['1.35', '1.36', '1.37'],
};

/** The minors that manifests must work on. */
const newestMinors: readonly string[] = ['1.35', '1.36', '1.37'];

/** APIs that the cluster itself does not bring: the Prometheus operator's, unchanged since its version 0.39. */
const operatorApis: readonly string[] = ['monitoring.coreos.com/v1'];

/*
 * Every value set of the chart and every overlay, held against all that Kubernetes would hold against them. Where kubectl
 * is not installed the overlays are skipped, unless REQUIRE_KUBECTL is set: then that is a failure.
 */

const rendered = renderAll();
const each = Object.entries(rendered);

test.runIf(process.env.REQUIRE_KUBECTL)('kubectl is installed, as REQUIRE_KUBECTL asks', () => {
  expect(hasKubectl).toBe(true);
});

test('there are value sets and overlays', () => {
  expect(valueSets.length).toBeGreaterThan(6);
  expect(overlays).toEqual(['plain', 'prometheus-operator', 'sharded', 'sidecar']);
});

test.each(valueSets)('Helm finds no fault in the chart with %s', (path) => {
  const { status, stdout, stderr } = runHelm('lint', '--strict', chart, '--values', path);
  expect({
    status,
    lines: `${stdout}${stderr}`.split('\n').filter((line) => /^\[(?:WARNING|ERROR)\]/.test(line)),
  }).toEqual({
    status: 0,
    lines: [],
  });
});

describe.each(each)('%s', (name, manifests) => {
  test('has the types, enumerations and mandatory fields of Kubernetes', async () => {
    expect(schemaFaults(manifests)).toEqual([]);
  });

  test('keeps to the restricted Pod Security Standard, the test of the chart too, and asks nothing of its node', () => {
    for (const pod of manifests.flatMap((manifest) => podSpecOf(manifest) ?? [])) {
      for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
        const settings = Object.entries({ ...pod.securityContext, ...container.securityContext });
        expect(Object.fromEntries(settings.filter(([name]) => !ALLOWED.includes(name)))).toEqual(RESTRICTED);
        expect(settings).not.toContainEqual(['runAsUser', 0]);
      }
      const sources = (pod.volumes ?? []).flatMap(({ name: _, ...source }) => Object.keys(source));
      expect(VOLUMES).toEqual(expect.arrayContaining(sources));
      expect(JSON.stringify(pod)).not.toMatch(/"host(?:Network|PID|IPC|Port)"/);
    }
  });

  test('uses APIs that the three newest minors serve', () => {
    const unserved = manifests
      .map(({ apiVersion }) => apiVersion)
      .filter((api) => !operatorApis.includes(api))
      .filter((api) => !newestMinors.every((minor) => servedApis[api]?.includes(minor)));
    expect(unserved).toEqual([]);
  });

  test('mounts what there is: every mount has a volume, every volume and every selector something to find', () => {
    for (const manifest of manifests) {
      const pod = podSpecOf(manifest);
      if (pod === undefined) continue;
      const claims = (manifest.spec?.volumeClaimTemplates ?? []) as readonly { metadata: { name: string } }[];
      const volumes = [...(pod.volumes ?? []).map(({ name }) => name), ...claims.map(({ metadata }) => metadata.name)];
      const mounts = pod.containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name));
      expect(new Set(mounts)).toEqual(new Set(volumes));
    }
    const labels = manifests
      .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
      .map(({ spec }) => (spec?.template as Manifest | undefined)?.metadata.labels);
    for (const { spec } of manifests.filter(({ kind }) => kind === 'Service')) {
      expect(labels).toContainEqual(expect.objectContaining({ ...(spec?.selector as object | undefined) }));
    }
  });

  test('gives the exporter an environment that it starts with', () => {
    const container = exporterIn(manifests);
    const settings = manifests.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && /^filer-exporter-\w{10}$/.test(metadata.name),
    );
    const environment: Record<string, string> = { ...settings?.data, ...environmentOf(container) };
    if (environment.SHARD !== undefined) environment.SHARD = 'filer-exporter-2';
    // The demo asks nobody, and an overlay leaves the services to the overlay that takes it.
    if (container.args?.includes('--demo') || name.startsWith('overlay ')) {
      Object.assign(environment, { GFA_URL: 'http://127.0.0.1/v1', GFA_TOKEN: 'made-up' });
    }
    const read = [environment.WEB_CONFIG_FILE, environment.STATE_FILE].filter((path) => path !== undefined);
    const config = loadConfig({
      environment,
      readFile: (path) => {
        if (path === '.env') throw Object.assign(new Error('none'), { code: 'ENOENT' });
        read.push(path);
        return 'made-up\n';
      },
      services: services.map(({ section }) => section),
    });
    expect(config.services.size).toBeGreaterThan(0);
    const mounts = container.volumeMounts?.map(({ mountPath }) => mountPath) ?? [];
    expect(read.filter((path) => !mounts.some((mount) => path.startsWith(`${mount}/`)))).toEqual([]);
  });
});

test('no object has a field that Kubernetes does not know', () => {
  expect(typeFaults(rendered)).toEqual([]);
});

describe('the checks themselves', () => {
  const good = renderChart('--values', join(chart, 'ci', 'sharded-values.yaml'));
  const workload = good.find(({ kind }) => kind === 'StatefulSet') as Manifest;
  const changed = (change: (copy: never) => void) => {
    const copy = structuredClone(workload);
    change(copy as never);
    return copy;
  };

  test('see a field that does not exist, and a value of the wrong type', async () => {
    const misspelt = changed(({ spec }: { spec: { template: { spec: Record<string, unknown> } } }) => {
      spec.template.spec.nodeSelecter = {};
    });
    expect(schemaFaults([misspelt])).toEqual([]);
    expect(typeFaults({ misspelt: [misspelt] })).toEqual([expect.stringContaining('nodeSelecter')]);
    const wrong = changed(({ spec }: { spec: Record<string, unknown> }) => {
      spec.replicas = 'three';
    });
    expect(schemaFaults([wrong])).toEqual([expect.stringContaining('/spec/replicas must be integer')]);
  });
});

// Only here: manifests that Kubernetes would reject.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { services } from '../../src/services/services.ts';
import { loadConfig } from '../support/load-config.ts';
import {
  type Container,
  environmentOf,
  exporterIn,
  type Manifest,
  type PodSpec,
  podSpecOf,
  type Tree,
} from './kubernetes/manifest.ts';
import { schemaFaults, typeFaults } from './kubernetes/models.ts';
import { chart, hasKubectl, overlays, renderAll, renderChart, runHelm, valueSets } from './kubernetes/render.ts';

/*
 * The restricted Pod Security Standard, field by field, as of Kubernetes 1.37. It holds all of the baseline one. Source:
 * https://kubernetes.io/docs/concepts/security/pod-security-standards/
 */

const VOLUMES = [
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret'],
];
const PROFILES = ['RuntimeDefault', 'Localhost'];

/** What in a pod the restricted standard forbids, one line each. */
function restrictedFaults(pod: PodSpec): readonly string[] {
  const context = pod.securityContext ?? {};
  const containers = [...(pod.initContainers ?? []), ...pod.containers];
  return [
    ...['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => pod[field]).map((field) => `${field} is on`),
    ...(pod.volumes ?? []).flatMap(volumeFaults),
    ...((context.sysctls as readonly unknown[] | undefined) ?? []).map(() => 'sysctls are set'),
    ...containers.flatMap((container) =>
      containerFaults(container, context).map((line) => `${container.name}: ${line}`),
    ),
  ];
}

function volumeFaults({ name, ...source }: { readonly name: string } & Tree): readonly string[] {
  return Object.keys(source)
    .filter((kind) => !VOLUMES.includes(kind))
    .map((kind) => `volume ${name} is a ${kind}`);
}

function containerFaults(container: Container, pod: Tree): readonly string[] {
  const own = container.securityContext ?? {};
  const counts = (field: string) => own[field] ?? pod[field];
  const capabilities = (own.capabilities ?? {}) as {
    readonly add?: readonly string[];
    readonly drop?: readonly string[];
  };
  const profile = (counts('seccompProfile') as { readonly type?: string } | undefined)?.type ?? 'none';
  const ports = (container.ports ?? []) as readonly { readonly hostPort?: number }[];
  const probes = [container.livenessProbe, container.readinessProbe];
  const faults: readonly (readonly [wrong: boolean, line: string])[] = [
    [own.privileged === true, 'is privileged'],
    [own.allowPrivilegeEscalation !== false, 'allowPrivilegeEscalation is not false'],
    [counts('runAsNonRoot') !== true, 'runAsNonRoot is not true'],
    [counts('runAsUser') === 0, 'runAsUser is 0'],
    [!capabilities.drop?.includes('ALL'), 'capabilities does not drop ALL'],
    [
      (capabilities.add ?? []).some((name) => name !== 'NET_BIND_SERVICE'),
      'capabilities adds more than NET_BIND_SERVICE',
    ],
    [!PROFILES.includes(profile), `seccompProfile is ${profile}`],
    [!['Default', undefined].includes(own.procMount as string | undefined), 'procMount is not Default'],
    [ports.some(({ hostPort }) => hostPort !== undefined), 'a port is a port of the host'],
    [probes.some((probe) => (probe?.httpGet as Tree | undefined)?.host !== undefined), 'a probe names a host'],
    [own.seLinuxOptions !== undefined || own.appArmorProfile !== undefined, 'SELinux or AppArmor are set by hand'],
  ];
  return faults.filter(([wrong]) => wrong).map(([, line]) => line);
}

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

  test('keeps to the restricted Pod Security Standard, the test of the chart too', () => {
    const faults = manifests.flatMap((manifest) => {
      const pod = podSpecOf(manifest);
      return pod === undefined ? [] : restrictedFaults(pod);
    });
    expect(faults).toEqual([]);
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

  test('see each thing that the restricted standard forbids', () => {
    const pod = podSpecOf(workload);
    const [container] = pod?.containers ?? [];
    if (pod === undefined || container === undefined) throw new Error('expected a pod');
    const own = container.securityContext;
    const withOwn = (change: object) =>
      restrictedFaults({ ...pod, containers: [{ ...container, securityContext: { ...own, ...change } }] });
    expect(withOwn({ privileged: true })).toEqual(['filer-exporter: is privileged']);
    expect(withOwn({ allowPrivilegeEscalation: undefined })).toHaveLength(1);
    expect(withOwn({ capabilities: {} })).toHaveLength(1);
    expect(withOwn({ capabilities: { drop: ['ALL'], add: ['SYS_TIME'] } })).toHaveLength(1);
    expect(withOwn({ runAsUser: 0 })).toHaveLength(1);
    expect(withOwn({ seccompProfile: { type: 'Unconfined' } })).toHaveLength(1);
    expect(restrictedFaults({ ...pod, securityContext: {} })).toHaveLength(2);
    expect(restrictedFaults({ ...pod, hostNetwork: true })).toEqual(['hostNetwork is on']);
    expect(restrictedFaults({ ...pod, volumes: [{ name: 'v', hostPath: { path: '/' } }] })).toEqual([
      'volume v is a hostPath',
    ]);
  });
});

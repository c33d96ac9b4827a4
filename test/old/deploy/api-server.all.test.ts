import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type ApiServer, apiServerBinary, operatorDefinitions, startApiServer } from './kubernetes/api-server.ts';
import type { Manifest } from './kubernetes/manifest.ts';
import { renderAll } from './kubernetes/render.ts';

/*
 * A check before a release: a real API server takes every manifest that it knows the kind of. KUBE_APISERVER names its
 * binary, which deploy/kubernetes/build-api-server.sh builds; etcd and kubectl are needed too. It is Kubernetes 1.20, so it
 * knows no policy/v1, which is handed in as the v1beta1 that it was. OPERATOR_CRDS names a folder with the resource
 * definitions of the Prometheus operator; without it nothing of the operator is handed in.
 */

const rendered = apiServerBinary === undefined ? {} : renderAll();

describe.runIf(apiServerBinary)('a real API server', () => {
  let server: ApiServer;

  beforeAll(async () => {
    server = await startApiServer(['monitoring', 'grafana', 'filers']);
  });

  afterAll(() => server?.stop());

  const submit = (manifests: readonly Manifest[]) =>
    server.kubectl(
      ['apply', '--dry-run=server', '--validate=strict', '--filename', '-'],
      manifests.map((manifest) => stringify(inNamespace(manifest))).join('---\n'),
    );

  test.each(Object.entries(rendered))('takes every manifest of %s', (_, manifests) => {
    const known = manifests
      .filter(({ apiVersion }) => operatorDefinitions !== undefined || !apiVersion.startsWith('monitoring.coreos.com/'))
      .map((manifest) =>
        manifest.apiVersion === 'policy/v1' ? { ...manifest, apiVersion: 'policy/v1beta1' } : manifest,
      );
    const { status, stdout, stderr } = submit(known);
    expect({ status, stderr: stderr.replaceAll(/^Warning: .*\n/gm, '') }).toEqual({ status: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toHaveLength(known.length);
  });

  test('would refuse a field that it does not know, and a value of the wrong type', () => {
    const [service] = Object.values(rendered)[0]?.filter(({ kind }) => kind === 'Service') ?? [];
    if (service === undefined) throw new Error('expected a Service');
    expect(submit([{ ...service, spec: { ...service.spec, selecter: {} } }]).stderr).toContain('selecter');
    expect(submit([{ ...service, spec: { ...service.spec, ports: 'metrics' } }]).status).toBe(1);
  });

  test.runIf(operatorDefinitions)('would refuse a PrometheusRule with a field that the operator does not know', () => {
    const rule = Object.values(rendered)
      .flat()
      .find(({ kind }) => kind === 'PrometheusRule');
    if (rule === undefined) throw new Error('expected a PrometheusRule');
    expect(submit([{ ...rule, spec: { ...rule.spec, group: [] } }]).stderr).toContain('group');
    expect(submit([{ ...rule, spec: { groups: [{ name: 'x', rules: [{ alert: 'A' }] }] } }]).status).toBe(1);
  });
});

/** The object in the namespace of the release, where it names none itself: as Helm installs it. */
function inNamespace(manifest: Manifest): Manifest {
  return { ...manifest, metadata: { namespace: 'monitoring', ...manifest.metadata } };
}

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { until } from '../support/until.ts';
import type { Manifest } from './kubernetes/manifest.ts';
import { renderAll } from './kubernetes/render.ts';

/*
 * A check before a release: a real API server takes every manifest that it knows the kind of. KUBE_APISERVER names its
 * binary, which deploy/kubernetes/build-api-server.sh builds; etcd and kubectl are needed too. It is Kubernetes 1.20, so it
 * knows no policy/v1, which is handed in as the v1beta1 that it was, and nothing of the Prometheus operator.
 */

const binary = process.env.KUBE_APISERVER;
const rendered = binary === undefined ? {} : renderAll();

describe.runIf(binary)('a real API server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'api-server-'));
  const config = join(folder, 'kubeconfig');
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    const [etcd, peer, api] = [await freePort(), await freePort(), await freePort()];
    const start = (command: string, args: readonly string[]) => {
      const log = openSync(join(folder, `${children.length}.log`), 'w');
      children.push(spawn(command, args, { cwd: folder, stdio: ['ignore', log, log] }));
    };
    execFileSync('openssl', ['genrsa', '-out', join(folder, 'key.pem'), '2048'], { stdio: 'ignore' });
    writeFileSync(join(folder, 'tokens.csv'), 'token,admin,admin,system:masters\n');
    start('etcd', [
      ...['--data-dir', join(folder, 'etcd'), '--initial-cluster', `default=http://127.0.0.1:${peer}`],
      ...['--listen-client-urls', `http://127.0.0.1:${etcd}`, '--advertise-client-urls', `http://127.0.0.1:${etcd}`],
      ...[
        '--listen-peer-urls',
        `http://127.0.0.1:${peer}`,
        '--initial-advertise-peer-urls',
        `http://127.0.0.1:${peer}`,
      ],
    ]);
    start(binary ?? '', [
      ...[`--etcd-servers=http://127.0.0.1:${etcd}`, '--bind-address=127.0.0.1', `--secure-port=${api}`],
      ...[`--cert-dir=${join(folder, 'certificates')}`, `--token-auth-file=${join(folder, 'tokens.csv')}`],
      ...['--authorization-mode=RBAC', '--service-account-issuer=https://kubernetes.default.svc'],
      ...[`--service-account-key-file=${join(folder, 'key.pem')}`],
      ...[`--service-account-signing-key-file=${join(folder, 'key.pem')}`],
      ...['--service-cluster-ip-range=10.0.0.0/24', '--disable-admission-plugins=ServiceAccount'],
    ]);
    const cluster = { server: `https://127.0.0.1:${api}`, 'insecure-skip-tls-verify': true };
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token: 'token' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    writeFileSync(config, stringify(kubeconfig));
    await until('the API server to be ready', () => kubectl(['get', '--raw', '/readyz']).status === 0, 60_000);
    for (const name of ['monitoring', 'grafana']) expect(kubectl(['create', 'namespace', name]).status).toBe(0);
  }, 90_000);

  afterAll(async () => {
    for (const child of children.toReversed()) {
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
    }
    rmSync(folder, { recursive: true, force: true });
  });

  const kubectl = (args: readonly string[], input = '') =>
    spawnSync('kubectl', ['--kubeconfig', config, ...args], { input, encoding: 'utf8' });
  const submit = (manifests: readonly Manifest[]) =>
    kubectl(
      ['apply', '--dry-run=server', '--validate=strict', '--filename', '-'],
      manifests.map((manifest) => stringify(inNamespace(manifest))).join('---\n'),
    );

  test.each(Object.entries(rendered))('takes every manifest of %s', (_, manifests) => {
    const known = manifests
      .filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com/'))
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
});

/** The object in the namespace of the release, where it names none itself: as Helm installs it. */
function inNamespace(manifest: Manifest): Manifest {
  return { ...manifest, metadata: { namespace: 'monitoring', ...manifest.metadata } };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

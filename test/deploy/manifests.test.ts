import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { hasTool, isInstalled, run, runAsync } from '../harness/tools.ts';
import { manifestsOf, podOf } from './helm.ts';

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));

// Debian has no kubectl that knows kustomize, so nothing requires it.
describe.runIf(isInstalled('kubectl'))('kustomize', () => {
  test('the base is one hardened exporter that only Prometheus reaches', () => {
    const { status, output } = run('kubectl', ['kustomize', join(deploy, 'kubernetes/base')]);
    expect({ status, output }).toMatchObject({ status: 0 });
    const manifests = manifestsOf(output);
    const pod = podOf(manifests);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(pod.containers[0]?.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
    expect(manifests.find(({ kind }) => kind === 'NetworkPolicy')?.spec).toMatchObject({
      podSelector: { matchLabels: { 'app.kubernetes.io/name': 'filer-exporter' } },
      policyTypes: ['Ingress', 'Egress'],
    });
  });

  test('the example has the exporter as a sidecar that nobody outside of the pod reaches', () => {
    const { status, output } = run('kubectl', ['kustomize', join(deploy, 'kubernetes/sidecar')]);
    expect({ status, output }).toMatchObject({ status: 0 });
    const exporter = podOf(manifestsOf(output)).containers.find(({ image }) => image.startsWith('filer-exporter'));
    expect(exporter?.env).toContainEqual({ name: 'LISTEN_ADDRESS', value: '127.0.0.1:9989' });
    expect(exporter?.livenessProbe).toMatchObject({ exec: { command: ['node', 'healthcheck.mjs'] } });
  });
});

describe.runIf(hasTool('systemd-analyze'))('the systemd unit', () => {
  const unit = readFileSync(join(deploy, 'systemd/filer-exporter.service'), 'utf8');

  test('systemd knows all of it, and calls it exposed below 2.0', () => {
    const path = join(temporaryDirectory(), 'filer-exporter.service');
    // systemd looks whether there is such a program, and this machine need not have it installed.
    writeFileSync(path, unit.replace('ExecStart=filer-exporter', `ExecStart=${process.execPath}`));
    expect(run('systemd-analyze', ['verify', path])).toEqual({ status: 0, output: '' });
    const { output } = run('systemd-analyze', ['security', '--offline=true', '--no-pager', path]);
    const [, exposure] = /exposure level for filer-exporter\.service: (\d+\.\d)/.exec(output) ?? [];
    expect(Number(exposure)).toBeLessThan(2);
  });

  test('secrets neither reach the disk nor the environment, and a wrong configuration is not tried again', () => {
    expect(unit).toMatch(/^LimitCORE=0$/m);
    expect(unit).toMatch(/^MemorySwapMax=0$/m);
    expect(unit).toMatch(/^RestartPreventExitStatus=78$/m);
    const settings = parseEnv(readFileSync(join(deploy, 'systemd/filer-exporter.env'), 'utf8'));
    const secrets = Object.keys(settings).filter((name) => /TOKEN|KEY|SECRET|PASSWORD/.test(name));
    expect(secrets.length).toBeGreaterThan(2);
    expect(secrets.filter((name) => !name.endsWith('_FILE'))).toEqual([]);
  });
});

test('Compose mounts files that are there', () => {
  const compose = parse(readFileSync(join(deploy, 'compose/compose.yaml'), 'utf8')) as {
    readonly services: Readonly<Record<string, { readonly volumes?: readonly string[] }>>;
  };
  const mounted = Object.values(compose.services)
    .flatMap(({ volumes = [] }) => volumes)
    .map((volume) => volume.split(':')[0] ?? '')
    .filter((path) => path.startsWith('.'));
  expect(mounted.length).toBeGreaterThan(3);
  expect(mounted.filter((path) => !existsSync(resolve(deploy, 'compose', path)))).toEqual([]);
});

test('the health check of the image is 0 while the exporter responds, even with a rejection, and 1 otherwise', async () => {
  const script = join(deploy, 'image/healthcheck.mjs');
  const statuses = [200, 401, 500];
  const server = createServer((_, response) => response.writeHead(statuses.shift() ?? 500).end());
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const env = { LISTEN_ADDRESS: `:${(server.address() as AddressInfo).port}` };
  const health = async () => (await runAsync(process.execPath, [script], env)).status;
  expect([await health(), await health(), await health()]).toEqual([0, 0, 1]);
  await new Promise((closed) => server.close(closed));
  expect(await health()).toBe(1);
});

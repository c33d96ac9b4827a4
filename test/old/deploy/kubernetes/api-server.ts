import { type ChildProcess, execFileSync, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../../support/listening.ts';
import { until } from '../../support/until.ts';

/** Where the binary is, which deploy/kubernetes/build-api-server.sh builds; undefined where there is none to ask. */
export const apiServerBinary: string | undefined = process.env.KUBE_APISERVER;

/** A folder with the resource definitions of the Prometheus operator, for an API server that is to know its kinds. */
export const operatorDefinitions: string | undefined = process.env.OPERATOR_CRDS;

/** A real API server over a real etcd, with nothing behind it: no node, no controller. */
export interface ApiServer {
  /** The path of a kubeconfig of its administrator. */
  readonly config: string;
  kubectl(args: readonly string[], input?: string): SpawnSyncReturns<string>;
  stop(): Promise<void>;
}

/** Starts one with these namespaces; needs etcd, kubectl and openssl. */
export async function startApiServer(namespaces: readonly string[]): Promise<ApiServer> {
  const folder = mkdtempSync(join(tmpdir(), 'api-server-'));
  const config = join(folder, 'kubeconfig');
  const children: ChildProcess[] = [];
  const [etcd, peer, api] = [await freePort(), await freePort(), await freePort()];
  const start = (command: string, args: readonly string[]) => {
    const log = openSync(join(folder, `${children.length}.log`), 'w');
    children.push(spawn(command, args, { cwd: folder, stdio: ['ignore', log, log] }));
  };
  execFileSync('openssl', ['genrsa', '-out', join(folder, 'key.pem'), '2048'], { stdio: 'ignore' });
  writeFileSync(join(folder, 'tokens.csv'), 'token,admin,admin,system:masters\n');
  const peers = `http://127.0.0.1:${peer}`;
  start('etcd', [
    ...['--data-dir', join(folder, 'etcd'), '--initial-cluster', `default=${peers}`],
    ...['--listen-client-urls', `http://127.0.0.1:${etcd}`, '--advertise-client-urls', `http://127.0.0.1:${etcd}`],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
  ]);
  start(apiServerBinary ?? '', [
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
  const kubectl = (args: readonly string[], input = '') =>
    spawnSync('kubectl', ['--kubeconfig', config, ...args], { input, encoding: 'utf8' });
  const must = (...args: readonly string[]) => {
    const { status, stderr } = kubectl(args);
    if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  };
  await until('the API server to be ready', () => kubectl(['get', '--raw', '/readyz']).status === 0);
  for (const name of namespaces) must('create', 'namespace', name);
  if (operatorDefinitions !== undefined) {
    must('create', '--filename', operatorDefinitions);
    must('wait', '--for=condition=Established', '--timeout=30s', '--filename', operatorDefinitions);
  }
  return {
    config,
    kubectl,
    stop: async () => {
      for (const child of children.toReversed()) {
        child.kill('SIGKILL');
        await new Promise((resolve) => child.once('close', resolve));
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// Only here: documented commands that do not work into Kubernetes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { render } from '../../deploy/prometheus/render.ts';
import { template } from '../../deploy/prometheus/template.ts';
import { type MockServices, startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type ApiServer, apiServerBinary, startApiServer } from '../deploy/kubernetes/api-server.ts';
import { type Container, environmentOf, exporterIn, type Manifest, podSpecOf } from '../deploy/kubernetes/manifest.ts';
import { hasKubectl, helm, manifestsOf } from '../deploy/kubernetes/render.ts';
import { run, start, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';
import { type Alerting, hastened, healthyRules, outageArrives, startAlerting } from './alerting.ts';
import { canMakeMachines, Machine } from './machine.ts';

/*
 * The ways of the pages into Kubernetes, from their own code blocks. With KUBE_APISERVER (and OPERATOR_CRDS) a real API server
 * takes what they install, and it is read back from there; else Helm and kubectl write it where they would have sent it.
 * What was installed then runs: the exporter with the environment and the Secret of its pod, and its rules in a Prometheus.
 */

const APPLIED = '/srv/applied.yaml';
/** What was to be run in a pod: no node is here that could. */
const EXECUTED = '/srv/executed';
/** What was to replace an object of the cluster. */
const REPLACED = '/srv/replaced.yaml';
/** The pod whose log was asked for. */
const LOGGED = '/srv/logged.yaml';
const EXECUTES = `[ "$1" != exec ] || { echo "$*" >${EXECUTED}; exit 0; }
[ "$1" != rollout ] || exit 0
[ "$1 $2" != 'get prometheus' ] || exit 0`;
/** The doctor's report about both services where nothing is wrong. */
const SOUND = /^gfa$[\s\S]*^portal$[\s\S]*, 0 failures$/m;
const rules = render(template).flatMap((group) => group.rules);
const ruleNames = rules.map((rule) => ('alert' in rule ? rule.alert : rule.record));

/** Helm and kubectl, where there is no API server: what they would send is kept. */
const OFFLINE = {
  helm: `[ "$1" != template ] || exec '${helm}' "$@"
[ "$1 $2" = 'upgrade --install' ] || { echo "helm $*: not expected" >&2; exit 1; }
shift 2
{ echo ---; '${helm}' template "$@"; } >>${APPLIED}`,
  kubectl: `${EXECUTES}
[ "$1" != logs ] || exit 0
[ "$1" != replace ] || { cat >${REPLACED}; exit 0; }
case "$1" in
  create) { echo ---; /usr/bin/kubectl "$@" --dry-run=client --output yaml; } >>${APPLIED} ;;
  apply) { echo ---; [ "$2" = --kustomize ] && /usr/bin/kubectl kustomize "$3" || cat "$3"; } >>${APPLIED} ;;
  *) echo "kubectl $*: not expected" >&2; exit 1 ;;
esac`,
};

describe.runIf(canMakeMachines && hasKubectl)('into Kubernetes', () => {
  let machine: Machine;
  let mocks: MockServices;
  let server: ApiServer | undefined;

  beforeAll(async () => {
    mocks = await startMockServices({ clock: systemClock, appliances: 3, volumes: 2 });
    machine = await Machine.make({
      'YOUR-GFA-TOKEN': mocks.credentials.gfaToken,
      'YOUR-SERVICE-KEY': mocks.credentials.serviceKey,
      'YOUR-SERVICE-SECRET': mocks.credentials.serviceSecret,
      'https://acceleration.example.com/v1': mocks.gfaUrl,
      'https://portal.example.com': mocks.portalUrl,
    });
    await machine.follow('docs/deployment.md, Credentials, 1');
  });

  // Each way begins on a cluster that has nothing of the exporter.
  beforeEach(async () => {
    if (apiServerBinary === undefined) return;
    // The newest that can be built here is 1.20, and the chart asks for a newer one.
    await machine.run('sed -i /^kubeVersion/d deploy/helm/filer-exporter/Chart.yaml');
    const fresh = await startApiServer([]);
    server = fresh;
    onTestFinished(() => fresh.stop());
    await machine.command('helm', `export KUBECONFIG=${fresh.config}\nexec '${helm}' "$@"`);
    await machine.command(
      'kubectl',
      `${EXECUTES}
set -- --kubeconfig ${fresh.config} "$@"
case "$3" in
  logs) [[ $7 = job/* ]] || /usr/bin/kubectl "\${@:1:2}" get pod --namespace monitoring "$7" --output yaml >${LOGGED} ;;
  replace) tee ${REPLACED} | /usr/bin/kubectl "$@" ;;
  *) exec /usr/bin/kubectl "$@" ;;
esac`,
    );
  });

  afterAll(async () => {
    await machine?.remove();
    await mocks?.close();
  });

  /** Follows blocks of a page; gives what they installed. */
  const installed = async (namespace: string, ...blocks: readonly string[]): Promise<readonly Manifest[]> => {
    if (server === undefined) {
      await machine.run(`rm -f ${APPLIED}`);
      for (const [name, script] of Object.entries(OFFLINE)) await machine.command(name, script);
    }
    for (const block of blocks) await machine.follow(block);
    if (server === undefined) {
      // As in a cluster, what is installed again replaces what was there.
      const manifests = manifestsOf(await machine.read(APPLIED));
      return [
        ...new Map(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest])).values(),
      ];
    }
    const kinds = 'deployments,configmaps,secrets,services,servicemonitors,prometheusrules';
    const { stdout } = server.kubectl(['get', kinds, '--namespace', namespace, '--output', 'yaml']);
    const [list] = manifestsOf(stdout) as unknown as readonly [{ readonly items: readonly Manifest[] }];
    return list.items;
  };

  /** The environment of a pod, that of the exporter unless another one is named, with the files of its Secret. */
  const podEnvironment = (
    manifests: readonly Manifest[],
    container: Container = exporterIn(manifests),
  ): Readonly<Record<string, string>> => {
    const folder = temporaryDirectory();
    const secret = manifests.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === 'filer-exporter');
    const mounted = container.volumeMounts?.find(({ mountPath }) => mountPath.startsWith('/run/secrets'))?.mountPath;
    const home = join(folder, basename(mounted ?? ''));
    mkdirSync(home);
    for (const [name, text] of Object.entries(secret?.data ?? {})) {
      writeFileSync(join(home, name), Buffer.from(text, 'base64'), { mode: 0o440 });
    }
    const settings = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('filer-'));
    const environment = Object.fromEntries(
      Object.entries({ ...settings?.data, ...environmentOf(container) }).map(([name, value]) => [
        name,
        value.replace(mounted ?? '', home),
      ]),
    );
    const quick = { PORTAL_INTERVAL: '5s', PORTAL_DISCOVERY_INTERVAL: '10s', PORTAL_SERIES: 'cpu_utilization' };
    return { ...environment, ...quick, LISTEN_ADDRESS: '127.0.0.1:0' };
  };

  /** Starts the exporter as its pod would. */
  const running = (manifests: readonly Manifest[]): Promise<string> =>
    start([], { environment: podEnvironment(manifests) }).serving();

  /** What the doctor says in the pod of a Deployment, run as it runs there. */
  const doctorIn = async (manifests: readonly Manifest[]): Promise<string> => {
    await machine.follow('docs/quickstart-kubernetes.md, 4. Ask the doctor, 1');
    const [, name, args = ''] =
      /^exec --namespace monitoring service\/(\S+) -- node dist\/main\.js (.+)$/m.exec(await machine.read(EXECUTED)) ??
      [];
    const service = manifests.find(({ kind }) => kind === 'Service');
    expect(service?.metadata).toMatchObject({ name });
    return (await run(args.split(' '), { environment: podEnvironment(manifests) })).stdout;
  };

  /** What the doctor says as a Job, which needs no exporter that runs. */
  const doctorAsJob = async (manifests: readonly Manifest[]): Promise<string> => {
    await machine.follow('docs/quickstart-kubernetes.md, 4. Ask the doctor, 2');
    const [job] = manifestsOf(await machine.read(REPLACED));
    const [container] = job === undefined ? [] : (podSpecOf(job)?.containers ?? []);
    if (container === undefined) throw new Error('expected a Job');
    return (await run(container.args ?? [], { environment: podEnvironment(manifests, container) })).stdout;
  };

  /** What the doctor says in a copy of a pod that does not start. No controller is here that would make the pod. */
  const doctorInCopy = async (manifests: readonly Manifest[], { kubectl }: ApiServer): Promise<string> => {
    const template = manifests.find(({ kind }) => kind === 'Deployment')?.spec?.template as Manifest | undefined;
    const metadata = { ...template?.metadata, name: 'filer-exporter-1', namespace: 'monitoring' };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: template?.spec };
    expect(kubectl(['create', '--filename', '-'], stringify(pod))).toMatchObject({ stderr: '', status: 0 });
    await machine.follow('docs/install/kubernetes.md, Kustomize, 2');
    kubectl(['delete', 'pod', '--namespace', 'monitoring', 'filer-exporter-1']);
    const [copy] = manifestsOf(await machine.read(LOGGED));
    const [container] = copy === undefined ? [] : (podSpecOf(copy)?.containers ?? []);
    if (container === undefined) throw new Error('expected a Pod');
    expect(container).not.toHaveProperty('livenessProbe');
    const [, main, ...args] = container.command ?? [];
    expect(main).toBe('dist/main.js');
    return (await run(args, { environment: podEnvironment(manifests, container) })).stdout;
  };

  /** Nothing is left of what was installed into a namespace. */
  const expectRemoved = async (block: string, { kubectl }: ApiServer) => {
    await machine.follow(block);
    const kinds = 'all,configmaps,secrets,serviceaccounts,networkpolicies,servicemonitors,prometheusrules';
    expect(kubectl(['get', kinds, '--namespace', 'monitoring', '--output', 'name']).stdout).toBe('');
  };

  /** A Prometheus with the rules that were installed; its job is called as the operator calls it. */
  const watched = async (manifests: readonly Manifest[], services: number): Promise<Alerting> => {
    const rule = manifests.find(({ kind }) => kind === 'PrometheusRule');
    expect(manifests.filter(({ kind }) => kind === 'ServiceMonitor')).toHaveLength(1);
    const address = await running(manifests);
    const service = manifests.find(({ kind }) => kind === 'Service')?.metadata.name ?? '';
    const alerting = await startAlerting(address, hastened(stringify({ groups: rule?.spec?.groups })), service);
    expect(new Set(await healthyRules(alerting))).toEqual(new Set(ruleNames));
    const isUp = async () => (await alerting.prometheus.query('filer_api_up == 1')).length === services;
    await until('the services to be up', isUp);
    // As soon as it is scraped, whatever its job is called.
    const about = 'ALERTS{alertname=~"FilerExporter(Absent|Down)"}';
    await until('no alert about the exporter', async () => (await alerting.prometheus.query(about)).length === 0);
    return alerting;
  };

  test('Helm as in the quick start: both services are up, and an outage of the portal arrives and resolves', async () => {
    const manifests = await installed(
      'monitoring',
      'docs/quickstart-kubernetes.md, 2. Write the credentials, 1',
      'docs/quickstart-kubernetes.md, 3. Install, 1',
      'docs/quickstart-kubernetes.md, 6. Let Prometheus scrape it, 1',
      'docs/quickstart-kubernetes.md, 6. Let Prometheus scrape it, 2',
    );
    expect(await doctorIn(manifests)).toMatch(SOUND);
    expect(await doctorAsJob(manifests)).toMatch(SOUND);
    await outageArrives(await watched(manifests, 2), mocks);
    if (server === undefined) return;
    await machine.run('helm rollback filer-exporter --namespace monitoring');
    await expectRemoved('docs/quickstart-kubernetes.md, Remove it, 1', server);
  });

  test('Helm as in the README of the chart: an outage of the portal arrives with a link, and resolves', async () => {
    const demo = await installed('default', 'deploy/helm/filer-exporter/README.md, Helm chart filer-exporter, 1');
    expect(exporterIn(demo).args).toEqual(['--demo']);
    const manifests = await installed('default', 'deploy/helm/filer-exporter/README.md, Helm chart filer-exporter, 2');
    // One service alone.
    const alerting = await watched(manifests, 1);
    expect((await outageArrives(alerting, mocks)).annotations.runbook_url).toMatch(
      /^https:\/\/grafana\.example\.com\/d\/filer-runbooks\/exporter\.md\?viewPanel=\d+#filerapidown$/,
    );
  });

  test('kustomize as in docs/install: both services are up, and an outage of the portal arrives and resolves', async () => {
    const manifests = await installed(
      'monitoring',
      'docs/install/kubernetes.md, Kustomize, 1',
      'docs/install/kubernetes.md, Upgrade, 1',
    );
    expect(exporterIn(manifests).image).toBe('registry.example.com/filer-exporter:1.0.0');
    expect(await doctorIn(manifests)).toMatch(SOUND);
    await outageArrives(await watched(manifests, 2), mocks);
    if (server === undefined) return;
    expect(await doctorInCopy(manifests, server)).toMatch(SOUND);
    await expectRemoved('docs/install/kubernetes.md, Remove, 1', server);
  });
});

test.runIf(process.env.REQUIRE_NAMESPACES && process.env.REQUIRE_KUBECTL)('kubectl is there for the journeys', () => {
  expect(canMakeMachines && hasKubectl).toBe(true);
});

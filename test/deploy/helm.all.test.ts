// Only here: values of the chart that render wrongly.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { root, temporaryDirectory } from '../support/program.ts';
import { defaultOf } from '../support/variables.ts';
import { environmentOf, exporterIn, type Manifest, podSpecOf } from './kubernetes/manifest.ts';
import {
  chart,
  manifestsOf,
  renderChart,
  renderNotes,
  runHelm,
  runLeastHelm,
  templateArgs,
  valueSets,
} from './kubernetes/render.ts';

const portal = ['--set', 'portal.url=https://portal.example.com,secrets.existing=keys'] as const;
const both = [...portal, '--set', 'gfa.url=https://acceleration.example.com/v1'] as const;

const set = (...pairs: readonly string[]) => pairs.flatMap((pair) => ['--set', pair]);
const kinds = (manifests: readonly Manifest[]) => manifests.map(({ kind }) => kind).toSorted();
const ofKind = (manifests: readonly Manifest[], kind: string) => manifests.find((manifest) => manifest.kind === kind);
/** The object of this kind. Throws if there is none. */
const one = (manifests: readonly Manifest[], kind: string): Manifest => {
  const found = ofKind(manifests, kind);
  if (found === undefined) throw new Error(`expected a ${kind}`);
  return found;
};
const environment = (...args: readonly string[]) => environmentOf(exporterIn(renderChart(...args)));

test('the chart bears the version of the program, and its default port', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version });
  const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));
  expect(`:${values.service.port}`).toBe(defaultOf('LISTEN_ADDRESS'));
  const { requests, window, daily } = values.account;
  expect(`${requests}/${window}`).toBe(defaultOf('PORTAL_RATE_LIMIT'));
  expect(String(daily)).toBe(defaultOf('PORTAL_DAILY_LIMIT'));
});

describe('one exporter', () => {
  test('is a Deployment that never runs twice, a Service and an account, and nothing that was not asked for', () => {
    const manifests = renderChart(...portal);
    expect(kinds(manifests)).toEqual(['Deployment', 'Pod', 'Service', 'ServiceAccount']);
    expect(ofKind(manifests, 'Deployment')?.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  });

  test('has its secrets as files that follow the Secret, and none in its environment', () => {
    const manifests = renderChart(...both);
    const container = exporterIn(manifests);
    const values = environmentOf(container);
    const folder = '/run/secrets/filer-exporter';
    expect(values).toMatchObject({
      GFA_TOKEN_FILE: `${folder}/gfa-token`,
      PORTAL_SERVICE_KEY_FILE: `${folder}/portal-service-key`,
      PORTAL_SERVICE_SECRET_FILE: `${folder}/portal-service-secret`,
    });
    expect(Object.keys(values).filter((name) => /(?:TOKEN|KEY|SECRET)$/.test(name))).toEqual(['GFA_CLIENT_KEY']);
    // A file mounted by subPath would never change.
    expect(container.volumeMounts).toEqual([{ name: 'secrets', mountPath: folder, readOnly: true }]);
    const [volume] = podSpecOf(ofKind(manifests, 'Deployment') as Manifest)?.volumes ?? [];
    expect(volume).toMatchObject({ secret: { secretName: 'keys', defaultMode: 0o440 } });
  });

  test('gets a Secret made where values were given, with those that it needs and no others', () => {
    const manifests = renderChart(
      ...set('portal.url=https://portal.example.com', 'portal.credentials=user_key'),
      ...set('secrets.portalUserKey=made-up', 'secrets.gfaToken=left over'),
    );
    expect(ofKind(manifests, 'Secret')?.data).toEqual({ 'portal-user-key': Buffer.from('made-up').toString('base64') });
    expect(environmentOf(exporterIn(manifests))).not.toHaveProperty('GFA_TOKEN_FILE');
  });

  test('has a client key of its own by default, so that two releases do not take each other’s events', () => {
    expect(environment(...both).GFA_CLIENT_KEY).toBe('fleet-filer-exporter');
    expect(environment(...both, ...set('gfa.clientKey=other')).GFA_CLIENT_KEY).toBe('other');
  });

  test('gets further settings as they were written, large numbers too', () => {
    const values = environment(
      ...portal,
      ...set('settings.MAX_RESPONSE_BYTES=33554432', 'settings.PORTAL_INTERVAL=10m', 'settings.EVENT_HISTOGRAMS=false'),
    );
    expect(values).toMatchObject({
      MAX_RESPONSE_BYTES: '33554432',
      PORTAL_INTERVAL: '10m',
      EVENT_HISTOGRAMS: 'false',
      PORTAL_RATE_LIMIT: '500/30s',
      PORTAL_DAILY_LIMIT: '1000000',
    });
  });

  test('that keeps its state is a StatefulSet with a volume, and still no shard', () => {
    const manifests = renderChart(...portal, ...set('state.enabled=true'));
    expect(kinds(manifests)).toContain('StatefulSet');
    expect(ofKind(manifests, 'StatefulSet')?.spec).toMatchObject({
      replicas: 1,
      volumeClaimTemplates: [{ metadata: { name: 'state' } }],
    });
    const values = environmentOf(exporterIn(manifests));
    expect(values.STATE_FILE).toBe('/var/lib/filer-exporter/state');
    expect(values).not.toHaveProperty('SHARD');
  });

  test('that shows made-up data asks nobody and needs no credentials', () => {
    const manifests = renderChart(...set('demo=true', 'gfa.url=https://acceleration.example.com/v1'));
    expect(exporterIn(manifests).args).toEqual(['--demo']);
    expect(environmentOf(exporterIn(manifests))).toEqual({ LISTEN_ADDRESS: ':9989' });
  });
});

describe('shards', () => {
  const manifests = renderChart(...both, ...set('shards=3'));

  test('take their number from the name of their pod', () => {
    expect(environmentOf(exporterIn(manifests))).toMatchObject({ SHARD: '(metadata.name)', TOTAL_SHARDS: '3' });
    expect(ofKind(manifests, 'StatefulSet')?.spec).toMatchObject({ replicas: 3, podManagementPolicy: 'Parallel' });
    expect(ofKind(manifests, 'Service')?.spec).toMatchObject({ clusterIP: 'None' });
  });

  test('are told the account’s limits, of which each takes its part, and a pair of installations half of them', () => {
    expect(environmentOf(exporterIn(manifests))).toMatchObject({
      PORTAL_RATE_LIMIT: '500/30s',
      PORTAL_DAILY_LIMIT: '1000000',
    });
    expect(environment(...both, ...set('shards=3', 'account.sharedBy=2'))).toMatchObject({
      PORTAL_RATE_LIMIT: '250/30s',
      PORTAL_DAILY_LIMIT: '500000',
    });
    expect(environment(...both, ...set('shards=3', 'account.daily=0')).PORTAL_DAILY_LIMIT).toBe('0');
  });

  test('keep to different nodes where they can', () => {
    const pod = podSpecOf(ofKind(manifests, 'StatefulSet') as Manifest);
    expect(pod?.topologySpreadConstraints).toMatchObject([
      { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
    ]);
  });
});

describe('what watches it', () => {
  test('is asked at the path and the port that the exporter serves', () => {
    const manifests = renderChart(
      ...portal,
      ...set('serviceMonitor.enabled=true', 'settings.METRICS_PATH=/filers', 'service.port=9090'),
    );
    expect(ofKind(manifests, 'ServiceMonitor')?.spec).toMatchObject({
      endpoints: [{ port: 'metrics', path: '/filers', interval: '60s', scrapeTimeout: '10s' }],
    });
    expect(ofKind(manifests, 'Service')?.spec).toMatchObject({ ports: [{ name: 'metrics', port: 9090 }] });
    expect(environmentOf(exporterIn(manifests)).LISTEN_ADDRESS).toBe(':9090');
    expect(exporterIn(manifests).ports).toEqual([{ name: 'metrics', containerPort: 9090 }]);
  });

  test('uses https where the exporter does, and probes ask for no page behind a password', () => {
    const web = set('web.existingSecret=web', 'web.tls=true', 'podMonitor.enabled=true');
    const secure = renderChart(...portal, ...web);
    expect(ofKind(secure, 'PodMonitor')?.spec).toMatchObject({ podMetricsEndpoints: [{ scheme: 'https' }] });
    expect(exporterIn(secure).livenessProbe).toMatchObject({ httpGet: { path: '/healthz', scheme: 'HTTPS' } });
    expect(environmentOf(exporterIn(secure)).WEB_CONFIG_FILE).toBe('/etc/filer-exporter/web/web-config.yml');
    const locked = exporterIn(renderChart(...portal, ...web, ...set('settings.WEB_OPEN_PATHS=/healthz')));
    expect(locked.livenessProbe).toMatchObject({ httpGet: { path: '/healthz' } });
    expect(locked.readinessProbe).toMatchObject({ tcpSocket: { port: 'metrics' } });
  });
});

describe('the doctor', () => {
  const doctor = (...args: readonly string[]) => {
    const job = ofKind(renderChart(...both, '--set', 'doctor.enabled=true', ...args), 'Job');
    const pod = job === undefined ? undefined : podSpecOf(job);
    const [container] = pod?.containers ?? [];
    if (job === undefined || pod === undefined || container === undefined) throw new Error('expected a Job');
    return { job, pod, container };
  };

  test('runs once, with the settings, secrets and certificates of the exporter', () => {
    const more = set('web.existingSecret=web', 'caBundle.configMap=ca', 'extraArgs={--config=/etc/settings}');
    const { job, pod, container } = doctor(...more);
    const exporter = exporterIn(renderChart(...both, ...more));
    expect(job.spec).toMatchObject({ backoffLimit: 0 });
    expect(pod.restartPolicy).toBe('Never');
    expect(container.args).toEqual(['--doctor', '--config=/etc/settings']);
    expect(container.image).toBe(exporter.image);
    expect(environmentOf(container)).toEqual(environmentOf(exporter));
    expect(container.volumeMounts).toEqual(exporter.volumeMounts);
    expect(doctor(...set('doctor.enabled=true', 'extraContainers[0].name=beside')).pod.containers).toHaveLength(1);
  });

  test('is neither scraped nor counted as the exporter, and has the same rights in the network', () => {
    const manifests = renderChart(...both, ...set('doctor.enabled=true', 'networkPolicy.enabled=true'));
    const labels = (one(manifests, 'Job').spec?.template as Manifest | undefined)?.metadata.labels ?? {};
    const selects = (selector: object) => Object.entries(selector).every(([name, value]) => labels[name] === value);
    expect(selects(ofKind(manifests, 'Service')?.spec?.selector as object)).toBe(false);
    const policy = ofKind(manifests, 'NetworkPolicy')?.spec?.podSelector as { readonly matchLabels: object };
    expect(selects(policy.matchLabels)).toBe(true);
    expect(policy).toMatchObject({ matchExpressions: [{ values: ['exporter', 'doctor'] }] });
  });

  test('of a sharded exporter examines what the first shard polls, and leaves the volumes of the shards alone', () => {
    const { pod, container } = doctor(...set('shards=3', 'state.enabled=true'));
    expect(environmentOf(container)).toMatchObject({ SHARD: '0', TOTAL_SHARDS: '3' });
    expect(pod.volumes).toContainEqual({ name: 'state', emptyDir: {} });
  });
});

describe('values that larger installations need', () => {
  test('a parent chart may switch it on by its own value, and shares its registry and pull secrets', () => {
    const parent = temporaryDirectory();
    cpSync(chart, join(parent, 'charts', 'filer-exporter'), { recursive: true });
    const version = '1.0.0';
    const dependencies = [{ name: 'filer-exporter', version, condition: 'filer-exporter.enabled' }];
    writeFileSync(
      join(parent, 'Chart.yaml'),
      JSON.stringify({ apiVersion: 'v2', name: 'parent', version, dependencies }),
    );
    const values = (enabled: boolean) => {
      const path = join(parent, `values-${enabled}.yaml`);
      const global = { imageRegistry: 'registry.example.com', imagePullSecrets: [{ name: 'pull' }], other: 1 };
      writeFileSync(path, JSON.stringify({ global, 'filer-exporter': { enabled, demo: true } }));
      return runHelm('template', 'fleet', parent, '--values', path);
    };
    const { stdout, stderr } = values(true);
    expect(stderr).toBe('');
    const manifests = manifestsOf(stdout);
    expect(exporterIn(manifests).image).toBe('registry.example.com/filer-exporter:1.0.0');
    expect(podSpecOf(ofKind(manifests, 'Deployment') as Manifest)?.imagePullSecrets).toEqual([{ name: 'pull' }]);
    expect(manifestsOf(values(false).stdout)).toEqual([]);
  });

  test('every object can be put into another namespace, and the monitors and rules into that of Prometheus', () => {
    const manifests = renderChart(
      ...portal,
      ...set('namespaceOverride=filers', 'serviceMonitor.enabled=true', 'serviceMonitor.namespace=prometheus'),
      ...set('prometheusRule.enabled=true', 'prometheusRule.namespace=prometheus', 'state.enabled=true'),
    );
    const places = Object.fromEntries(manifests.map(({ kind, metadata }) => [kind, metadata.namespace]));
    expect(places).toEqual({
      StatefulSet: 'filers',
      Service: 'filers',
      ServiceAccount: 'filers',
      Pod: 'filers',
      ServiceMonitor: 'prometheus',
      PrometheusRule: 'prometheus',
    });
    expect(ofKind(manifests, 'ServiceMonitor')?.spec).toMatchObject({ namespaceSelector: { matchNames: ['filers'] } });
  });

  test('values may be templates, but for rules, whose templates are those of Prometheus', () => {
    const manifests = renderChart('--values', join(chart, 'ci', 'everything-values.yaml'));
    const workload = ofKind(manifests, 'Deployment');
    expect(workload?.metadata.annotations).toEqual({ 'example.com/reload': 'fleet' });
    expect(workload === undefined ? undefined : podSpecOf(workload)?.volumes).toContainEqual(
      expect.objectContaining({ secret: expect.objectContaining({ secretName: 'fleet-credentials' }) }),
    );
    const maps = manifests.filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('fleet-'));
    expect(maps.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['fleet-filers-more', 'fleet-text']),
    );
    const groups = one(manifests, 'PrometheusRule').spec?.groups as readonly object[] | undefined;
    expect(groups?.at(-1)).toMatchObject({
      name: 'mine',
      rules: [{ annotations: { description: 'The service {{ $labels.api }} is down.' } }],
    });
  });

  test('an HTTPRoute leads from a Gateway to the Service', () => {
    const manifests = renderChart(
      ...portal,
      ...set('httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=web', 'httpRoute.hostnames={filers.example.com}'),
    );
    expect(ofKind(manifests, 'HTTPRoute')).toMatchObject({
      apiVersion: 'gateway.networking.k8s.io/v1',
      spec: {
        parentRefs: [{ name: 'web' }],
        hostnames: ['filers.example.com'],
        rules: [{ backendRefs: [{ name: 'fleet-filer-exporter', port: 9989 }] }],
      },
    });
  });

  test('a Service of type NodePort has the port on each node that the values name', () => {
    const manifests = renderChart(...portal, ...set('service.type=NodePort', 'service.nodePort=30989'));
    expect(ofKind(manifests, 'Service')?.spec).toMatchObject({ type: 'NodePort', ports: [{ nodePort: 30989 }] });
  });

  test('the pod of `helm test` gets through a NetworkPolicy that names who may scrape', () => {
    const from = set(
      'networkPolicy.enabled=true',
      'networkPolicy.from[0].namespaceSelector.matchLabels.team=monitoring',
    );
    const manifests = renderChart(...portal, ...from);
    const labels = one(manifests, 'Pod').metadata.labels;
    const names = ['name', 'instance', 'component'].map((name) => `app.kubernetes.io/${name}`);
    const ownLabels = Object.fromEntries(names.map((name) => [name, labels?.[name]]));
    expect(ownLabels).toMatchObject({ 'app.kubernetes.io/component': 'test' });
    expect(one(manifests, 'NetworkPolicy').spec?.ingress).toMatchObject([
      { from: [{ namespaceSelector: {} }, { podSelector: { matchLabels: ownLabels } }] },
    ]);
    expect(labels).not.toMatchObject(ofKind(manifests, 'Service')?.spec?.selector as object);
  });

  test('pods in the network of their node still resolve the names of the cluster', () => {
    const pod = podSpecOf(ofKind(renderChart(...portal, ...set('hostNetwork=true')), 'Deployment') as Manifest);
    expect(pod).toMatchObject({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' });
  });
});

test('the chart of a release names the repository and the image of that release', () => {
  const out = join(temporaryDirectory(), 'out');
  mkdirSync(out);
  const environment = { REPOSITORY: 'https://github.com/someone/filers', IMAGE: 'ghcr.io/someone/filers' };
  execFileSync(join(root, 'deploy/helm/package.sh'), [out], { env: { ...process.env, ...environment } });
  const archive = join(out, `filer-exporter-${parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')).version}.tgz`);
  const { stdout } = runHelm('show', 'chart', archive);
  expect(stdout).not.toContain('example.com');
  expect(parse(stdout)).toMatchObject({ home: environment.REPOSITORY, sources: [environment.REPOSITORY] });
  const manifests = manifestsOf(
    runHelm('template', 'fleet', archive, ...set('demo=true', 'dashboards.enabled=true')).stdout,
  );
  expect(exporterIn(manifests).image).toBe('ghcr.io/someone/filers:1.0.0');
  expect(manifests.filter(({ kind }) => kind === 'ConfigMap')).toHaveLength(7);
});

test('the dashboards are installed as they are, and each fits into the annotation that kubectl apply makes', () => {
  const boards = renderChart(...set('demo=true', 'dashboards.enabled=true')).filter(({ kind }) => kind === 'ConfigMap');
  for (const board of boards) {
    const [[name, text]] = Object.entries(board.data ?? {}) as [[string, string]];
    const file = join(chart, 'files', 'dashboards', name);
    expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(file, 'utf8')));
    expect(Buffer.byteLength(JSON.stringify(board)), name).toBeLessThan(262_144);
  }
});

test.each(valueSets)('Helm 3.6 renders %s as the Helm of today', (values) => {
  const args = templateArgs('--values', values);
  expect(runLeastHelm(...args)).toEqual(runHelm(...args, '--kube-version', '1.27.0'));
});

describe('nonsense is refused', () => {
  test.each([
    [[], 'gfa.url is not set and neither is portal.url; expected at least one of them, or demo: true'],
    [
      set('portal.url=https://portal.example.com'),
      'secrets.portalServiceKey is not set and neither is secrets.existing; expected one of them, for the exporter needs PORTAL_SERVICE_KEY_FILE',
    ],
    [
      [...portal, ...set('secrets.portalServiceKey=x')],
      'secrets.portalServiceKey is set and so is secrets.existing; expected one of them',
    ],
    [
      [...portal, ...set('shards=501')],
      'account.requests is below one request for each of 501 shards; expected fewer shards, or a longer account.window',
    ],
    [
      [...portal, ...set('serviceMonitor.enabled=true', 'podMonitor.enabled=true')],
      'serviceMonitor.enabled and podMonitor.enabled are both true; expected one of them, or every series comes twice',
    ],
    [
      [...portal, ...set('portal.url=http://portal.example.com')],
      'portal.url is an http URL of another host; expected https, or settings.ALLOW_INSECURE_UPSTREAM: true',
    ],
    [
      [...portal, ...set('shards=2', 'service.type=NodePort')],
      'service.type is NodePort but shards is 2, so that each request would reach another shard; expected shards: 1, or Services of your own in extraObjects',
    ],
    [
      [...portal, ...set('web.tls=true')],
      'web.tls is true but web.existingSecret is not set; expected the Secret that holds the web configuration',
    ],
  ])('%j: %s', (args, line) => {
    const { status, stderr } = runHelm(...templateArgs(...args));
    expect(stderr).toContain(line);
    expect(status).toBe(1);
  });

  test('every value that its schema rejects, at once', () => {
    const rejected = [
      ['shards=two', 'shards: Invalid type. Expected: integer, given: string'],
      ['shard=2', 'Additional property shard is not allowed'],
      ['settings.PORTAL_INTERVALL=5m', 'settings: Additional property PORTAL_INTERVALL is not allowed'],
      ['settings.PORTAL_INTERVAL=5mins', "settings.PORTAL_INTERVAL: Does not match pattern '^([0-9]+"],
      ['settings.LOG_LEVEL=loud', 'settings.LOG_LEVEL must be one of the following: "trace"'],
      ['settings.STALE_AFTER=two', "settings.STALE_AFTER: Does not match pattern '^[0-9]+$'"],
      ['settings.PORTAL_USER_KEY=x', 'settings: Additional property PORTAL_USER_KEY is not allowed'],
      [
        'image.pullPolicy=Sometimes',
        'image.pullPolicy must be one of the following: "Always", "IfNotPresent", "Never"',
      ],
      ['gfa.url=https://acceleration.example.com', "gfa.url: Does not match pattern '^(https?://"],
      ['portal.url=portal.example.com', "portal.url: Does not match pattern '^(https?://"],
      ['account.window=half a minute', "account.window: Does not match pattern '^([0-9]+"],
      ['service.port=80', 'service.port: Must be greater than or equal to 1024'],
      ['state.size=lots', "state.size: Does not match pattern '^[0-9]+"],
      [
        'podDisruptionBudget.maxUnavailable=half',
        "podDisruptionBudget.maxUnavailable: Does not match pattern '^[0-9]+%$'",
      ],
      ['ingress.enabled=true', 'ingress.hosts: Array must have at least 1 items'],
      ['livenessProbe.period=3', 'livenessProbe: Additional property period is not allowed'],
    ] as const;
    const { status, stderr } = runHelm(...templateArgs(...portal, ...set(...rejected.map(([pair]) => pair))));
    for (const [pair, line] of rejected) expect(stderr, pair).toContain(line);
    expect(status).toBe(1);
  });

  test('no shard at all', () => {
    const { status, stderr } = runHelm(...templateArgs(...portal, ...set('shards=0')));
    expect(stderr).toContain('shards: Must be greater than or equal to 1');
    expect(status).toBe(1);
  });
});

test('the notes say where the pages are, and what is not switched on', () => {
  const notes = renderNotes(...both);
  expect(notes).toContain('port-forward service/fleet-filer-exporter 9989');
  expect(notes).toContain('Nothing scrapes it yet');
  expect(notes).toContain('No alert is installed');
  expect(notes).toContain('Event counters start again with each restart');
  expect(notes).toContain('Secret keys, keys gfa-token, portal-service-key, portal-service-secret.');
});

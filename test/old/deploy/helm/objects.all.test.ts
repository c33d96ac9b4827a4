// Only here: values of the chart that render wrongly.
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../support/program.ts';
import { environmentOf, exporterIn, type Manifest, one, podSpecOf } from '../kubernetes/manifest.ts';
import { both, chart, manifestsOf, portal, renderChart, runHelm, set } from '../kubernetes/render.ts';

const kinds = (manifests: readonly Manifest[]) => manifests.map(({ kind }) => kind).toSorted();
const environment = (...args: readonly string[]) => environmentOf(exporterIn(renderChart(...args)));

describe('one exporter', () => {
  test('is a Deployment that never runs twice, a Service and an account, and nothing that was not asked for', () => {
    const manifests = renderChart(...portal);
    expect(kinds(manifests)).toEqual(['Deployment', 'Pod', 'Service', 'ServiceAccount']);
    expect(one(manifests, 'Deployment').spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
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
    const [volume] = podSpecOf(one(manifests, 'Deployment'))?.volumes ?? [];
    expect(volume).toMatchObject({ secret: { secretName: 'keys', defaultMode: 0o440 } });
  });

  test('gets a Secret made where values were given, with those that it needs and no others', () => {
    const manifests = renderChart(
      ...set('portal.url=https://portal.example.com', 'portal.credentials=user_key'),
      ...set('secrets.portalUserKey=made-up', 'secrets.gfaToken=left over'),
    );
    expect(one(manifests, 'Secret').data).toEqual({ 'portal-user-key': Buffer.from('made-up').toString('base64') });
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
    expect(one(manifests, 'StatefulSet').spec).toMatchObject({
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
    expect(one(manifests, 'StatefulSet').spec).toMatchObject({ replicas: 3, podManagementPolicy: 'Parallel' });
    expect(one(manifests, 'Service').spec).toMatchObject({ clusterIP: 'None' });
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
    const pod = podSpecOf(one(manifests, 'StatefulSet'));
    expect(pod?.topologySpreadConstraints).toMatchObject([
      { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
    ]);
  });
});

describe('the doctor', () => {
  const doctor = (...args: readonly string[]) => {
    const job = one(renderChart(...both, ...set('doctor.enabled=true'), ...args), 'Job');
    const pod = podSpecOf(job);
    const [container] = pod?.containers ?? [];
    if (pod === undefined || container === undefined) throw new Error('expected a pod with a container');
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
    expect(selects(one(manifests, 'Service').spec?.selector as object)).toBe(false);
    const policy = one(manifests, 'NetworkPolicy').spec?.podSelector as { readonly matchLabels: object };
    expect(selects(policy.matchLabels)).toBe(true);
    expect(policy).toMatchObject({ matchExpressions: [{ values: ['exporter', 'doctor'] }] });
  });

  test('of a sharded exporter examines what the first shard polls, and leaves the volumes of the shards alone', () => {
    const { pod, container } = doctor(...set('shards=3', 'state.enabled=true'));
    expect(environmentOf(container)).toMatchObject({ SHARD: '0', TOTAL_SHARDS: '3' });
    expect(pod.volumes).toContainEqual({ name: 'state', emptyDir: {} });
  });
});

describe('what watches it', () => {
  test('is asked at the path and the port that the exporter serves', () => {
    const manifests = renderChart(
      ...portal,
      ...set('serviceMonitor.enabled=true', 'settings.METRICS_PATH=/filers', 'service.port=9090'),
    );
    expect(one(manifests, 'ServiceMonitor').spec).toMatchObject({
      endpoints: [{ port: 'metrics', path: '/filers', interval: '60s', scrapeTimeout: '10s' }],
    });
    expect(one(manifests, 'Service').spec).toMatchObject({ ports: [{ name: 'metrics', port: 9090 }] });
    expect(environmentOf(exporterIn(manifests)).LISTEN_ADDRESS).toBe(':9090');
    expect(exporterIn(manifests).ports).toEqual([{ name: 'metrics', containerPort: 9090 }]);
  });

  test('uses https where the exporter does, and probes ask for no page behind a password', () => {
    const web = set('web.existingSecret=web', 'web.tls=true', 'podMonitor.enabled=true');
    const secure = renderChart(...portal, ...web);
    expect(one(secure, 'PodMonitor').spec).toMatchObject({ podMetricsEndpoints: [{ scheme: 'https' }] });
    expect(exporterIn(secure).livenessProbe).toMatchObject({ httpGet: { path: '/healthz', scheme: 'HTTPS' } });
    expect(environmentOf(exporterIn(secure)).WEB_CONFIG_FILE).toBe('/etc/filer-exporter/web/web-config.yml');
    const locked = exporterIn(renderChart(...portal, ...web, ...set('settings.WEB_OPEN_PATHS=/healthz')));
    expect(locked.livenessProbe).toMatchObject({ httpGet: { path: '/healthz' } });
    expect(locked.readinessProbe).toMatchObject({ tcpSocket: { port: 'metrics' } });
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
    expect(podSpecOf(one(manifests, 'Deployment'))?.imagePullSecrets).toEqual([{ name: 'pull' }]);
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
    expect(one(manifests, 'ServiceMonitor').spec).toMatchObject({ namespaceSelector: { matchNames: ['filers'] } });
  });

  test('values may be templates, but for rules, whose templates are those of Prometheus', () => {
    const manifests = renderChart('--values', join(chart, 'ci', 'everything-values.yaml'));
    const workload = one(manifests, 'Deployment');
    expect(workload.metadata.annotations).toEqual({ 'example.com/reload': 'fleet' });
    expect(podSpecOf(workload)?.volumes).toContainEqual(
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
    expect(one(manifests, 'HTTPRoute')).toMatchObject({
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
    expect(one(manifests, 'Service').spec).toMatchObject({ type: 'NodePort', ports: [{ nodePort: 30989 }] });
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
    expect(labels).not.toMatchObject(one(manifests, 'Service').spec?.selector as object);
  });

  test('pods in the network of their node still resolve the names of the cluster', () => {
    const pod = podSpecOf(one(renderChart(...portal, ...set('hostNetwork=true')), 'Deployment'));
    expect(pod).toMatchObject({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' });
  });
});

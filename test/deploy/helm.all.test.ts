// Only here: values of the chart that render wrongly.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../support/program.ts';
import { defaultOf } from '../support/variables.ts';
import { environmentOf, exporterIn, type Manifest, podSpecOf } from './kubernetes/manifest.ts';
import {
  chart,
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
      [...portal, ...set('web.tls=true')],
      'web.tls is true but web.existingSecret is not set; expected the Secret that holds the web configuration',
    ],
  ])('%j: %s', (args, line) => {
    const { status, stderr } = runHelm(...templateArgs(...args));
    expect(stderr).toContain(line);
    expect(status).toBe(1);
  });

  test.each([
    ['shards=0', 'shards: Must be greater than or equal to 1'],
    ['shards=two', 'shards: Invalid type. Expected: integer, given: string'],
    ['shard=2', 'Additional property shard is not allowed'],
    ['settings.PORTAL_INTERVALL=5m', 'settings: Additional property PORTAL_INTERVALL is not allowed'],
    ['settings.PORTAL_INTERVAL=5mins', "settings.PORTAL_INTERVAL: Does not match pattern '^([0-9]+"],
    ['settings.LOG_LEVEL=loud', 'settings.LOG_LEVEL must be one of the following: "trace"'],
    ['settings.STALE_AFTER=two', "settings.STALE_AFTER: Does not match pattern '^[0-9]+$'"],
    ['settings.PORTAL_USER_KEY=x', 'settings: Additional property PORTAL_USER_KEY is not allowed'],
    ['image.pullPolicy=Sometimes', 'image.pullPolicy must be one of the following: "Always", "IfNotPresent", "Never"'],
    ['gfa.url=https://acceleration.example.com', "gfa.url: Does not match pattern '^(https?://"],
    ['portal.url=portal.example.com', "portal.url: Does not match pattern '^(https?://"],
    ['account.window=half a minute', "account.window: Does not match pattern '^([0-9]+"],
    ['service.port=80', 'service.port: Must be greater than or equal to 1024'],
    ['state.size=lots', "state.size: Does not match pattern '^[0-9]+"],
    [
      'podDisruptionBudget.maxUnavailable=half',
      "podDisruptionBudget.maxUnavailable: Does not match pattern '^[0-9]+%$'",
    ],
    ['livenessProbe.period=3', 'livenessProbe: Additional property period is not allowed'],
  ])('%s', (pair, line) => {
    const { status, stderr } = runHelm(...templateArgs(...portal, ...set(pair)));
    expect(stderr).toContain(line);
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

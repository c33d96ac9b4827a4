import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { chart, helm, installHelm, podOf, render, renderOf, valueSets } from './helm.ts';

const root = join(chart, '..', '..', '..');

beforeAll(installHelm, 120_000);

test('there are value sets, and Helm finds no fault in the chart with any of them', () => {
  expect(valueSets.length).toBeGreaterThan(4);
  const values = valueSets.map((name) => ['--values', join(chart, 'ci', name)]);
  for (const one of values) expect(helm('lint', '--strict', chart, ...one)).toMatchObject({ status: 0 });
});

test('the chart has the version of the program', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  expect(parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version });
});

describe.each(valueSets)('%s', (valueSet) => {
  test('the pod is hardened as the restricted Pod Security Standard requires', () => {
    const pod = podOf(render(valueSet));
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(pod.containers[0]?.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(8);
  });

  // As after `helm upgrade --reuse-values` from a release of a chart that does not know the values yet.
  test('values that are missing have their defaults', () => {
    const older = join(temporaryDirectory(), 'filer-exporter');
    cpSync(chart, older, { recursive: true });
    writeFileSync(join(older, 'values.yaml'), '');
    expect(renderOf(older, valueSet)).toEqual(render(valueSet));
  });
});

test.each([
  ['no service', ['portal.url='], 'expected at least one of them, or demo: true'],
  ['no credentials', ['secrets.existing='], 'expected either secrets.existing or secrets.portalServiceKey'],
  ['two kinds of credentials', ['secrets.portalServiceKey=key'], 'expected either secrets.existing or'],
  ['TLS without a web configuration', ['web.tls=true'], 'expected the Secret that holds the web configuration'],
  ['an unknown value', ['portl.url=https://portal.example.com'], 'portl'],
  ['a variable that has a value of its own', ['settings.PORTAL_URL=https://portal.example.com'], 'settings'],
])('%s is rejected with what was expected', (_, values, expected) => {
  expect(() => render('portal-values.yaml', ...values.flatMap((value) => ['--set', value]))).toThrow(expected);
});

test('the network policy lets requests out to the ports of every configured URL and proxy', () => {
  const portsWith = (...values: readonly string[]) => {
    const set = ['networkPolicy.enabled=true', ...values].flatMap((value) => ['--set', value]);
    const policy = render('portal-values.yaml', ...set).find(({ kind }) => kind === 'NetworkPolicy');
    const { egress } = (policy?.spec ?? {}) as {
      readonly egress: readonly { readonly ports: readonly { port: number }[] }[];
    };
    return egress.slice(1).flatMap(({ ports }) => ports.map(({ port }) => port));
  };
  expect(portsWith()).toEqual([443]);
  expect(portsWith('portal.url=https://portal.example.com:8443/api')).toEqual([8443]);
  expect(portsWith('portal.url=https://[2001:db8::1]')).toEqual([443]);
  expect(portsWith('settings.REMOTE_WRITE_URL=http://metrics.example.com/write', 'networkPolicy.ports={25}')).toEqual([
    443, 80, 25,
  ]);
  const proxy = ['extraEnv[0].name=https_proxy', 'extraEnv[0].value=http://proxy.example.com:3128'];
  expect(portsWith(...proxy)).toEqual([443, 3128]);
});

test('where client certificates are required, probes only open a connection', () => {
  const [exporter] = podOf(render('client-certificates-values.yaml')).containers;
  for (const probe of [exporter?.startupProbe, exporter?.livenessProbe, exporter?.readinessProbe]) {
    expect(probe).toMatchObject({ tcpSocket: { port: 'metrics' } });
    expect(probe).not.toHaveProperty('httpGet');
  }
});

test('numbers in settings stay as they are written', () => {
  const [exporter] = podOf(render('everything-values.yaml')).containers;
  expect(exporter?.env).toContainEqual({ name: 'MAX_RESPONSE_BYTES', value: '33554432' });
});

test('the chart installs the rules of the repository, with its own page of runbooks and without disabled alerts', () => {
  const rulesOf = (valueSet: string) => render(valueSet).find(({ kind }) => kind === 'PrometheusRule')?.spec;
  const written = readFileSync(join(root, 'deploy/prometheus/filer-exporter.rules.yml'), 'utf8');
  expect(rulesOf('demo-values.yaml')).toEqual(parse(written));
  const changed = JSON.stringify(rulesOf('everything-values.yaml'));
  expect(changed).toContain('https://wiki.example.com/runbooks#filerapidown');
  expect(changed).not.toMatch(/git\.example\.com|FilerApplianceCpuHigh/);
});

test('the chart installs the boards of the repository, each small enough for kubectl apply', () => {
  const maps = render('demo-values.yaml').filter(({ kind }) => kind === 'ConfigMap');
  const files = readdirSync(join(root, 'grafana/dashboards'));
  expect(maps.flatMap(({ data }) => Object.keys(data ?? {})).toSorted()).toEqual(files.toSorted());
  for (const { data, metadata } of maps) {
    expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    for (const [name, text] of Object.entries(data ?? {})) {
      expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(join(root, 'grafana/dashboards', name), 'utf8')));
      // kubectl apply keeps a copy in an annotation, which may have 256 KiB.
      expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(250_000);
    }
  }
});

test('the chart of a release names the repository and the image of that release', () => {
  const folder = temporaryDirectory();
  const env = { ...process.env, REPOSITORY: 'https://github.com/someone/filers', IMAGE: 'ghcr.io/someone/filers' };
  execFileSync(join(root, 'deploy/helm/package.sh'), [folder], { env, stdio: 'ignore' });
  const [archive = ''] = readdirSync(folder);
  const set = ['--set', 'demo=true,prometheusRule.enabled=true'];
  const { output } = helm('template', 'fleet', join(folder, archive), ...set);
  expect(output).toContain('image: ghcr.io/someone/filers:');
  expect(output).toContain('https://github.com/someone/filers/blob/HEAD/docs/runbooks.md#filerapidown');
  expect(helm('show', 'chart', join(folder, archive)).output).not.toContain('example.com');
});

// Only here: a chart that is packaged for another version, image or Helm than it is for.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { root, temporaryDirectory } from '../../support/program.ts';
import { defaultOf } from '../../support/variables.ts';
import { exporterIn } from '../kubernetes/manifest.ts';
import {
  chart,
  manifestsOf,
  renderChart,
  runHelm,
  runLeastHelm,
  set,
  templateArgs,
  valueSets,
} from '../kubernetes/render.ts';

test('the chart bears the version of the program, and its default port', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version });
  const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));
  expect(`:${values.service.port}`).toBe(defaultOf('LISTEN_ADDRESS'));
  const { requests, window, daily } = values.account;
  expect(`${requests}/${window}`).toBe(defaultOf('PORTAL_RATE_LIMIT'));
  expect(String(daily)).toBe(defaultOf('PORTAL_DAILY_LIMIT'));
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

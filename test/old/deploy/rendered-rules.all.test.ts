import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { rulesCommand } from '../../deploy/prometheus/command.ts';
import { render } from '../../deploy/prometheus/render.ts';
import { template } from '../../deploy/prometheus/template.ts';
import { thresholdNames } from '../../deploy/prometheus/thresholds.ts';
import { temporaryDirectory } from '../support/program.ts';
import type { Manifest } from './kubernetes/manifest.ts';
import { chart, hasKubectl, renderChart, renderOverlay, runHelm, templateArgs } from './kubernetes/render.ts';

/* Both ways into Kubernetes carry every rule: what Helm and kubectl write, and not what lies beside their input. */

const base = ['--set', 'demo=true,prometheusRule.enabled=true'] as const;
const shipped = render(template);

/** The groups of the PrometheusRule among the objects. */
function groupsIn(manifests: readonly Manifest[]): unknown {
  return manifests.find(({ kind }) => kind === 'PrometheusRule')?.spec?.groups;
}

describe('the chart', () => {
  test('carries every rule as it is shipped, whatever the release is called', () => {
    expect(shipped.flatMap(({ rules }) => rules).length).toBeGreaterThan(40);
    expect(groupsIn(renderChart(...base))).toEqual(shipped);
    expect(groupsIn(renderChart(...base, '--set', 'fullnameOverride=edge'))).toEqual(shipped);
  });

  test('puts every threshold where the command puts it, large ones, fractions and zero too', () => {
    for (const number of [0, 0.125, 7, 123_456_789_012]) {
      const thresholds = Object.fromEntries(thresholdNames.map((name) => [name, number]));
      const values = join(temporaryDirectory(), 'values.yaml');
      writeFileSync(values, stringify({ prometheusRule: { thresholds } }));
      expect(groupsIn(renderChart(...base, '--values', values))).toEqual(render(template, { thresholds }));
    }
  });

  test('takes a fraction from the command line, which Helm reads as text', () => {
    const groups = groupsIn(renderChart(...base, '--set', 'prometheusRule.thresholds.cpu=0.7'));
    expect(groups).toEqual(render(template, { thresholds: { cpu: 0.7 } }));
  });

  test('takes links, waiting times and what is to be left out', () => {
    const runbooks = 'https://wiki.example.com/runbooks/';
    const status = 'https://filers.example.com/status';
    const set = `prometheusRule.runbooks=${runbooks},prometheusRule.status=${status},prometheusRule.for.FilerApiDown=1h,prometheusRule.disabled={FilerJobFailed},prometheusRule.keepFiringFor=1m`;
    expect(groupsIn(renderChart(...base, '--set', set))).toEqual(
      render(template, {
        runbooks,
        status,
        for: { FilerApiDown: '1h' },
        without: ['FilerJobFailed'],
        keepFiringFor: '1m',
      }),
    );
  });

  test('installs the dashboard Runbooks with the dashboards that link to it', () => {
    const manifests = renderChart(...base, '--set', 'dashboards.enabled=true');
    const names = manifests.flatMap(({ kind, metadata }) => (kind === 'ConfigMap' ? [metadata.name] : []));
    expect(names.filter((name) => name.endsWith('-filer-runbooks'))).toHaveLength(1);
    expect(JSON.stringify(manifests)).not.toContain('git.example.com');
  });

  test.each([
    ['prometheusRule.thresholds.cpuu=1', 'Additional property cpuu is not allowed'],
    ['prometheusRule.thresholds.cpu=much', 'Does not match pattern'],
    ['prometheusRule.for.FilerApiDown=soon', 'Does not match pattern'],
    ['prometheusRule.disabled={FilerNothing}', 'prometheusRule.disabled.0 must be one of'],
    ['prometheusRule.runbooks=wiki', 'Does not match pattern'],
    ['prometheusRule.status=here', 'Does not match pattern'],
  ])('refuses %s', (pair, line) => {
    const { status, stderr } = runHelm(...templateArgs(...base, '--set', pair));
    expect(stderr).toContain(line);
    expect(status).toBe(1);
  });

  test('is not rendered at all where its rules are missing', () => {
    const folder = join(temporaryDirectory(), 'chart');
    cpSync(chart, folder, { recursive: true });
    rmSync(join(folder, 'files', 'rules.yml'));
    const { status, stderr } = runHelm('template', 'fleet', folder, ...base);
    expect(stderr).toContain('no rule is left to install');
    expect(status).toBe(1);
  });
});

test.runIf(hasKubectl)('the overlay carries every rule as it is shipped', () => {
  const overlay = renderOverlay(join('deploy', 'kubernetes', 'overlays', 'prometheus-operator'));
  expect(groupsIn(overlay)).toEqual(shipped);
});

test('nothing to write is an error and no empty file', () => {
  expect(() => render([])).toThrow('every rule is left out');
  expect(rulesCommand([]).text.length).toBeGreaterThan(10_000);
});

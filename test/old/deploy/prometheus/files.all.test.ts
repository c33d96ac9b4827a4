import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { alertRules } from '../../../deploy/prometheus/groups.ts';
import { root } from '../../support/program.ts';
import { amtool, hasAmtool, hasPromtool, promtool } from './promtool.ts';

/*
 * The files in deploy/prometheus/ are good for the programs that read them. Without promtool a part is skipped, unless REQUIRE_PROMETHEUS is set.
 */

const folder = join(root, 'deploy/prometheus');
const rulesPath = join(folder, 'filer-exporter.rules.yml');
const text = (path: string) => readFileSync(path, 'utf8');

describe('the files', () => {
  test('the example loads the rules', () => {
    const { rule_files: files } = parse(text(join(folder, 'prometheus.yml')));
    expect(files).toEqual(['filer-exporter.rules.yml']);
  });

  test('Alertmanager’s example speaks of alerts that exist', () => {
    const named = text(join(folder, 'alertmanager.yml')).match(/\bFiler[A-Z]\w+(?!\w*\.\+)/g) ?? [];
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !alertRules.some(({ alert }) => alert === name))).toEqual([]);
  });
});

test.runIf(process.env.REQUIRE_PROMETHEUS === '1')('promtool is installed, as REQUIRE_PROMETHEUS asks', () => {
  expect(hasPromtool).toBe(true);
});

test.runIf(hasPromtool)('promtool finds no fault in the rules, nor in the example that loads them', () => {
  expect(promtool('check', 'rules', '--lint-fatal', rulesPath)).toMatchObject({ status: 0 });
  expect(promtool('check', 'config', join(folder, 'prometheus.yml'))).toMatchObject({ status: 0 });
});

test.runIf(hasPromtool)(
  'promtool finds no fault in the scrape jobs to choose from, nor in the alert that always fires',
  () => {
    // It looks for the files of certificates and passwords, which are not on this machine.
    expect(promtool('check', 'config', '--syntax-only', join(folder, 'scrape-jobs.yml'))).toMatchObject({ status: 0 });
    expect(promtool('check', 'rules', join(folder, 'watchdog.rules.yml'))).toMatchObject({ status: 0 });
  },
);

test.runIf(hasAmtool).each([
  ['alertname=Watchdog', 'severity=none', 'dead-mans-switch'],
  ['alertname=FilerApiDown', 'severity=critical', 'pagerduty'],
  ['alertname=FilerApplianceCpuHigh', 'severity=warning', 'slack'],
])('in the example for Alertmanager %s with %s goes to %s', (name, severity, receiver) => {
  const file = `--config.file=${join(folder, 'alertmanager.yml')}`;
  expect(amtool('config', 'routes', 'test', file, name, severity)).toEqual({
    status: 0,
    // It warns beside that of a flag of its own.
    said: expect.stringContaining(`${receiver}\n`),
  });
});

test.runIf(hasAmtool)('amtool finds no fault in the example for Alertmanager', () => {
  expect(amtool('check-config', join(folder, 'alertmanager.yml'))).toMatchObject({ status: 0 });
});

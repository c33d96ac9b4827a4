import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { rulesCommand } from '../../../deploy/prometheus/command.ts';
import { panelOf } from '../../../deploy/prometheus/runbooks.ts';
import type { WrittenAlert, WrittenGroup } from '../../../deploy/prometheus/template.ts';

const written = (...args: readonly string[]) => {
  const { code, text } = rulesCommand(args);
  expect({ code, text: code === 0 ? '' : text }).toEqual({ code: 0, text: '' });
  return parse(text);
};
const alertsIn = (groups: readonly WrittenGroup[]) =>
  groups.flatMap(({ rules }) => rules.filter((rule): rule is WrittenAlert => 'alert' in rule));
const alertOf = (name: string, groups: readonly WrittenGroup[]) => alertsIn(groups).find(({ alert }) => alert === name);

describe('npm run rules', () => {
  test('puts a threshold into the expression and into the words', () => {
    const cpu = alertOf('FilerApplianceCpuHigh', written('--threshold', 'cpu=0.7').groups);
    expect(cpu?.expr).toContain('0.7');
    expect(cpu?.annotations.description).toContain('{{ 0.7 | humanizePercentage }}');
  });

  test('leaves nothing in pointed brackets', () => {
    expect(rulesCommand([]).text).not.toMatch(/<[a-zA-Z]/);
    expect(rulesCommand(['--operator']).text).not.toMatch(/<[a-zA-Z]/);
  });

  test('writes a link only where the runbooks have an address', () => {
    for (const { annotations } of alertsIn(written().groups)) expect(annotations.runbook_url).toBeUndefined();
    const linked = alertsIn(written('--runbooks', 'https://wiki.example.com/runbooks/').groups);
    expect(linked.length).toBeGreaterThan(20);
    expect(linked.find(({ alert }) => alert === 'FilerApiDown')?.annotations.runbook_url).toBe(
      `https://wiki.example.com/runbooks/exporter.md?viewPanel=${panelOf('FilerApiDown')}#filerapidown`,
    );
  });

  test('links an alert that says to read the status page to the line of its appliance or API', () => {
    const alerts = alertsIn(written('--status', 'https://{{$labels.job}}.example.com/status').groups);
    const linked = alerts.filter(({ annotations }) => annotations.status_url !== undefined);
    expect(linked).toEqual(alerts.filter(({ annotations }) => annotations.runbook?.includes('/status')));
    const linkOf = (name: string) => alertOf(name, [{ name: '', rules: alerts }])?.annotations.status_url;
    const page = 'https://{{$labels.job}}.example.com/status';
    expect(linkOf('FilerApplianceDown')).toBe(`${page}#a-{{ $labels.serial }}`);
    expect(linkOf('FilerExporterDataOld')).toBe(`${page}#api-{{ $labels.api }}`);
    for (const { annotations } of alertsIn(written().groups)) expect(annotations.status_url).toBeUndefined();
  });

  test('no text says how long its alert waits, so a changed waiting time makes no text wrong', () => {
    const waiting = /\bfor (?:\d+|an?|half an?|one|two|four|five|ten) (?:minute|hour|day)/i;
    for (const { alert, annotations } of alertsIn(written().groups)) {
      expect(`${annotations.summary} ${annotations.description}`, alert).not.toMatch(waiting);
    }
    expect('Above 90% for half an hour: clients wait').toMatch(waiting);
  });

  test('changes how long an alert waits, and leaves alerts out', () => {
    const { groups } = written(
      ...['--operator', '--for', 'FilerApiDown=1h', '--without', 'FilerJobFailed', '--keep-firing-for', '1m'],
    ).spec;
    expect(new Set(alertsIn(groups).map(({ keep_firing_for }) => keep_firing_for))).toEqual(new Set(['1m']));
    expect(alertOf('FilerApiDown', groups)?.for).toBe('1h');
    expect(alertOf('FilerJobFailed', groups)).toBeUndefined();
    expect(alertOf('FilerJobUnfinished', groups)).toBeDefined();
  });

  test.each([
    [['--threshold', 'cpuu=0.7'], '--threshold cpuu=0.7: expected one of '],
    [['--threshold', 'cpu=much'], '--threshold cpu=much: expected cpu=NUMBER'],
    [['--threshold', 'cpu='], '--threshold cpu=: expected cpu=NUMBER'],
    [['--for', 'FilerApiDown=soon'], '--for FilerApiDown=soon: expected FilerApiDown=10m'],
    [['--keep-firing-for', 'long'], '--keep-firing-for long: expected a duration such as 15m'],
    [['--without', 'FilerNothing'], '--without FilerNothing: expected one of '],
    [['--runbooks', 'wiki'], '--runbooks wiki: expected a URL such as '],
    [['--status', 'here'], '--status here: expected a URL such as '],
    [['--treshold', 'cpu=1'], "Unknown option '--treshold'"],
  ])('%j is an error that names what is expected', (args, line) => {
    const { code, text } = rulesCommand(args);
    expect(code).toBe(1);
    expect(text).toContain(line);
  });
});

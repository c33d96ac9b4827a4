import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { rulesFile } from '../../../deploy/prometheus/files.ts';
import { alertRules, type Group, groups, recordingRules } from '../../../deploy/prometheus/groups.ts';
import type { AlertRule, RecordingRule } from '../../../deploy/prometheus/rule.ts';
import { remedyOf } from '../../../deploy/prometheus/runbooks.ts';
import { templateOf } from '../../../deploy/prometheus/template.ts';
import { type AlertCase, firings, type Labels, type RecordingCase, type Series, scraped, series } from './case.ts';
import { minutes, silentAfter } from './late.ts';

/** Whether promtool is installed. */
export const hasPromtool: boolean = spawnSync('promtool', ['--version']).status === 0;

/** How promtool ended, and what it said. */
export interface Verdict {
  readonly status: number | null;
  readonly said: string;
}

/** Whether Alertmanager's amtool is installed. */
export const hasAmtool: boolean = spawnSync('amtool', ['--version']).status === 0;

/** Runs promtool. */
export function promtool(...args: readonly string[]): Verdict {
  return run('promtool', args);
}

/** Runs amtool. */
export function amtool(...args: readonly string[]): Verdict {
  return run('amtool', args);
}

function run(program: string, args: readonly string[]): Verdict {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return { status, said: `${stdout}${stderr}` };
}

/** Has promtool run these cases over the recording rules that they are about. */
export function testRecorded(cases: readonly (readonly [name: string, of: RecordingCase])[]): Verdict {
  const tested = groupsFor(
    [],
    cases.map(([name]) => name),
  );
  return testFile(
    tested,
    '1m',
    cases.map(([name, one]) => recordingTest(name, one)),
  );
}

function testFile(tested: readonly Group[], evaluation_interval: string, tests: readonly object[]): Verdict {
  const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-rules-'));
  try {
    const rule_files = tested.length === 0 ? [] : ['rules.yml'];
    for (const name of rule_files) writeFileSync(join(folder, name), rulesFile({}, templateOf(tested)));
    const group_eval_order = tested.map(({ name }) => name);
    const file = join(folder, 'tests.yml');
    writeFileSync(file, stringify({ rule_files, evaluation_interval, group_eval_order, tests }));
    return promtool('test', 'rules', file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * The shipped groups with these alerts alone, and with what is recorded of what they or these texts name: promtool evaluates
 * every rule that it is given.
 */
export function groupsFor(alerts: readonly string[], texts: readonly string[] = []): readonly Group[] {
  const needed = new Set<AlertRule | RecordingRule>(alertRules.filter(({ alert }) => alerts.includes(alert)));
  const add = (text: string): void => {
    const words = new Set(text.match(/[\w:]+/g));
    for (const rule of recordingRules) {
      if (needed.has(rule) || !words.has(rule.record)) continue;
      needed.add(rule);
      add(rule.expr);
    }
  };
  for (const text of [...texts, ...[...needed].map(({ expr }) => expr)]) add(text);
  return groups
    .map(({ name, rules }) => ({ name, rules: rules.filter((rule) => needed.has(rule)) }))
    .filter(({ rules }) => rules.length > 0);
}

/** Has promtool run the cases of an alert, and the silence of the exporter after one of them. */
export function testAlert(alertname: string, cases: readonly AlertCase[], silent: AlertCase | undefined): Verdict {
  const tests = cases.map((one) => alertTest(alertname, one));
  return testFile(
    groupsFor(silent === undefined ? [alertname] : [alertname, 'FilerExporterDown']),
    cases[0]?.apart ?? '1m',
    silent === undefined ? tests : [...tests, silenceTest(alertname, silent)],
  );
}

/** An alert stays while the exporter cannot be scraped, until the alert on that fires, and then ends. */
function silenceTest(alertname: string, one: AlertCase): object {
  const at = minutes(one.at);
  const looks = at / (one.apart === '5m' ? 5 : 1);
  const silent = {
    ...silentAfter(one),
    [series('up', scraped)]: `1x${looks} 0x90`,
    [series('filer_exporter_build_info', scraped)]: `1x${looks} stale`,
  };
  const firing = (name: string) => `ALERTS{alertname="${name}",alertstate="firing"}`;
  const reported = `count(${firing(alertname)} or ${firing('FilerExporterDown')}) > bool 0`;
  return {
    ...inputOf(`${alertname}: the exporter falls silent`, silent, one.apart),
    promql_expr_test: [
      ...Array.from({ length: 6 }, (_, look) => {
        return { expr: reported, eval_time: `${at + 5 * look}m`, exp_samples: [{ labels: '{}', value: 1 }] };
      }),
      // What looks back over an hour takes as long before the waiting begins.
      { expr: firing(alertname), eval_time: `${at + 80}m`, exp_samples: [] },
    ],
  };
}

/** Has promtool see that a number counts at one moment what an alert says of these series, without its waiting time. */
export function testNumber(expr: string, alert: AlertCase, count: number): Verdict {
  return testFile(groupsFor([], [expr]), alert.apart ?? '1m', [
    {
      ...inputOf(`${alert.when}: ${count}`, alert.series, alert.apart),
      promql_expr_test: [{ expr, eval_time: alert.at, exp_samples: [{ labels: '{}', value: count }] }],
    },
  ]);
}

function alertTest(alertname: string, one: AlertCase): object {
  const { when, series: input, at, pendingAt, apart, values = [] } = one;
  const rule = alertRules.find(({ alert }) => alert === alertname);
  if (rule === undefined) throw new Error(`${alertname}: no such alert`);
  const { page, severity, summary, description } = rule;
  const expected = firings(one).map(({ instance, ...told }) => {
    const labels: Labels = { ...told, instance: instance ?? '' };
    return {
      // What is about a filer does not say which exporter saw it.
      exp_labels: { ...told, severity, ...(page === 'exporter' && instance !== undefined && { instance }) },
      exp_annotations: {
        summary,
        description: rendered(description, labels, values),
        runbook: rendered(remedyOf(rule), labels),
      },
    };
  });
  return {
    ...inputOf(`${alertname}: ${when}`, input, apart),
    alert_rule_test: [{ alertname, eval_time: at, exp_alerts: expected }],
    promql_expr_test: pendingAt === undefined ? [] : [pendingTest(alertname, pendingAt, expected.length)],
  };
}

const TEMPLATE = /\{\{ (?:range|with) .*?\{\{ end \}\}|\{\{ .*? \}\}/g;

/** A text with what Prometheus puts in the place of labels and, in order, of everything else. */
function rendered(text: string, labels: Labels, values: readonly string[] = []): string {
  const left = [...values];
  return text.replaceAll(TEMPLATE, (template) => {
    const [, label] = /^\{\{ \$labels\.(\w+) \}\}$/.exec(template) ?? [];
    return (label === undefined ? left.shift() : labels[label]) ?? '';
  });
}

function pendingTest(alertname: string, at: string, count: number): object {
  const expr = `count by (alertstate) (ALERTS{alertname="${alertname}"})`;
  return { expr, eval_time: at, exp_samples: [{ labels: '{alertstate="pending"}', value: count }] };
}

function recordingTest(name: string, { when, series: input, at, samples }: RecordingCase): object {
  const expected = samples.map(({ labels, value }) => ({ labels: series('', labels), value }));
  return {
    ...inputOf(`${name}: ${when}`, input),
    // Rounded, for the last bits of a quotient are not the same on every processor. That drops the name.
    promql_expr_test: [{ expr: `round(${name}, 0.001)`, eval_time: at, exp_samples: expected }],
  };
}

function inputOf(name: string, input: Series, interval = '1m'): object {
  const input_series = Object.entries(input).map(([each, values]) => ({ series: each, values }));
  return { name, interval, input_series };
}

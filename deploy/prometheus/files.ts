import { stringify } from 'yaml';
import { type Group, groups, runbookOf } from './groups.ts';
import type { AlertRule, RecordingRule } from './rule.ts';

const HEADER =
  '# Written by `npm run docs` from the TypeScript files in deploy/prometheus: change those, not this one.\n';

/** The rules as Prometheus reads them: all that are shipped, or these. */
export function rulesFile(of: readonly Group[] = groups): string {
  return HEADER + yaml({ groups: of.map(written) });
}

/** The same as a custom resource of the Prometheus operator. */
export function prometheusRuleFile(): string {
  const name = 'filer-exporter';
  return (
    HEADER +
    yaml({
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name, labels: { 'app.kubernetes.io/name': name } },
      spec: { groups: groups.map(written) },
    })
  );
}

function written({ name, rules }: Group): object {
  return { name, rules: rules.map((rule) => ('alert' in rule ? alerting(rule) : recording(rule))) };
}

function recording({ record, expr }: RecordingRule): object {
  return { record, expr };
}

function alerting(rule: AlertRule): object {
  const { alert, expr, severity, summary, description } = rule;
  const annotations = { summary, description, runbook_url: runbookOf(rule) };
  return { alert, expr, for: rule.for, labels: { severity }, annotations };
}

function yaml(content: object): string {
  return stringify(content, { lineWidth: 0 });
}

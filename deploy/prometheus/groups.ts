import { applianceAlerts } from './alerts/appliances.ts';
import { exporterAlerts, remoteWriteAlerts } from './alerts/exporter.ts';
import { fileAccelerationAlerts } from './alerts/file-acceleration.ts';
import { portalAlerts } from './alerts/portal.ts';
import { hourRules, momentRules } from './recording-rules.ts';
import type { AlertRule, RecordingRule, Thresholds } from './rule.ts';
import { thresholds } from './thresholds.ts';
import { unexplainedRule } from './unexplained.ts';

export interface Group {
  readonly name: string;
  /** How often Prometheus evaluates the group, if it differs from the configuration of Prometheus. */
  readonly interval?: string;
  readonly rules: readonly (AlertRule | RecordingRule)[];
}

/**
 * Merges the alerts about a filer from two exporters of one account. Alerts about an exporter keep their `instance`,
 * which is their subject.
 */
function once(rules: readonly AlertRule[]): readonly AlertRule[] {
  return rules.map((rule) => {
    const lines = rule.expr.split('\n').map((line) => `  ${line}`);
    return { ...rule, expr: ['max without (instance, pod) (', ...lines, ')'].join('\n') };
  });
}

/** Returns every rule with these thresholds; a rule comes after the rules that it uses. */
export function groupsOf(limits: Thresholds): readonly Group[] {
  const alerting = [
    { name: 'filer-exporter', rules: exporterAlerts(limits) },
    { name: 'filer-exporter-remote-write', rules: remoteWriteAlerts(limits) },
    { name: 'filer-exporter-file-acceleration', rules: once(fileAccelerationAlerts(limits)) },
    { name: 'filer-exporter-appliances', rules: once(applianceAlerts(limits)) },
    { name: 'filer-exporter-portal', rules: once(portalAlerts(limits)) },
  ];
  return [
    { name: 'filer-exporter-recorded', rules: momentRules },
    { name: 'filer-exporter-recorded-hours', interval: '4m', rules: hourRules },
    ...alerting,
    { name: 'filer-exporter-unexplained', rules: [unexplainedRule(alerting.flatMap(({ rules }) => rules))] },
  ];
}

/** Every shipped rule. */
export const groups: readonly Group[] = groupsOf(thresholds);

/** Every shipped recording rule. */
export const recordingRules: readonly RecordingRule[] = groups.flatMap(({ rules }) =>
  rules.filter((rule) => 'record' in rule),
);

/** Every shipped alert. */
export const alertRules: readonly AlertRule[] = groups.flatMap(({ rules }) => rules.filter((rule) => 'alert' in rule));

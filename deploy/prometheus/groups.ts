import { applianceAlerts } from './alerts/appliances.ts';
import { exporterAlerts } from './alerts/exporter.ts';
import { fileAccelerationAlerts } from './alerts/file-acceleration.ts';
import { portalAlerts } from './alerts/portal.ts';
import { recordingRules } from './recording-rules.ts';
import type { AlertRule, RecordingRule, Thresholds } from './rule.ts';
import { thresholds } from './thresholds.ts';

/** Rules that Prometheus evaluates one after the other. */
export interface Group {
  readonly name: string;
  readonly rules: readonly (AlertRule | RecordingRule)[];
}

/**
 * What two exporters of one account say of a filer is one alert. Alerts about an exporter keep their `instance`, for there
 * it is what they are about.
 */
function once(rules: readonly AlertRule[]): readonly AlertRule[] {
  return rules.map((rule) => {
    const lines = rule.expr.split('\n').map((line) => `  ${line}`);
    return { ...rule, expr: ['max without (instance, pod) (', ...lines, ')'].join('\n') };
  });
}

/** Every rule with these thresholds, what is recorded before what is asked of it. */
export function groupsOf(limits: Thresholds): readonly Group[] {
  return [
    { name: 'filer-exporter-recorded', rules: recordingRules },
    { name: 'filer-exporter', rules: exporterAlerts(limits) },
    { name: 'filer-exporter-file-acceleration', rules: once(fileAccelerationAlerts(limits)) },
    { name: 'filer-exporter-appliances', rules: once(applianceAlerts(limits)) },
    { name: 'filer-exporter-portal', rules: once(portalAlerts(limits)) },
  ];
}

/** Every rule that is shipped. */
export const groups: readonly Group[] = groupsOf(thresholds);

/** Every alert that is shipped. */
export const alertRules: readonly AlertRule[] = groups.flatMap(({ rules }) => rules.filter((rule) => 'alert' in rule));

import { account } from './account/dashboard.ts';
import { appliance } from './appliance/dashboard.ts';
import type { Dashboard } from './dashboard.ts';
import { exporter } from './exporter/dashboard.ts';
import { fleet } from './fleet/dashboard.ts';
import { overview } from './overview/dashboard.ts';
import { runbooks } from './runbooks.ts';
import { volumes } from './volumes/dashboard.ts';

/** Every dashboard that shows data, in the order of the folder. */
export function allDashboards(): readonly Dashboard[] {
  return [overview(), volumes(), appliance(), fleet(), account(), exporter()];
}

/** Every dashboard: those, and the runbooks that they link to. */
export function shippedDashboards(): readonly Dashboard[] {
  return [...allDashboards(), runbooks()];
}

/** The file that a dashboard is committed as: what Grafana imports. */
export function textOf(dashboard: Dashboard): string {
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

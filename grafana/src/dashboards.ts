import { account } from './account/dashboard.ts';
import { appliance } from './appliance/dashboard.ts';
import type { Dashboard } from './dashboard.ts';
import { exporter } from './exporter/dashboard.ts';
import { fleet } from './fleet/dashboard.ts';
import { overview } from './overview/dashboard.ts';
import { volumes } from './volumes/dashboard.ts';

/** Every dashboard, in the order of the folder. */
export function allDashboards(): readonly Dashboard[] {
  return [overview(), volumes(), appliance(), fleet(), account(), exporter()];
}

/** The file that a dashboard is committed as: what Grafana imports. */
export function textOf(dashboard: Dashboard): string {
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

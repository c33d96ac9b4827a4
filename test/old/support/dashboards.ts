import type { Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import type { Dashboard } from '../../grafana/src/dashboard.ts';
import { allDashboards } from '../../grafana/src/dashboards.ts';

/** One query of one panel. */
export interface PanelQuery {
  /** Dashboard, panel and query, for messages. */
  readonly where: string;
  readonly dashboard: Dashboard;
  readonly panel: Panel;
  readonly refId: string;
  readonly expr: string;
  readonly legend: string;
  readonly instant: boolean;
}

/** Every dashboard, built anew. */
export const dashboards: readonly Dashboard[] = allDashboards();

/** The panels of a dashboard that show something. */
export function panelsOf(dashboard: Dashboard): readonly Panel[] {
  return (dashboard.panels ?? []).flatMap((panel) => (isRow(panel) ? panel.panels : [panel]));
}

/** Whether it is a heading. */
export function isRow(panel: Panel | RowPanel): panel is RowPanel {
  return panel.type === 'row';
}

/** Every query of every panel of a dashboard. */
export function queriesOf(dashboard: Dashboard): readonly PanelQuery[] {
  return panelsOf(dashboard).flatMap((panel) =>
    (panel.targets ?? []).map((target) => {
      const { expr = '', legendFormat = '', instant, refId = '' } = target as Dataquery;
      const where = `${dashboard.uid} / ${panel.title} / ${refId}`;
      return { where, dashboard, panel, refId, expr, legend: legendFormat, instant: instant === true };
    }),
  );
}

/** Every query of every dashboard. */
export const everyQuery: readonly PanelQuery[] = dashboards.flatMap(queriesOf);

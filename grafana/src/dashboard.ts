import * as classic from '@grafana/grafana-foundation-sdk/dashboard';
import { annotations } from './annotations.ts';
import { outagePanel } from './outage.ts';
import type { Placeable } from './panel.ts';
import { everyDashboard, type Place, TAG, titles, uids } from './places.ts';
import { variables } from './variables.ts';

/**
 * A dashboard in Grafana's classic model, which every Grafana imports and provisions. The newer model, which the
 * SDK prefers, needs Grafana 12.
 */
export type Dashboard = classic.Dashboard;

/** Panels under one heading, in reading order; their widths fill lines of 24 columns. */
export interface Section {
  readonly title: string;
  /** Collapses the part, for panels that are rarely needed. Grafana sends their queries only when the part is opened. */
  readonly collapsed?: true;
  readonly panels: readonly Placeable[];
}

/** A dashboard before its panels have positions. */
export interface Content {
  readonly place: Place;
  readonly description: string;
  /** The time range that the dashboard shows when it is opened, such as `6h`. */
  readonly reach: string;
  readonly variables: readonly (keyof typeof variables)[];
  readonly sections: readonly Section[];
}

/**
 * Gives the panels of a dashboard their positions and numbers in reading order, so that addresses of panels change as
 * little as possible.
 */
export function dashboard({ place, description, reach, variables: names, sections }: Content): Dashboard {
  const builder = new classic.DashboardBuilder(titles[place])
    .uid(uids[place])
    .description(description)
    .tags([TAG])
    .timezone('browser')
    // Provisioned files are changed in their sources; a copy can be edited.
    .readonly()
    .tooltip(classic.DashboardCursorSync.Crosshair)
    .time({ from: `now-${reach}`, to: 'now' })
    .refresh('1m')
    .link(everyDashboard());
  for (const annotation of annotations) builder.annotation(annotation);
  for (const name of ['datasource', ...names]) {
    const variable = variables[name];
    if (variable === undefined) throw new Error(`${titles[place]}: no variable ${name}`);
    builder.withVariable(variable);
  }
  // This panel is above all parts, and the same on every dashboard.
  builder.withPanel(outagePanel().id(1));
  let id = 1;
  for (const { title, panels, collapsed } of sections) {
    id += 1;
    const row = new classic.RowBuilder(title).id(id).collapsed(collapsed ?? false);
    if (collapsed === undefined) builder.withRow(row);
    for (const panel of panels) {
      id += 1;
      if (collapsed === undefined) builder.withPanel(panel.id(id));
      else row.withPanel(panel.id(id));
    }
    if (collapsed) builder.withRow(row);
  }
  return builder.build();
}

import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { boards } from '../../grafana/src/boards.ts';
import { build } from '../../grafana/src/kit.ts';

export interface BoardQuery {
  /** `Overview / Alerts / A`. */
  readonly where: string;
  readonly expr: string;
}

export const dashboards = boards.map(build);

/** The panels of a board, those of folded rows too. */
export function panelsOf({ panels = [] }: ReturnType<typeof build>): readonly Panel[] {
  return panels.flatMap((panel) => ('panels' in panel ? (panel.panels as Panel[]) : [panel as Panel]));
}

/** Every query of the boards, as Grafana sends it but for the variables. */
export const boardQueries: readonly BoardQuery[] = dashboards.flatMap((board) =>
  panelsOf(board).flatMap(({ title, targets = [] }) =>
    (targets as readonly { refId?: string; expr?: string }[]).map((target) => ({
      where: `${board.title?.replace('Filers / ', '')} / ${title} / ${target.refId}`,
      expr: target.expr ?? '',
    })),
  ),
);

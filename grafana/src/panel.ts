import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { Panel, ThresholdsConfig } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as units from '@grafana/grafana-foundation-sdk/units';
import { byAccount } from './by-account.ts';
import type { Link } from './places.ts';
import { plain, type Steps, thresholds } from './steps.ts';
import { unitOf } from './unit.ts';
import { DATA_SOURCE } from './variables.ts';

/** One query of a panel, and the name of its series, such as `{{filer}}`. */
export interface Query {
  readonly expr: string;
  readonly legend: string;
}

/** The options of every panel. */
export interface PanelText {
  readonly title: string;
  /** What the panel shows, and what to do if its values are bad. */
  readonly description: string;
  readonly queries: Query | readonly Query[];
  /** Follows from the queries by default. */
  readonly unit?: string;
  /** The thresholds at which a value turns from good to bad. Without thresholds no value is bad. */
  readonly steps?: Steps;
  /** The width in columns of the grid, which has 24. */
  readonly width: number;
  readonly height?: number;
  /** The page that a click on a series opens. */
  readonly drill?: readonly Link[];
  /** The page that the link of the panel opens. */
  readonly links?: readonly Link[];
  /** The text that is shown if there are no values. */
  readonly empty?: string;
}

/** The text that is shown if there are no values and the panel gives no reason. */
export const MISSING = 'not known';

/** A panel without its number and position. */
export interface Placeable extends Builder<Panel> {
  id(id: number): this;
}

/**
 * The scrape interval of the examples. Shorter steps would request values that do not exist. Grafana makes
 * `$__rate_interval` four times the shortest step of the query, not of the panel, so both have it.
 */
const MIN_STEP = '1m';

interface Common<Self> extends Placeable {
  title(title: string): Self;
  description(description: string): Self;
  datasource(datasource: { readonly type: string; readonly uid: string }): Self;
  interval(interval: string): Self;
  span(columns: number): Self;
  height(rows: number): Self;
  unit(unit: string): Self;
  decimals(count: number): Self;
  thresholds(steps: Builder<ThresholdsConfig>): Self;
  targets(targets: DataqueryBuilder[]): Self;
  dataLinks(links: Link[]): Self;
  links(links: Link[]): Self;
  noValue(text: string): Self;
}

/** Gives a panel of any kind the options that every panel has. */
export function described<Self extends Common<Self>>(
  panel: Self,
  text: PanelText,
  form: { readonly instant?: boolean; readonly format?: PromQueryFormat; readonly height: number },
): Self {
  const queries = [text.queries].flat();
  const isTable = form.format === PromQueryFormat.Table;
  const unit = text.unit ?? unitOf(queries.map(({ expr }) => expr).slice(0, isTable ? 1 : undefined));
  panel
    .title(text.title)
    .description(text.description)
    .datasource(DATA_SOURCE)
    .interval(MIN_STEP)
    .span(text.width)
    .height(text.height ?? form.height)
    .unit(unit)
    .thresholds(thresholds(text.steps ?? plain))
    .targets(queries.map((query, index) => target(query, index, form)));
  // Grafana then writes "3.9 hours" and "33.3 mins". The columns of a table have units of their own.
  if (unit === units.Seconds && !isTable) panel.decimals(1);
  if (text.drill !== undefined) panel.dataLinks([...text.drill]);
  if (text.links !== undefined) panel.links([...text.links]);
  panel.noValue(text.empty ?? MISSING);
  return panel;
}

function target(
  { expr, legend }: Query,
  index: number,
  {
    instant = false,
    format = PromQueryFormat.TimeSeries,
  }: { readonly instant?: boolean; readonly format?: PromQueryFormat },
): DataqueryBuilder {
  const query = new DataqueryBuilder()
    .datasource(DATA_SOURCE)
    .refId(refIdAt(index))
    .expr(byAccount(expr))
    .legendFormat(legend)
    .interval(MIN_STEP)
    .format(format);
  return instant ? query.instant() : query.range();
}

/** Names queries A, B, C and so on. */
export function refIdAt(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

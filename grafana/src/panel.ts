import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { Panel, ThresholdsConfig } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as units from '@grafana/grafana-foundation-sdk/units';
import { byAccount } from './by-account.ts';
import type { Link } from './places.ts';
import { plain, type Steps, thresholds } from './steps.ts';
import { unitOf } from './unit.ts';
import { DATA_SOURCE } from './variables.ts';

/** One query of a panel, and what its series are called, such as `{{filer}}`. */
export interface Query {
  readonly expr: string;
  readonly legend: string;
}

/** What every panel has. Its unit is worked out from its queries. */
export interface PanelText {
  readonly title: string;
  /** What it shows, and what to do when it looks bad. */
  readonly description: string;
  readonly queries: Query | readonly Query[];
  /** Where a value turns from good to bad; without any, neither more nor less is worse. */
  readonly steps?: Steps;
  /** Of the 24 columns of the grid. */
  readonly width: number;
  readonly height?: number;
  /** Where a click on a series leads. */
  readonly drill?: readonly Link[];
  /** Where the panel's own link leads. */
  readonly links?: readonly Link[];
  /** Said in place of values when there are none. */
  readonly empty?: string;
}

/** Said in place of values when there are none, where a panel does not say why. */
export const MISSING = 'not known';

/** A panel that has everything but its number and place. */
export interface Placeable extends Builder<Panel> {
  id(id: number): this;
}

/**
 * The usual scrape interval here. Shorter steps would ask for values that do not exist; and Grafana makes
 * `$__rate_interval` four times the least step of the query, not of the panel, so both have it.
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

/** Gives a panel of any kind what every panel has. */
export function described<Self extends Common<Self>>(
  panel: Self,
  text: PanelText,
  form: { readonly instant?: boolean; readonly format?: PromQueryFormat; readonly height: number },
): Self {
  const queries = [text.queries].flat();
  const isTable = form.format === PromQueryFormat.Table;
  const unit = unitOf(queries.map(({ expr }) => expr).slice(0, isTable ? 1 : undefined));
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
  // "3.9 hours" and "33.3 mins"; the columns of a table have their own units.
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

/** A, B, C and so on. */
export function refIdAt(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

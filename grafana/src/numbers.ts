import * as bars from '@grafana/grafana-foundation-sdk/bargauge';
import {
  BarGaugeDisplayMode,
  BarGaugeValueMode,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  TableCellHeight,
  TableSortByFieldStateBuilder,
  VizLegendOptionsBuilder,
  VizOrientation,
} from '@grafana/grafana-foundation-sdk/common';
import {
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  SpecialValueMatch,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stats from '@grafana/grafana-foundation-sdk/stat';
import * as tables from '@grafana/grafana-foundation-sdk/table';
import { described, type PanelText, refIdAt } from './panel.ts';
import type { Link } from './places.ts';
import { type Steps, thresholds } from './steps.ts';
import { unitOf } from './unit.ts';

/** Large numbers of this moment, each with its name, in the colour of the step that it is on. */
export function number(text: PanelText, mappings: ValueMapping[] = []): stats.PanelBuilder {
  return described(new stats.PanelBuilder(), text, { height: 4, instant: true })
    .mappings([...mappings, absent(text.empty, mappings.length)])
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .textMode(BigValueTextMode.ValueAndName)
    .reduceOptions(newest());
}

/** Gives some of several numbers steps of its own. */
export function stepsOf(
  panel: stats.PanelBuilder,
  names: string | readonly string[],
  steps: Steps,
): stats.PanelBuilder {
  for (const name of [names].flat()) {
    panel.overrideByName(name, [{ id: 'thresholds', value: thresholds(steps).build() }]);
  }
  return panel;
}

/** The text of a label in place of a number, for gauges that are always 1. */
export function words(text: PanelText): stats.PanelBuilder {
  return number(text).textMode(BigValueTextMode.Name);
}

/** A ranking of this moment. */
export function ranking(text: PanelText): bars.PanelBuilder {
  return described(new bars.PanelBuilder(), text, { height: 8, instant: true })
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .displayMode(BarGaugeDisplayMode.Basic)
    .valueMode(BarGaugeValueMode.Color)
    .orientation(VizOrientation.Horizontal)
    .showUnfilled(true)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(false)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .calcs([]),
    )
    .reduceOptions(newest())
    .min(0);
}

/** A column of a table: a label, or the value of a query by its legend. */
export interface Column {
  readonly label: string;
  readonly title: string;
  readonly link?: Link;
}

/** The legend of a query whose value is always 1: it brings a table its labels, and has no column. */
export const LABELS_ALONE = 'known';

/** A table of this moment: the labels named, then each query's value under its legend. */
export function table(
  text: PanelText & {
    readonly columns: readonly Column[];
    readonly sortedBy?: readonly string[];
    readonly stepsBy?: Readonly<Record<string, Steps>>;
  },
): tables.PanelBuilder {
  const { columns, queries, sortedBy = [], stepsBy = {} } = text;
  const fieldOf = (index: number) => (queries.length === 1 ? 'Value' : `Value #${refIdAt(index)}`);
  const shown = [
    ...columns.map(({ label, title }) => [label, title] as const),
    ...queries.map(({ legend }, index) => [fieldOf(index), legend] as const),
  ].filter(([, title]) => title !== LABELS_ALONE);
  // Grafana writes this into every cell without a value, a label that is optional too.
  const panel = described(
    new tables.PanelBuilder(),
    { ...text, empty: '–' },
    { height: 8, instant: true, format: PromQueryFormat.Table },
  )
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .showHeader(true)
    .cellHeight(TableCellHeight.Sm)
    .filterable(true)
    .sortBy(
      sortedBy.map((title) => new TableSortByFieldStateBuilder().displayName(title).desc(title === queries[0]?.legend)),
    )
    .transformations([
      ...(queries.length > 1 ? [{ id: 'merge', options: {} }] : []),
      // Only what is named: what else a scrape adds, as instance and job, stays out.
      { id: 'filterFieldsByName', options: { include: { names: shown.map(([name]) => name) } } },
      {
        id: 'organize',
        options: {
          excludeByName: {},
          indexByName: Object.fromEntries(shown.map(([name], index) => [name, index])),
          renameByName: Object.fromEntries(shown),
        },
      },
    ]);
  for (const { title, link } of columns) {
    if (link !== undefined) panel.overrideByName(title, [{ id: 'links', value: [link.build()] }]);
  }
  for (const { expr, legend } of queries.filter((query) => query.legend !== LABELS_ALONE)) {
    panel.overrideByName(legend, [
      { id: 'unit', value: unitOf([expr]) },
      { id: 'custom.cellOptions', value: { type: 'color-text' } },
      ...(stepsBy[legend] === undefined ? [] : [{ id: 'thresholds', value: thresholds(stepsBy[legend]).build() }]),
    ]);
  }
  return panel;
}

/** A number that is not there, in words and without the colour of an alarm. */
function absent(text = 'no data', index: number): ValueMapping {
  return {
    type: MappingType.SpecialValue,
    options: { match: SpecialValueMatch.NullAndNan, result: { text, color: 'text', index } },
  };
}

function newest(): ReduceDataOptionsBuilder {
  return new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false);
}

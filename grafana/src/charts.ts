import {
  AxisPlacement,
  GraphDrawStyle,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as heatmaps from '@grafana/grafana-foundation-sdk/heatmap';
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as timelines from '@grafana/grafana-foundation-sdk/statetimeline';
import * as charts from '@grafana/grafana-foundation-sdk/timeseries';
import * as units from '@grafana/grafana-foundation-sdk/units';
import { lineColours } from './colours.ts';
import { spacedNames, unknownState, words } from './mappings.ts';
import { orNaN, reasonForNothing, reasons, worstOrReason } from './nothing.ts';
import { absent } from './numbers.ts';
import { described, type PanelText, type Query } from './panel.ts';
import { RATE, unitOf } from './unit.ts';

/**
 * The units of long times, and their seconds. Grafana places the marks of an axis at round numbers of the unit, so an axis
 * in seconds would have marks at 16.7 and 33.3 minutes.
 */
const LONG = { min: 60, h: 3600 } as const;

/**
 * The most steps of a chart that computes a value of every filer at each step. With more steps, Prometheus needs many
 * seconds for it in a large fleet. A time range of an hour has fewer steps anyway.
 */
const MAX_STEPS = 100;

/** The height of a chart: its legend shows three lines, and no part of a fourth one. */
const HEIGHT = 9;

/**
 * The lowest value that an axis ends at, by its unit; it is 1 for other units. Without it, Grafana would extend the axis of a
 * line of zeros to 100.
 */
const LEAST_TOP: Readonly<Record<string, number>> = {
  [units.Seconds]: 0.1,
  [units.BytesIEC]: 1024,
  [units.BytesPerSecondIEC]: 1024,
  [RATE]: 0.1,
};

/** The options of a chart over time, in addition to those of every panel. */
interface ChartText extends PanelText {
  /** The unit of times that are longer than seconds. */
  readonly times?: keyof typeof LONG;
  /** Stacks the series, if their sum is of interest. */
  readonly stacked?: boolean;
  /** The queries compute a value of every filer or volume, as all do that choose the worst. */
  readonly ofAll?: boolean;
}

/** Makes a chart of lines with dashed thresholds; the legend has the newest and the highest value of each line. */
export function chart({ stacked = false, ofAll = false, times, ...given }: ChartText): charts.PanelBuilder {
  const queries = [given.queries].flat().map(({ expr, legend }) => ({ expr: orNaN(expr, legend), legend }));
  const named = { ...given, queries };
  const text = withReason(times === undefined ? named : inUnit(named, times));
  const panel = described(new charts.PanelBuilder(), text, { height: HEIGHT })
    .legend(legendTable(['last', 'max']))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    // A quiet palette: what has a meaning has its colour below.
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Shades).fixedColor('blue'))
    .thresholdsStyle(
      new GraphThresholdsStyleConfigBuilder().mode(
        text.steps === undefined ? GraphThresholdsStyleMode.Off : GraphThresholdsStyleMode.Dashed,
      ),
    )
    // A series of zeros would draw its line on top of the stack, as if it had a part in it.
    .lineWidth(stacked ? 0 : 1)
    .fillOpacity(stacked ? 60 : 0)
    // A lone sample has no line.
    .showPoints(stacked ? VisibilityMode.Never : VisibilityMode.Auto)
    .axisSoftMin(0)
    .axisSoftMax(LEAST_TOP[text.unit ?? unitOf(queries.map(({ expr }) => expr))] ?? 1)
    // A line that has ended has no newest value in the legend, because here each line reaches to the end of the others.
    .transformations([{ id: 'joinByField', options: { byField: 'Time', mode: 'outer' } }, ...spacedNames(queries)])
    .mappings([...(times === undefined ? [] : [underOne(times)]), absent('–')]);
  for (const { pattern, properties } of lineColours([text.queries].flat().map(({ legend }) => legend))) {
    panel.overrideByRegexp(pattern, properties);
  }
  if (times !== undefined) panel.decimals(0);
  if (ofAll) panel.maxDataPoints(MAX_STEPS);
  if (stacked) {
    panel
      .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'))
      // A lone sample has no area, but it has a bar.
      .drawStyle(GraphDrawStyle.Bars)
      .barWidthFactor(1);
  }
  return panel;
}

/** The same numbers and thresholds in another unit. */
function inUnit(text: PanelText, times: keyof typeof LONG): PanelText {
  const { queries, steps } = text;
  const seconds = LONG[times];
  return {
    ...text,
    unit: `suffix:${times}`,
    queries: [queries].flat().map(({ expr, legend }) => ({ expr: `(${expr}) / ${seconds}`, legend })),
    ...(steps && { steps: steps.map(({ value, color }) => ({ value: value && value / seconds, color })) }),
  };
}

/** A time that is shorter than one unit, which would else be rounded to 0 or 1. An axis has no such mark. */
function underOne(times: keyof typeof LONG): ValueMapping {
  const result = { text: `under 1 ${times}`, index: 0 };
  return { type: MappingType.RangeToText, options: { from: 0.001, to: 0.999, result } };
}

/** Makes a chart with a line for each of the twenty worst things, coloured by its state. The mappings name the states. */
export function timeline(
  { queries: { expr, legend }, ...text }: PanelText & { readonly queries: Query },
  mappings: ValueMapping[],
): timelines.PanelBuilder {
  const queries = { expr: worstOrReason(expr, legend), legend };
  return (
    described(new timelines.PanelBuilder(), { ...text, queries }, { height: 13 })
      .mappings([...mappings, ...words(...reasons), unknownState])
      // Grafana colours by thresholds before it looks at the words, and then shows neither.
      .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed).fixedColor('blue'))
      .legend(
        new VizLegendOptionsBuilder()
          .showLegend(true)
          .displayMode(LegendDisplayMode.List)
          .placement(LegendPlacement.Bottom)
          .calcs([]),
      )
      .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Single).sort(SortOrder.None))
      .showValue(VisibilityMode.Never)
      .rowHeight(0.8)
      .mergeValues(true)
      .maxDataPoints(MAX_STEPS)
      .fillOpacity(80)
  );
}

/** Makes a chart of the buckets of a histogram over time: the colour of a field is the number of events that took that long. */
export function bucketHeatmap(text: PanelText & { readonly measures: string }): heatmaps.PanelBuilder {
  return heat(text, PromQueryFormat.Heatmap)
    .calculate(false)
    .yAxis(new heatmaps.YAxisConfigBuilder().unit(unitOf([text.measures])).axisPlacement(AxisPlacement.Left));
}

function heat(text: PanelText, format: PromQueryFormat): heatmaps.PanelBuilder {
  return (
    described(new heatmaps.PanelBuilder(), withReason(text), { height: HEIGHT, format })
      // Each bucket counts every filer.
      .maxDataPoints(MAX_STEPS / 2)
      .color(
        new heatmaps.HeatmapColorOptionsBuilder()
          .mode(heatmaps.HeatmapColorMode.Scheme)
          .scheme('Blues')
          .fill('dark-blue')
          .exponent(0.5)
          .steps(64)
          .reverse(false),
      )
      .tooltip(new heatmaps.HeatmapTooltipBuilder().mode(TooltipDisplayMode.Single).yHistogram(true))
      .showLegend()
  );
}

/** Adds the reasons why a chart may be empty, because a chart has room for them. */
function withReason(text: PanelText): PanelText {
  return { empty: reasonForNothing([text.queries].flat().map(({ expr }) => expr)), ...text };
}

function legendTable(calculations: string[]): VizLegendOptionsBuilder {
  return new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.Table)
    .placement(LegendPlacement.Bottom)
    .sortBy('Last')
    .sortDesc(true)
    .calcs(calculations);
}

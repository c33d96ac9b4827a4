import {
  BarGaugeDisplayMode,
  BarGaugeValueMode,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
  TableCellHeight,
  TableSortByFieldStateBuilder,
  VizOrientation,
  VizTextDisplayOptionsBuilder,
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
import * as units from '@grafana/grafana-foundation-sdk/units';
import { isWord, words as named, spaced, spacedNames } from './mappings.ts';
import { isRecorded, NOTHING, orReason, orReasonInWords, reasons, reasonsFor } from './nothing.ts';
import { described, MISSING, type PanelText, type Query, refIdAt } from './panel.ts';
import type { Link } from './places.ts';
import { select } from './select.ts';
import { countOf, type Steps, thresholds } from './steps.ts';
import { unitOf } from './unit.ts';

/** Makes a panel of large numbers of this moment, each with its name, coloured by its threshold. */
export function number(text: PanelText, mappings: ValueMapping[] = []): stats.PanelBuilder {
  const [first, ...others] = [text.queries].flat();
  const { expr: query = '', legend: name = '' } = first ?? {};
  // The reason for missing numbers is shown once. While the portal is down, the number of unknown things is shown instead.
  const expr = orReason(
    query,
    name,
    others.some(({ legend }) => legend === 'unknown'),
  );
  if (first === undefined || expr === query) return stat(text, mappings);
  const empty = isRecorded(query) ? MISSING : 'not reported';
  return stat({ empty, ...text, queries: [{ ...first, expr }, ...others] }, mappings);
}

function stat(text: PanelText, mappings: ValueMapping[] = []): stats.PanelBuilder {
  const isMany = [text.queries].flat().length > 1;
  return (
    described(new stats.PanelBuilder(), text, { height: 4, instant: true })
      .mappings([...mappings, ...named(...reasons), absent(text.empty)])
      .transformations(spacedNames([text.queries].flat()))
      .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
      .colorMode(BigValueColorMode.Value)
      .graphMode(BigValueGraphMode.None)
      .textMode(BigValueTextMode.ValueAndName)
      // The name above the number, as in the panels next to it.
      .wideLayout(false)
      .text(new VizTextDisplayOptionsBuilder().titleSize(NAME_SIZE).valueSize(22))
      // Several numbers in a narrow panel are lines below each other, or else their names are cut.
      .orientation(isMany && text.width < 8 ? VizOrientation.Horizontal : VizOrientation.Auto)
      .reduceOptions(newest())
  );
}

/** The size of names in pixels: Grafana would make the names of several numbers too small to read. */
const NAME_SIZE = 14;

/** Gives numbers that count things in a state the colours of the states. */
export function stateCounts(panel: stats.PanelBuilder, ...states: readonly string[]): stats.PanelBuilder {
  for (const state of states) {
    panel.overrideByName(state, [{ id: 'thresholds', value: thresholds(countOf(state)).build() }]);
  }
  return panel;
}

/** Shows the value of a label instead of a number, for gauges that are always 1. */
export function words({
  queries: { expr, legend },
  ...text
}: PanelText & { readonly queries: Query }): stats.PanelBuilder {
  const { empty = MISSING } = text;
  const query = { expr: orReasonInWords(expr, legend, empty), legend };
  return stat({ ...text, queries: query }, named([-1, empty])).textMode(BigValueTextMode.Name);
}

/** The width in pixels of the bars of a ranking, with their numbers. */
const BAR_WIDTH = 190;

/**
 * Makes a table that orders things by their value at this moment, each with a bar. The label of the legend names the
 * things.
 */
export function ranking({
  queries: { expr, legend },
  name,
  drill,
  lowestFirst = false,
  ...text
}: Omit<PanelText, 'drill'> & {
  readonly queries: Query;
  /** What the things are, such as `Appliance`. */
  readonly name: string;
  /** The page that a click on a name opens. */
  readonly drill?: Link;
  readonly lowestFirst?: boolean;
}): tables.PanelBuilder {
  const label = legend.replaceAll(/[{}]/g, '');
  return table({
    height: 11,
    ...text,
    queries: { expr, legend: 'Value' },
    columns: [{ label, title: name, ...(drill === undefined ? {} : { link: drill }) }],
    valueWidth: BAR_WIDTH,
    sortedBy: [['Value', lowestFirst ? 'up' : 'down']],
    bars: { full: fullBar(expr, text.steps) },
  });
}

/** The value of a full bar: a whole share or the highest threshold. Without either, it is the highest value that is shown. */
function fullBar(expr: string, steps: Steps = []): number | undefined {
  const least = unitOf([expr]) === units.PercentUnit ? [1] : [];
  const values = [...least, ...steps.flatMap(({ value }) => value ?? [])];
  return values.length === 0 ? undefined : Math.max(...values);
}

/** A column of a table: a label, or the value of a query by its legend. */
export interface Column {
  readonly label: string;
  readonly title: string;
  readonly link?: Link;
  /** The width in pixels; columns without a width share the remaining width. */
  readonly width?: number;
  /** The smallest width in pixels of a column that takes the remaining width, if Grafana's is too large. */
  readonly minWidth?: number;
  /** What the column shows instead of values. */
  readonly mappings?: ValueMapping[];
  /** Breaks long text into several lines. */
  readonly wrap?: boolean;
  /** The column is hidden; only links of other columns use it. */
  readonly isHidden?: boolean;
}

/** How many decimals a column of a unit has. Counts are whole, although `increase()` has fractions. */
const DECIMALS: Readonly<Record<string, number>> = { [units.Seconds]: 1, [units.LocaleFormat]: 0 };

/** A bar with its number, both in the colour of the number. */
const BAR_CELL = { type: 'gauge', mode: BarGaugeDisplayMode.Basic, valueDisplayMode: BarGaugeValueMode.Color };

/** The legend of a query whose value is always 1: the query adds labels to the table, and has no column. */
export const LABELS_ALONE = 'known';

/** Makes a table of this moment: a column for each named label, then one for the value of each query. */
export function table(
  text: PanelText & {
    readonly columns: readonly Column[];
    /** A query for the rows of the table, if the first query has fewer. */
    readonly rows?: string;
    readonly sortedBy?: readonly (readonly [title: string, way: 'up' | 'down'])[];
    readonly stepsBy?: Readonly<Record<string, Steps>>;
    readonly mappingsBy?: Readonly<Record<string, ValueMapping[]>>;
    /** The width of each column with a value, in pixels. */
    readonly valueWidth?: number;
    /** Draws values as bars with their numbers, and leaves out the titles of the columns. `full`: the value of a full bar. */
    readonly bars?: { readonly full: number | undefined };
  },
): tables.PanelBuilder {
  const { columns, sortedBy = [], stepsBy = {}, mappingsBy = {}, valueWidth, bars, empty = MISSING } = text;
  // An empty table has one row that says so, because Grafana would leave out columns without data. A table with a link has
  // no such row.
  const textColumn = columns.find(({ link }) => link === undefined)?.label;
  const linked = columns.filter(({ link }) => link !== undefined).map(({ label }) => [label, NOTHING] as const);
  const filledBy = (text: string) => [...linked, ...(textColumn === undefined ? [] : [[textColumn, text] as const])];
  const emptyRow = (row: string, texts: typeof linked) =>
    texts.reduce(
      (so, [label, value]) => `label_replace(${so}, "${label}", "${value}", "", "")`,
      text.rows === undefined ? row : `(${row}) unless on () ${text.rows}`,
    );
  const [{ expr: query = '' } = {}] = [text.queries].flat();
  // The reason stands in place of the first value, because a link needs a name.
  const none = [
    ...reasonsFor(query).map((reason) => emptyRow(reason, filledBy(NOTHING))),
    emptyRow(`NaN * group(${select('up')})`, filledBy(empty)),
  ].join(' or on () ');
  // What a cell without a value shows; Grafana would write the text of an empty table there.
  const missing = (index: number) => [
    ...(textColumn === undefined ? [cell(SpecialValueMatch.NotANumber, empty, index)] : []),
    cell(SpecialValueMatch.NullAndNan, '–', index + 1),
  ];
  const dash = (index: number) => cell(SpecialValueMatch.Empty, '–', index);
  const queries = [text.queries]
    .flat()
    .map((query, index) => (index === 0 ? { ...query, expr: `${query.expr} or on () ${none}` } : query));
  const fieldOf = (index: number) => (queries.length === 1 ? 'Value' : `Value #${refIdAt(index)}`);
  const shown = [
    ...columns.map(({ label, title }) => [label, title] as const),
    ...queries.map(({ legend }, index) => [fieldOf(index), legend] as const),
  ].filter(([, title]) => title !== LABELS_ALONE);
  const panel = described(
    new tables.PanelBuilder(),
    // A table always has a row, so this text is shown if Prometheus does not respond.
    { ...text, queries, empty: MISSING },
    {
      height: 8,
      instant: true,
      format: PromQueryFormat.Table,
    },
  )
    // For labels; Grafana would read those that look like numbers as such.
    .unit(units.String)
    .mappings([...missing(0), dash(2)])
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .showHeader(bars === undefined)
    // Room for the two lines of a long text: Grafana measures the label, not the text in its place.
    .cellHeight(columns.some(({ wrap }) => wrap) ? TableCellHeight.Md : TableCellHeight.Sm)
    .sortBy(sortedBy.map(([title, way]) => new TableSortByFieldStateBuilder().displayName(title).desc(way === 'down')))
    .transformations([
      ...(queries.length > 1 ? [{ id: 'merge', options: {} }] : []),
      // Only the named labels are columns, so that `instance`, `job` and other labels of the scrape are left out.
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
  const narrow = narrowWidth(text.width, [
    ...columns.filter(({ isHidden }) => !isHidden).map(({ width }) => width),
    ...shown.slice(columns.length).map(() => valueWidth),
  ]);
  for (const [
    index,
    { label, title, link, minWidth, wrap = false, isHidden = false, ...column },
  ] of columns.entries()) {
    const mappings = column.mappings ?? (isWord(label) ? [...spaced, dash(spaced.length)] : undefined);
    // The first column takes the remaining width.
    const width = column.width ?? (index === 0 || minWidth !== undefined ? undefined : narrow);
    const properties = [
      ...(link === undefined ? [] : [{ id: 'links', value: [link.build()] }]),
      ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
      ...(minWidth === undefined ? [] : [{ id: 'custom.minWidth', value: minWidth }]),
      ...(mappings === undefined && !wrap
        ? []
        : [
            {
              id: 'custom.cellOptions',
              value: { type: column.mappings === undefined ? 'auto' : 'color-text', wrapText: wrap },
            },
          ]),
      ...(wrap ? [{ id: 'custom.wrapText', value: true }] : []),
      ...(isHidden ? [{ id: 'custom.hidden', value: true }] : []),
      ...(link === undefined && mappings === undefined
        ? []
        : [{ id: 'mappings', value: mappings ?? [cell(SpecialValueMatch.Empty, NOTHING, 0)] }]),
    ];
    if (properties.length > 0) panel.overrideByName(title, properties);
  }
  const values = queries.filter(({ legend }) => legend !== LABELS_ALONE);
  for (const [index, { expr, legend }] of values.entries()) {
    const unit = unitOf([expr]);
    const mappings = [
      ...(mappingsBy[legend] ?? []),
      ...(index === 0 && reasonsFor(query).length > 0 ? named(...reasons) : []),
    ];
    panel.overrideByName(legend, [
      { id: 'unit', value: unit },
      ...(unit in DECIMALS ? [{ id: 'decimals', value: DECIMALS[unit] }] : []),
      { id: 'custom.cellOptions', value: bars === undefined ? { type: 'color-text' } : BAR_CELL },
      ...(bars === undefined ? [] : [{ id: 'min', value: 0 }]),
      ...(bars?.full === undefined ? [] : [{ id: 'max', value: bars.full }]),
      ...((valueWidth ?? narrow) === undefined ? [] : [{ id: 'custom.width', value: valueWidth ?? narrow }]),
      ...(stepsBy[legend] === undefined ? [] : [{ id: 'thresholds', value: thresholds(stepsBy[legend]).build() }]),
      ...(mappings.length === 0 ? [] : [{ id: 'mappings', value: [...mappings, ...missing(mappings.length)] }]),
    ]);
  }
  return panel;
}

/** The smallest width that Grafana gives a column without a width, in pixels. */
const MIN_WIDTH = 150;

/**
 * Returns the width in pixels of a panel of this many grid columns, without its margins, on a screen of 1440 pixels with
 * Grafana's menu docked, which is the default.
 */
export function pixelsOf(width: number): number {
  return Math.floor((width * 1112) / 24) - 8 - 18;
}

/** Returns the width that columns without a width need so that all fit; undefined if all fit without it. */
function narrowWidth(width: number, widths: readonly (number | undefined)[]): number | undefined {
  const free = widths.filter((one) => one === undefined).length;
  const taken = widths.reduce<number>((sum, one) => sum + (one ?? 0), 0);
  const left = pixelsOf(width) - taken;
  if (free < 2 || left >= free * MIN_WIDTH) return undefined;
  return Math.floor((left - MIN_WIDTH) / (free - 1));
}

/** Returns the text for a missing number, without the colour of an alarm. */
export function absent(text = MISSING): ValueMapping {
  return cell(SpecialValueMatch.NullAndNan, text, 0);
}

function cell(match: SpecialValueMatch, text: string, index: number): ValueMapping {
  return { type: MappingType.SpecialValue, options: { match, result: { text, color: 'gray', index } } };
}

function newest(): ReduceDataOptionsBuilder {
  return new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false);
}

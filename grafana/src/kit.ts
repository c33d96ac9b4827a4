import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stats from '@grafana/grafana-foundation-sdk/stat';
import * as tables from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

/*
 * What the boards are made of: five kinds of panels, four variables, and links. Queries are PromQL as Grafana sends it; no
 * function puts one together. A panel shows one fact, and says in `help` what to do if its values are bad.
 *
 * How a name gets into a query: one choice as filer=`${filer:raw}`, several as filer=~`${filer:regex}`. The quotes are
 * backticks, in which PromQL has no escapes, so brackets, quotes, bars, backslashes and plus signs need nothing else.
 * Grafana's own escaping, as in "$filer", breaks names with quotes.
 */

/** Where a value gets another colour: the first step has no lower end. Orange: an alert warns. Red: an alert pages. */
export type Steps = readonly [color: string, ...others: (readonly [from: number, color: string])[]];

interface Query {
  readonly expr: string;
  /** The name of a series, such as `{{filer}}`; in a table, the title of the column. */
  readonly name: string;
  /** The unit and colours of one column of a table. */
  readonly unit?: string;
  readonly steps?: Steps;
  readonly mappings?: dashboard.ValueMapping[];
}

/** The boards that a click on a name opens. */
type Target = 'filer' | 'volume';

interface Options {
  readonly title: string;
  /** What the panel shows, and what to do if its values are bad. */
  readonly help: string;
  /** Either one query and the name of its series, or several. */
  readonly query?: string;
  readonly name?: string;
  readonly queries?: readonly Query[];
  /** Columns of the grid, which has 24. */
  readonly width: number;
  readonly height?: number;
  readonly unit?: string;
  readonly steps?: Steps;
  readonly mappings?: dashboard.ValueMapping[];
  /** The text of a panel without data. It never says that all is well, because the data may be missing. */
  readonly empty: string;
  /** A click on a series opens the board of its filer or volume. */
  readonly link?: Target;
  /** The colours of series that have a meaning, by name. */
  readonly colors?: Readonly<Record<string, string>>;
}

export type Panel = Builder<dashboard.Panel> & { id(id: number): Panel };

interface Row {
  readonly title: string;
  /** Grafana sends the queries of a folded row only when it is opened. */
  readonly folded?: true;
  readonly panels: readonly Panel[];
}

export interface Board {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** The time range that the board shows when it is opened. */
  readonly range: string;
  readonly variables: readonly Builder<dashboard.VariableModel>[];
  /** Panels above all rows, below the line that every board begins with. */
  readonly top: readonly Panel[];
  readonly rows: readonly Row[];
}

const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

/** The scrape interval of the examples. Shorter steps would show values that do not exist. */
const SCRAPE_INTERVAL = '1m';

export const SECONDS = 's';
export const BYTES = 'bytes';
export const RATIO = 'percentunit';
export const COUNT = 'locale';
export const PER_SECOND = 'reqps';

/** Without steps no value is good or bad. */
const plain: Steps = ['blue'];
const words: Steps = ['text'];

/** 0 and 1 in words. */
export function yesNo(one: string, zero: string, zeroColor = 'red'): dashboard.ValueMapping[] {
  const options = { 1: { text: one, color: 'green', index: 0 }, 0: { text: zero, color: zeroColor, index: 1 } };
  return [{ type: dashboard.MappingType.ValueToText, options }];
}

/** What a number shows that is not there, without the green of health. */
function unknown(text: string): dashboard.ValueMapping {
  const options = { match: dashboard.SpecialValueMatch.NullAndNan, result: { text, color: 'gray', index: 9 } };
  return { type: dashboard.MappingType.SpecialValue, options };
}

/** Large numbers of this moment. */
export function stat(options: Options & { readonly nameOnly?: true }): Panel {
  return described(new stats.PanelBuilder(), options, { height: 4, instant: true })
    .colorMode(common.BigValueColorMode.Value)
    .graphMode(common.BigValueGraphMode.None)
    .textMode(textModeOf(options))
    .wideLayout(false)
    .text(new common.VizTextDisplayOptionsBuilder().titleSize(14).valueSize(24))
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']));
}

function textModeOf({ name, queries, nameOnly }: Options & { readonly nameOnly?: true }): common.BigValueTextMode {
  if (nameOnly) return common.BigValueTextMode.Name;
  return name === undefined && queries === undefined
    ? common.BigValueTextMode.Value
    : common.BigValueTextMode.ValueAndName;
}

/** A ranking of this moment: one bar for each series, in the order of the response, which `topk` sorts. */
export function bars(options: Options): Panel {
  return described(new bargauge.PanelBuilder(), options, { height: 9, instant: true })
    .orientation(common.VizOrientation.Horizontal)
    .displayMode(common.BarGaugeDisplayMode.Basic)
    .valueMode(common.BarGaugeValueMode.Color)
    .namePlacement(common.BarGaugeNamePlacement.Left)
    .showUnfilled(false)
    .text(new common.VizTextDisplayOptionsBuilder().titleSize(12).valueSize(14))
    .min(0)
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']));
}

/** Lines over time. Thresholds are dashed lines. */
export function chart(options: Options & { readonly stacked?: true }): Panel {
  const panel = described(new timeseries.PanelBuilder(), options, { height: 8, instant: false })
    .legend(
      new common.VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(common.LegendDisplayMode.Table)
        .placement(common.LegendPlacement.Bottom)
        .calcs(['lastNotNull', 'max'])
        .sortBy('Last *')
        .sortDesc(true),
    )
    .tooltip(
      new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi).sort(common.SortOrder.Descending),
    )
    .thresholdsStyle(
      new common.GraphThresholdsStyleConfigBuilder().mode(
        options.steps === undefined ? common.GraphThresholdsStyleMode.Off : common.GraphThresholdsStyleMode.Dashed,
      ),
    )
    .colorScheme(new dashboard.FieldColorBuilder().mode(dashboard.FieldColorModeId.PaletteClassic))
    .axisSoftMin(0)
    .showPoints(common.VisibilityMode.Auto);
  // A line of zeros would have an axis up to 100.
  if (options.unit === undefined) panel.axisSoftMax(1);
  if (options.stacked) {
    panel.stacking(new common.StackingConfigBuilder().mode(common.StackingMode.Normal).group('A')).fillOpacity(30);
  }
  return panel;
}

/** A histogram over time: the colour of a field is how many events took that long. */
export function heat(options: Options): Panel {
  return described(new heatmap.PanelBuilder(), options, {
    height: 8,
    instant: false,
    format: PromQueryFormat.Heatmap,
  })
    .maxDataPoints(60)
    .calculate(false)
    .yAxis(new heatmap.YAxisConfigBuilder().unit(options.unit ?? SECONDS).axisPlacement(common.AxisPlacement.Left))
    .color(
      new heatmap.HeatmapColorOptionsBuilder()
        .mode(heatmap.HeatmapColorMode.Scheme)
        .scheme('Blues')
        .fill('dark-blue')
        .exponent(0.5)
        .steps(64),
    )
    .tooltip(new heatmap.HeatmapTooltipBuilder().mode(common.TooltipDisplayMode.Single).yHistogram(true))
    .showLegend();
}

interface Column {
  /** A label of the queries. */
  readonly label: string;
  readonly title: string;
  readonly link?: Target;
  /** The colours of values that have a meaning. */
  readonly colors?: Readonly<Record<string, string>>;
  /** In pixels; columns without a width share what is left. */
  readonly width?: number;
}

/** Rows of this moment, joined by their labels: a column for each label named here, then one for each named query. */
export function table(
  options: Omit<Options, 'link' | 'colors'> & {
    readonly columns: readonly Column[];
    /** Titles of the columns that order the rows. */
    readonly sortBy?: readonly (readonly [title: string, direction: 'up' | 'down'])[];
  },
): Panel {
  const { columns, sortBy = [] } = options;
  const queries = queriesOf(options);
  const values = queries.map(({ name }, index) => [valueField(queries, index), name] as const);
  const fields = [
    ...columns.map(({ label, title }) => [label, title] as const),
    ...values.filter(([, name]) => name !== ''),
  ];
  const panel = described(new tables.PanelBuilder(), options, {
    height: 8,
    instant: true,
    format: PromQueryFormat.Table,
  }).transformations([
    ...(queries.length > 1 ? [{ id: 'merge', options: {} }] : []),
    { id: 'filterFieldsByName', options: { include: { names: fields.map(([field]) => field) } } },
    {
      id: 'organize',
      options: {
        indexByName: Object.fromEntries(fields.map(([field], index) => [field, index])),
        renameByName: Object.fromEntries(fields),
      },
    },
  ]);
  // Grafana's own minimum of 150 pixels puts the last columns of a narrow table out of sight.
  panel.minWidth(70);
  panel.sortBy(
    sortBy.map(([title, way]) => new common.TableSortByFieldStateBuilder().displayName(title).desc(way === 'down')),
  );
  for (const column of columns) panel.overrideByName(column.title, columnProperties(column));
  for (const query of queries.filter(({ name }) => name !== '')) {
    panel.overrideByName(query.name, valueProperties(query));
  }
  return panel;
}

/** The name that Grafana gives the value of a query in a table. */
function valueField(queries: readonly Query[], index: number): string {
  return queries.length > 1 ? `Value #${refId(index)}` : 'Value';
}

function columnProperties({ link, colors, width }: Column): dashboard.DynamicConfigValue[] {
  return [
    // A name that looks like a number stays as it is.
    { id: 'unit', value: 'string' },
    { id: 'noValue', value: '–' },
    ...(link === undefined ? [] : [{ id: 'links', value: [linkTo(link, '__value.raw').build()] }]),
    ...(colors === undefined ? [] : [{ id: 'mappings', value: coloredWords(colors) }, colored]),
    ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
  ];
}

function coloredWords(colors: Readonly<Record<string, string>>): dashboard.ValueMapping[] {
  const options = Object.fromEntries(Object.entries(colors).map(([word, color], index) => [word, { color, index }]));
  return [{ type: dashboard.MappingType.ValueToText, options }];
}

function valueProperties({ unit = COUNT, steps, mappings }: Query): dashboard.DynamicConfigValue[] {
  return [
    { id: 'unit', value: unit },
    ...(unit === SECONDS || unit === RATIO ? [{ id: 'decimals', value: 1 }] : []),
    ...(steps === undefined ? [] : [{ id: 'thresholds', value: thresholds(steps).build() }]),
    ...(mappings === undefined ? [] : [{ id: 'mappings', value: [...mappings, unknown('–')] }]),
    ...(steps === undefined && mappings === undefined ? [] : [colored]),
  ];
}

const colored = { id: 'custom.cellOptions', value: { type: 'color-text' } };

/** What the builders of all five kinds have in common. */
interface AnyPanel<Self> extends Panel {
  title(title: string): Self;
  description(description: string): Self;
  datasource(datasource: typeof DATA_SOURCE): Self;
  interval(interval: string): Self;
  span(columns: number): Self;
  height(rows: number): Self;
  unit(unit: string): Self;
  decimals(count: number): Self;
  mappings(mappings: dashboard.ValueMapping[]): Self;
  thresholds(steps: Builder<dashboard.ThresholdsConfig>): Self;
  colorScheme(color: Builder<dashboard.FieldColor>): Self;
  targets(targets: DataqueryBuilder[]): Self;
  dataLinks(links: Builder<dashboard.DashboardLink>[]): Self;
  noValue(text: string): Self;
  overrideByName(name: string, properties: dashboard.DynamicConfigValue[]): Self;
}

interface Form {
  readonly height: number;
  /** Whether the queries are of this moment, or of the time range. */
  readonly instant: boolean;
  readonly format?: PromQueryFormat;
}

function described<Self extends AnyPanel<Self>>(panel: Self, options: Options, form: Form): Self {
  const { title, help, width, unit = COUNT, mappings = [], empty, link } = options;
  const isTable = form.format === PromQueryFormat.Table;
  const { steps = isTable ? words : plain } = options;
  panel
    .title(title)
    .description(help)
    .datasource(DATA_SOURCE)
    .interval(SCRAPE_INTERVAL)
    .span(width)
    .height(options.height ?? form.height)
    .unit(unit)
    .thresholds(thresholds(steps))
    .colorScheme(new dashboard.FieldColorBuilder().mode(dashboard.FieldColorModeId.Thresholds))
    .mappings([...mappings, unknown(isTable ? '–' : empty)])
    .targets(queriesOf(options).map((query, index) => target(query, index, form)))
    .noValue(empty);
  if (unit === SECONDS || unit === RATIO) panel.decimals(1);
  if (link !== undefined) panel.dataLinks([linkTo(link, `__field.labels.${link}`)]);
  for (const [name, color] of Object.entries(options.colors ?? {})) {
    panel.overrideByName(name, [{ id: 'color', value: { mode: 'fixed', fixedColor: color } }]);
  }
  return panel;
}

function queriesOf({ query = '', name = '', queries, ...look }: Options): readonly Query[] {
  return queries ?? [{ ...look, expr: query, name }];
}

function target({ expr, name }: Query, index: number, form: Form): DataqueryBuilder {
  const query = new DataqueryBuilder()
    .datasource(DATA_SOURCE)
    .refId(refId(index))
    .expr(expr)
    .legendFormat(name)
    .format(form.format ?? PromQueryFormat.TimeSeries);
  return form.instant ? query.instant() : query.range();
}

function refId(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

function thresholds([color, ...others]: Steps): dashboard.ThresholdsConfigBuilder {
  return new dashboard.ThresholdsConfigBuilder()
    .mode(dashboard.ThresholdsMode.Absolute)
    .steps([{ value: null, color }, ...others.map(([value, above]) => ({ value, color: above }))]);
}

const boardOf = { filer: 'filer-appliance', volume: 'filer-volumes' };

/** A link to the board of a filer or volume. Percent encoding keeps names whole that contain `&`, `+` or `#`. */
function linkTo(kind: Target, value: string): Builder<dashboard.DashboardLink> {
  return link({
    title: `This ${kind}`,
    url: `/d/${boardOf[kind]}?\${__url_time_range}&\${datasource:queryparam}&\${job:queryparam}&var-${kind}=\${${value}:percentencode}`,
  });
}

/** The SDK's builder puts every link into a menu that only the newest Grafana has. */
function link(given: Partial<dashboard.DashboardLink> & { readonly title: string }): Builder<dashboard.DashboardLink> {
  const plain = {
    type: dashboard.DashboardLinkType.Link,
    icon: 'external link',
    tooltip: '',
    tags: [],
    asDropdown: false,
    targetBlank: false,
    includeVars: false,
    keepTime: false,
  };
  return { build: () => ({ ...plain, ...given }) };
}

const dataSource = new dashboard.DatasourceVariableBuilder('datasource')
  .label('Data source')
  .description('The Prometheus that scrapes the exporter.')
  .type('prometheus');

/** One account at a time: a number of two accounts is right for neither. Its name is the scrape job. */
const account = choice(
  'job',
  'Account',
  'The scrape job of the exporter.',
  'label_values(filer_exporter_build_info, job)',
);

const EVERY_FILER =
  'label_values({__name__=~"filer_last_checkin_timestamp_seconds|filer_appliance_info",job="$job"}, filer)';
const EVERY_VOLUME = 'label_values({__name__=~"filer_volume_info|filer_volume_accessible_bytes",job="$job"}, volume)';

export const oneFiler = choice('filer', 'Appliance', 'The appliance that this board shows.', EVERY_FILER);
export const filers = several(choice('filer', 'Filer', 'Filers and appliances by name.', EVERY_FILER));
export const volumes = several(choice('volume', 'Volume', 'Volumes by name.', EVERY_VOLUME));

function choice(name: string, label: string, description: string, query: string): dashboard.QueryVariableBuilder {
  return new dashboard.QueryVariableBuilder(name)
    .label(label)
    .description(description)
    .datasource(DATA_SOURCE)
    .query({ qryType: 1, query, refId: name })
    .definition(query)
    .refresh(dashboard.VariableRefresh.OnTimeRangeChanged)
    .sort(dashboard.VariableSort.AlphabeticalCaseInsensitiveAsc);
}

function several(variable: dashboard.QueryVariableBuilder): dashboard.QueryVariableBuilder {
  return variable
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ text: ['All'], value: ['$__all'] });
}

const TAG = 'filer-exporter';

/** The first line of every board: whether there is data, and what the exporter itself says about the services. */
function firstLine(): Panel[] {
  return [
    stat({
      title: 'Exporter and services',
      help: 'Whether Prometheus can scrape the exporter, and whether the exporter can poll each service. What is down explains empty panels below: see the next panel, then the page /status of the exporter.',
      queries: [
        { expr: 'up{job="$job"}', name: 'exporter' },
        { expr: 'filer_api_up{job="$job"}', name: '{{api}}' },
      ],
      mappings: yesNo('up', 'down'),
      width: 8,
      height: 5,
      empty: 'Prometheus does not scrape this account',
    }),
    table({
      title: 'What the exporter reports',
      help: 'Warnings of the exporter about the services and its own settings, each with what to do.',
      query: 'filer_exporter_warning_info{job="$job"}',
      columns: [
        { label: 'api', title: 'Service', width: 80 },
        { label: 'warning', title: 'Warning', width: 170 },
        { label: 'advice', title: 'What to do' },
      ],
      width: 16,
      height: 5,
      empty: 'No warning is known',
    }),
  ];
}

/** Builds the JSON that Grafana imports: the classic model, which needs no particular version and no question. */
export function build({ uid, title, description, range, variables, top, rows }: Board): dashboard.Dashboard {
  const builder = new dashboard.DashboardBuilder(`Filers / ${title}`)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .timezone('browser')
    .tooltip(dashboard.DashboardCursorSync.Crosshair)
    .time({ from: `now-${range}`, to: 'now' })
    .refresh('1m')
    .link(
      link({
        title: 'Filer boards',
        type: dashboard.DashboardLinkType.Dashboards,
        tags: [TAG],
        asDropdown: true,
        includeVars: true,
        keepTime: true,
      }),
    );
  for (const variable of [dataSource, account, ...variables]) builder.withVariable(variable);
  let id = 0;
  const numbered = (panel: Panel) => panel.id(++id);
  for (const panel of [...firstLine(), ...top]) builder.withPanel(numbered(panel));
  for (const { title: heading, folded = false, panels } of rows) {
    const row = new dashboard.RowBuilder(heading).id(++id).collapsed(folded);
    if (folded) {
      for (const panel of panels) row.withPanel(numbered(panel));
    }
    builder.withRow(row);
    if (!folded) {
      for (const panel of panels) builder.withPanel(numbered(panel));
    }
  }
  return builder.build();
}

/*
 * Grafana's classic dashboard model as far as these dashboards use it, as a JSON schema: written by hand after the model's
 * published definition (schema version 42), and closed, so that a property that Grafana would pass over is found.
 */

const text = { type: 'string', minLength: 1 } as const;
const flag = { type: 'boolean' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const bound = { type: ['number', 'null'] } as const;
const texts = { type: 'array', items: text } as const;
const anything = {} as const;

type Schema = Readonly<Record<string, unknown>>;

/** An object with these properties and no others; the ones named are required. */
function closed(required: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema {
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(required),
    properties: { ...required, ...optional },
  };
}

const listOf = (items: Schema): Schema => ({ type: 'array', items });

const dataSource = closed({ type: { const: 'prometheus' }, uid: text });

const link = closed(
  {
    title: text,
    type: { enum: ['link', 'dashboards'] },
    icon: { type: 'string' },
    tooltip: { type: 'string' },
    tags: texts,
    asDropdown: flag,
    targetBlank: flag,
    includeVars: flag,
    keepTime: flag,
  },
  { url: text },
);

const result = closed({ text }, { color: text, index: count });

const mapping: Schema = {
  oneOf: [
    closed({ type: { const: 'value' }, options: { type: 'object', additionalProperties: result } }),
    closed({ type: { const: 'special' }, options: closed({ match: { enum: ['nan', 'null+nan', 'empty'] }, result }) }),
    closed({ type: { const: 'range' }, options: closed({ from: bound, to: bound, result }) }),
  ],
};

const thresholds = closed({
  mode: { enum: ['absolute', 'percentage'] },
  steps: { ...listOf(closed({ value: bound, color: text })), minItems: 1 },
});

const fieldDefaults = closed(
  { unit: text, thresholds },
  {
    custom: { type: 'object' },
    color: closed(
      {
        mode: { enum: ['thresholds', 'shades', 'fixed'] },
      },
      { fixedColor: text },
    ),
    decimals: count,
    links: listOf(link),
    mappings: listOf(mapping),
    max: { type: 'number' },
    min: { type: 'number' },
    noValue: text,
  },
);

const override = closed({
  matcher: closed({ id: { enum: ['byName', 'byRegexp'] }, options: text }),
  properties: listOf(
    closed({
      id: {
        enum: [
          ...[
            'color',
            'custom.cellOptions',
            'custom.hidden',
            'custom.minWidth',
            'custom.width',
            'custom.wrapText',
            'decimals',
          ],
          ...['links', 'mappings', 'max', 'min', 'thresholds', 'unit'],
        ],
      },
      value: anything,
    }),
  ),
});

const target = closed({
  datasource: dataSource,
  refId: { type: 'string', pattern: '^[A-Z]$' },
  expr: text,
  legendFormat: text,
  interval: text,
  format: { enum: ['time_series', 'table', 'heatmap'] },
  instant: flag,
  range: flag,
});

const place = closed({
  x: { ...count, maximum: 23 },
  y: count,
  w: { ...count, minimum: 1, maximum: 24 },
  h: { ...count, minimum: 1 },
});

const transformation = closed({
  id: { enum: ['filterFieldsByName', 'joinByField', 'merge', 'organize', 'renameByRegex'] },
  options: { type: 'object' },
});

const panel = closed(
  {
    id: count,
    type: { enum: ['bargauge', 'heatmap', 'stat', 'state-timeline', 'table', 'timeseries'] },
    title: text,
    description: text,
    transparent: flag,
    repeatDirection: { enum: ['h', 'v'] },
    datasource: dataSource,
    gridPos: place,
    interval: text,
    targets: { ...listOf(target), minItems: 1 },
    options: { type: 'object' },
    fieldConfig: closed({ defaults: fieldDefaults, overrides: listOf(override) }),
  },
  { links: listOf(link), maxDataPoints: count, transformations: listOf(transformation) },
);

const row = closed({
  id: count,
  type: { const: 'row' },
  title: text,
  collapsed: flag,
  gridPos: place,
  panels: listOf(panel),
});

const option = closed(
  { text: { type: ['string', 'array'] }, value: { type: ['string', 'array'] } },
  { selected: flag },
);

const variable = closed(
  {
    name: { type: 'string', pattern: '^\\w+$' },
    label: text,
    description: text,
    type: { enum: ['custom', 'datasource', 'query', 'textbox'] },
    query: { oneOf: [text, closed({ qryType: count, query: text, refId: text })] },
  },
  {
    allowCustomValue: flag,
    allValue: text,
    auto: flag,
    auto_count: count,
    auto_min: text,
    current: option,
    datasource: dataSource,
    definition: text,
    hide: { enum: [0, 1, 2, 3] },
    includeAll: flag,
    multi: flag,
    options: listOf(option),
    refresh: { enum: [0, 1, 2] },
    regex: text,
    skipUrlSync: flag,
    sort: { enum: [0, 1, 2, 3, 4, 5, 6, 7, 8] },
  },
);

/** The schema of one dashboard. */
export const dashboardSchema: Schema = closed({
  uid: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,40}$' },
  title: text,
  description: text,
  tags: texts,
  timezone: { enum: ['browser', 'utc'] },
  editable: flag,
  graphTooltip: { enum: [0, 1, 2] },
  time: closed({ from: text, to: text }),
  refresh: { type: 'string', pattern: '^\\d+[smh]$' },
  fiscalYearStartMonth: { ...count, maximum: 11 },
  schemaVersion: { const: 42 },
  templating: closed({ list: listOf(variable) }),
  annotations: closed({
    list: listOf(
      closed({
        name: text,
        datasource: dataSource,
        enable: flag,
        iconColor: text,
        expr: text,
        step: text,
        titleFormat: text,
        textFormat: text,
        hide: flag,
        builtIn: count,
        placement: text,
      }),
    ),
  }),
  links: listOf(link),
  panels: {
    ...listOf({ type: 'object', required: ['type'], discriminator: { propertyName: 'type' }, oneOf: [row, panel] }),
    minItems: 1,
  },
});

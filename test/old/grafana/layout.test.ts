import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import { describe, expect, test } from 'vitest';
import { pixelsOf } from '../../grafana/src/numbers.ts';
import { dashboards, isRow, panelsOf } from '../support/dashboards.ts';

/*
 * What was seen cut in Grafana's own front end on a screen of 1440 x 900, with its menu docked, as rules: a column has 150 pixels where it is given
 * none, a character of a title is seldom wider than 8.
 */

const MIN_WIDTH = 150;
/** What a time such as “59.5 mins” takes. */
const MIN_VALUE = 80;
const CHARACTER = 8;
/** On fewer columns of the grid, a title has no room beside the signs and the menu of its panel. */
const NARROWEST = 4;
/** What the arrow takes in the title of a column that a table is sorted by. */
const ARROW = 24;
/** The height of the screen in rows of the grid, below the variables. */
const SCREEN = 21;

const tables = dashboards.flatMap((dashboard) =>
  panelsOf(dashboard)
    .filter(({ type }) => type === 'table')
    .map((panel) => [`${dashboard.uid} / ${panel.title}`, panel] as const),
);

describe('a table', () => {
  test.each(tables)('%s: its columns are inside, and wide enough for their titles', (_name, panel) => {
    const widths = columnsOf(panel).map(([title, width]) => [title, width ?? MIN_WIDTH] as const);
    const sum = widths.reduce((total, [, width]) => total + width, 0);
    expect(sum).toBeLessThanOrEqual(pixelsOf(panel.gridPos?.w ?? 0));
    const sorted = sortedBy(panel);
    const least = (title: string) =>
      Math.max(
        title.length * CHARACTER + 10 + (sorted.includes(title) ? ARROW : 0),
        propertiesOf(panel, title).some(({ id }) => id === 'unit') ? MIN_VALUE : 0,
      );
    expect(widths.filter(([title, width]) => least(title) > width)).toEqual([]);
  });

  test.each(tables)('%s: formats values alone, and marks what is missing without a colour', (_name, panel) => {
    expect(panel.fieldConfig?.defaults.unit).toBe('string');
    const missing = (panel.fieldConfig?.defaults.mappings ?? []).map((mapping) => JSON.stringify(mapping.options));
    expect(missing.length).toBeGreaterThan(1);
    for (const each of missing) expect(each).toContain('"color":"gray"');
  });

  test.each(tables)('%s: has no link where there is nothing to lead to', (_name, panel) => {
    for (const { properties, matcher } of panel.fieldConfig?.overrides ?? []) {
      const ids = properties.map(({ id }) => id);
      if (ids.includes('links')) expect(ids, matcher.options).toContain('mappings');
    }
  });

  test.each(tables)('%s: has no link on the word that says that it is empty', (_name, panel) => {
    const [first] = panel.targets ?? [];
    const row = (first as Dataquery).expr?.split(' or on () ').at(-1) ?? '';
    const cells = [...row.matchAll(/"(\w+)", "([^"]+)", "", ""/g)].map(([, label = '', says = '']) => [label, says]);
    expect(cells).not.toEqual([]);
    const linked = cells.filter(([label = '']) =>
      propertiesOf(panel, titlesOf(panel)[label] ?? '').some(({ id }) => id === 'links'),
    );
    // Without width: nothing to click on.
    for (const [, says] of linked) expect(says).toBe('\u200b');
  });
});

test('a ranking has a bar from zero for each thing, and the first of them on top', () => {
  const rankings = tables.filter(([, { options }]) => options.showHeader === false);
  expect(rankings.length).toBeGreaterThan(5);
  for (const [where, panel] of rankings) {
    const [[title = ''] = []] = columnsOf(panel).slice(-1);
    const properties = new Map(propertiesOf(panel, title).map(({ id, value }) => [id, value]));
    expect(properties.get('custom.cellOptions'), where).toMatchObject({ type: 'gauge' });
    expect(properties.get('min'), where).toBe(0);
    expect(sortedBy(panel), where).toEqual([title]);
  }
});

/** The height in pixels of a row of the grid, of what a panel has around its content, and of a legend's header and rows. */
const PIXELS = { row: 38, around: 8 + 32 + 16, header: 22, line: 24 };
/** The most of a panel that Grafana gives to its legend. */
const LEGEND = 0.35;

describe('the legend of a chart', () => {
  const charts = dashboards.flatMap((dashboard) =>
    panelsOf(dashboard)
      .filter(({ type }) => type === 'timeseries')
      .map((panel) => [`${dashboard.uid} / ${panel.title}`, panel] as const),
  );

  test.each(charts)('%s: shows its first three lines whole', (_name, { targets = [], gridPos }) => {
    const legends = targets.map((target) => (target as Dataquery).legendFormat ?? '');
    const lines = legends.some((legend) => legend.includes('{{')) ? 3 : Math.min(legends.length, 3);
    const height = ((gridPos?.h ?? 0) * PIXELS.row - PIXELS.around) * LEGEND;
    expect(PIXELS.header + lines * PIXELS.line).toBeLessThanOrEqual(height);
  });
});

describe.each(dashboards.map((dashboard) => [dashboard.title ?? '', dashboard] as const))('%s', (_title, dashboard) => {
  test('titles fit above their panels, with the signs for help and links beside them', () => {
    const cut = panelsOf(dashboard).filter(({ title = '', gridPos, links = [] }) => {
      const signs = 40 + (links.length > 0 ? 32 : 0);
      const width = gridPos?.w ?? 0;
      return width < NARROWEST || title.length * CHARACTER + signs > pixelsOf(width);
    });
    expect(cut.map(({ title }) => title)).toEqual([]);
  });

  test('the first screen says what is broken: numbers, then the alerts that fire', () => {
    const [outages, heading, ...rest] = dashboard.panels ?? [];
    expect(outages).toMatchObject({ title: 'Outages', gridPos: { x: 0, y: 0, w: 24 } });
    expect(heading).toMatchObject({ type: 'row', collapsed: false });
    const first = rest.slice(
      0,
      rest.findIndex((panel) => isRow(panel)),
    );
    expect(first[0]?.type).toBe('stat');
    const alerts = first.find(({ title }) => title?.startsWith('What is broken'));
    expect((alerts?.gridPos?.y ?? 99) + (alerts?.gridPos?.h ?? 99)).toBeLessThanOrEqual(SCREEN);
    expect(columnsOf(alerts as Panel).map(([title]) => title)).toEqual(
      expect.arrayContaining(['Severity', 'Alert', 'Do first', 'Since']),
    );
  });

  test('what is rarely needed is closed, so that at most three parts are open', () => {
    expect((dashboard.panels ?? []).filter((panel) => isRow(panel) && !panel.collapsed).length).toBeLessThanOrEqual(3);
  });
});

/** The columns that a table shows, each with its width where it has one. */
function columnsOf(panel: Panel): readonly (readonly [string, number | undefined])[] {
  return Object.values(titlesOf(panel)).map((title) => {
    return [
      title,
      propertiesOf(panel, title).find(({ id }) => id === 'custom.width' || id === 'custom.minWidth')?.value as
        | number
        | undefined,
    ] as const;
  });
}

/** The titles of the columns by what they show. */
function titlesOf(panel: Panel): Readonly<Record<string, string>> {
  return panel.transformations?.find(({ id }) => id === 'organize')?.options.renameByName ?? {};
}

function sortedBy({ options }: Panel): readonly string[] {
  const { sortBy = [] } = options as { readonly sortBy?: readonly { readonly displayName: string }[] };
  return sortBy.map(({ displayName }) => displayName);
}

function propertiesOf({ fieldConfig }: Panel, title: string) {
  return fieldConfig?.overrides.find(({ matcher }) => matcher.options === title)?.properties ?? [];
}

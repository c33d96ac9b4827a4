import type { GridPos } from '@grafana/grafana-foundation-sdk/dashboard';
import { describe, expect, test } from 'vitest';
import type { Dashboard } from '../../grafana/src/dashboard.ts';
import { shippedDashboards } from '../../grafana/src/dashboards.ts';
import { TAG, uids } from '../../grafana/src/places.ts';
import { DATA_SOURCE } from '../../grafana/src/variables.ts';
import { dashboards, isRow, panelsOf, queriesOf } from '../support/dashboards.ts';

/** The panels that come with Grafana, of those that are used. */
const OWN_PANELS = ['bargauge', 'heatmap', 'stat', 'state-timeline', 'table', 'timeseries'];

describe.each(dashboards.map((dashboard) => [dashboard.title ?? '', dashboard] as const))('%s', (_title, dashboard) => {
  const panels = panelsOf(dashboard);
  /** Headings too, and what they hide. */
  const everything = [...(dashboard.panels ?? []).filter(isRow), ...panels];

  test.each(panels.map((panel) => [panel.title ?? '', panel] as const))('%s says what it shows', (_name, panel) => {
    expect(panel.title).toMatch(/^[A-Z]/);
    expect(panel.description).toBeTruthy();
    expect(panel.fieldConfig?.defaults.unit).toBeTruthy();
    expect(panel.fieldConfig?.defaults.thresholds?.steps[0]?.value).toBeNull();
  });

  test('every query has a legend that a person can read', () => {
    for (const { where, legend } of queriesOf(dashboard)) {
      expect(legend, where).toMatch(/\S/);
      expect(legend, where).not.toContain('__auto');
    }
    for (const panel of panels.filter(({ type }) => ['timeseries', 'state-timeline'].includes(type))) {
      expect(panel.options.legend, panel.title).toMatchObject({ showLegend: true, placement: 'bottom' });
    }
  });

  test('no two queries of a panel share a letter', () => {
    for (const { title, targets = [] } of panels) {
      const letters = targets.map((target) => (target as { readonly refId?: string }).refId);
      expect(new Set(letters).size, title).toBe(letters.length);
    }
  });

  test('thresholds rise', () => {
    for (const { title, fieldConfig } of panels) {
      const [, ...values] = (fieldConfig?.defaults.thresholds?.steps ?? []).map(({ value }) => value ?? Number.NaN);
      expect(values, title).toEqual(values.toSorted((one, other) => one - other));
    }
  });

  test('every panel has a number of its own', () => {
    const ids = everything.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => Number.isInteger(id))).toBe(true);
  });

  test('no panel covers another, and none leaves the grid or a hole in it', () => {
    const places = everything.map(({ gridPos }) => gridPos ?? { x: -1, y: -1, w: 0, h: 0 });
    const covered = new Map<string, number>();
    for (const [index, place] of places.entries()) {
      for (const cell of cellsOf(place)) {
        expect(covered.get(cell), `${cell} of panel ${index}`).toBeUndefined();
        covered.set(cell, index);
      }
      expect(place.x + place.w).toBeLessThanOrEqual(24);
    }
    const rows = Math.max(...places.map(({ y, h }) => y + h));
    const widths = Array.from({ length: rows }, (_, y) => [...covered.keys()].filter((cell) => cell.endsWith(`,${y}`)));
    expect(widths.filter((cells) => cells.length !== 24)).toEqual([]);
  });

  test('it needs no plugin beyond Grafana’s own', () => {
    expect(panels.map(({ type }) => type).filter((type) => !OWN_PANELS.includes(type))).toEqual([]);
    const sources = new Set(panels.flatMap(({ datasource, targets = [] }) => [datasource, ...targets.map(sourceOf)]));
    expect([...sources].filter((source) => source?.type !== 'prometheus')).toEqual([]);
  });

  test('every panel and query goes to the data source chosen at the top', () => {
    for (const panel of panels) {
      expect(panel.datasource?.uid, panel.title).toBe(DATA_SOURCE.uid);
      for (const target of panel.targets ?? []) expect(sourceOf(target)?.uid, panel.title).toBe(DATA_SOURCE.uid);
    }
  });

  test('colours are named, so that they read on light and on dark', () => {
    const own = panels.map(({ fieldConfig, options }) => {
      const { exemplars: _drawnBySdk, ...rest } = options ?? {};
      return { fieldConfig, rest };
    });
    expect(JSON.stringify(own)).not.toMatch(/#[0-9a-f]{3,8}\b|rgba?\(/i);
    expect(dashboard).not.toHaveProperty('style');
  });

  test('a step is never shorter than a minute, which rates rely on', () => {
    const steps = panels.flatMap(({ interval, targets = [] }) => [interval, ...targets.map(stepOf)]);
    expect(steps.filter((step) => step !== '1m')).toEqual([]);
  });

  test('every variable that is used is there, and every one that is there is used', () => {
    const there = (dashboard.templating.list ?? []).map(({ name }) => name);
    const text = JSON.stringify({ ...dashboard, templating: [], links: [] });
    const used = [...text.matchAll(/\$(?:\{(\w+)[^}]*\}|(\w+))/g)].map(([, braced, bare]) => braced ?? bare ?? '');
    expect(new Set(used.filter((name) => !/^__|^\d/.test(name)))).toEqual(new Set(there));
  });

  test('filer and volume can be "All", with what has no such label; the account is one', () => {
    for (const { name, includeAll, allValue, multi, current } of dashboard.templating.list ?? []) {
      if (!['job', 'filer', 'volume'].includes(name)) continue;
      // The board about one appliance is about one.
      const isOne = name === 'job' || (name === 'filer' && dashboard.uid === uids.appliance);
      expect({ includeAll, allValue, multi, at: current?.value }).toEqual({
        includeAll: !isOne,
        allValue: '.*',
        multi: !isOne,
        at: isOne ? '' : ['$__all'],
      });
    }
  });

  test('every link leads to a dashboard that is there, and hands it variables that it has', () => {
    const urls = [...JSON.stringify(dashboard).matchAll(/"(\/d\/[^"]+)"/g)].map(([, url = '']) => url);
    for (const url of urls) {
      const target = shippedDashboards().find(({ uid }) => url.startsWith(`/d/${uid}?`));
      expect(target, url).toBeDefined();
      const handed = [...url.matchAll(/[&?]var-(\w+)=/g)].map(([, name]) => name);
      const has = (target?.templating.list ?? []).map(({ name }) => name);
      expect(
        handed.filter((name) => name === undefined || !has.includes(name)),
        url,
      ).toEqual([]);
    }
    expect(dashboard.links).toMatchObject([{ type: 'dashboards', tags: [TAG], includeVars: true, keepTime: true }]);
  });

  test('it imports by hand: no number of another installation, nothing to fill in', () => {
    expect(dashboard.id ?? null).toBeNull();
    expect(dashboard).not.toHaveProperty('__inputs');
    expect(dashboard.tags).toContain(TAG);
    expect(dashboard.uid).toMatch(/^[a-z-]{1,40}$/);
  });
});

test('every dashboard has an address of its own', () => {
  expect(
    shippedDashboards()
      .map(({ uid }) => uid)
      .toSorted(),
  ).toEqual(Object.values(uids).toSorted());
});

test('there is a way from each dashboard to each other one', () => {
  const titles: readonly (keyof Dashboard)[] = ['title', 'uid'];
  for (const key of titles) expect(new Set(dashboards.map((dashboard) => dashboard[key])).size).toBe(dashboards.length);
  expect(dashboards.every(({ tags = [] }) => tags.includes(TAG))).toBe(true);
});

test('what a heading hides is hidden, and nothing else is under it', () => {
  for (const row of dashboards.flatMap(({ panels = [] }) => panels.filter(isRow))) {
    expect(row.panels.length > 0, row.title).toBe(row.collapsed);
  }
});

function sourceOf(target: object): { readonly type?: string; readonly uid?: string } | undefined {
  return (target as { readonly datasource?: { readonly type?: string; readonly uid?: string } }).datasource;
}

function stepOf(target: object): string | undefined {
  return (target as { readonly interval?: string }).interval;
}

function cellsOf({ x, y, w, h }: GridPos): readonly string[] {
  return Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`);
}

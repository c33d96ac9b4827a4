import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { metricOfSeries, neighbours } from '../../grafana/src/catalogue.ts';
import { anyValues, filled } from '../../grafana/src/fill.ts';
import { variables } from '../../grafana/src/variables.ts';
import { dashboards, everyQuery, panelsOf } from '../support/dashboards.ts';
import { errorsOf, labelsOfResult, namesIn, type Selector } from '../support/promql.ts';

/** Labels that Prometheus adds. */
const ADDED = ['job', 'instance', 'pod'];

describe.each(everyQuery.map((query) => [query.where, query] as const))('%s', (_where, { expr, legend, panel }) => {
  const query = filled(expr, anyValues);

  test('is PromQL, and not longer than a person can read', () => {
    expect(errorsOf(query)).toEqual([]);
    expect(query.length).toBeLessThanOrEqual(6_000);
  });

  test('names metrics of the catalogue, and labels that they have', () => {
    const { selectors, groupings } = namesIn(query);
    expect(selectors).not.toEqual([]);
    for (const selector of selectors) {
      const has = labelsOf(selector);
      expect(
        selector.labels.filter((label) => !has.includes(label)),
        selector.name,
      ).toEqual([]);
    }
    for (const { labels, of } of groupings) {
      const has = of.flatMap(labelsOf);
      expect(labels.filter((label) => !has.includes(label))).toEqual([]);
    }
  });

  test('is narrowed by the job chosen at the top', () => {
    const own = namesIn(query).selectors.filter(({ name }) => name !== 'ALERTS');
    expect(own.filter(({ labels }) => !labels.includes('job'))).toEqual([]);
  });

  test('has in its legend and its links only labels that its series have', () => {
    const has = labelsOfResult(query, labelsOf);
    const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
    const linked = [...JSON.stringify(panel.fieldConfig?.defaults.links ?? []).matchAll(/__field\.labels\.(\w+)/g)];
    const labels = [...named, ...linked.map(([, label = '']) => label)];
    expect(labels.filter((label) => !has.has(label))).toEqual([]);
  });
});

describe('the columns of tables', () => {
  const tables = dashboards.flatMap(panelsOf).filter(({ type }) => type === 'table');

  test.each(tables.map((panel) => [panel.title ?? '', panel] as const))(
    'of “%s” are what its queries give',
    (_, panel) => {
      const queries = everyQuery.filter((query) => query.panel === panel);
      const labels = queries.flatMap(({ expr }) => [...labelsOfResult(filled(expr, anyValues), labelsOf)]);
      const values = queries.length === 1 ? ['Value'] : queries.map(({ refId }) => `Value #${refId}`);
      const columns: readonly string[] = optionsOf(panel, 'filterFieldsByName').include.names;
      expect(columns.filter((name) => !labels.includes(name) && !values.includes(name))).toEqual([]);
      expect(Object.keys(optionsOf(panel, 'organize').renameByName)).toEqual(columns);
      const named = (panel.fieldConfig?.overrides ?? []).map(({ matcher }) => matcher.options);
      expect(named.filter((name) => !Object.values(optionsOf(panel, 'organize').renameByName).includes(name))).toEqual(
        [],
      );
    },
  );

  test('there are some', () => {
    expect(tables.length).toBeGreaterThan(20);
  });
});

describe('the variables', () => {
  const asked = Object.entries(variables).flatMap(([name, builder]) => {
    const { query } = builder.build();
    const text = typeof query === 'object' ? (query as { readonly query?: string }).query : query;
    return typeof text === 'string' && text.startsWith('label_values(') ? [[name, text] as const] : [];
  });

  test.each(asked)('%s asks for a label of metrics that have it', (_name, text) => {
    const [, selector = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? [];
    expect(errorsOf(selector)).toEqual([]);
    const named =
      /__name__=~"([^"]+)"/.exec(selector)?.[1]?.split('|') ?? namesIn(selector).selectors.map(({ name = '' }) => name);
    for (const series of named) expect([...ADDED, ...metricOfSeries(series).metric.labels], series).toContain(label);
  });

  test('they are asked of the data source', () => {
    expect(asked.map(([name]) => name)).toEqual(['job', 'filer', 'volume']);
  });
});

describe('the catalogue', () => {
  test('Node’s metrics are those that the process has', () => {
    const register = new Registry();
    collectDefaultMetrics({ register });
    const has = register.getMetricsAsArray().map(({ name }) => name);
    const named = neighbours.map(({ name }) => name).filter((name) => /^(?:process|nodejs)_/.test(name));
    expect(named.filter((name) => !has.includes(name))).toEqual([]);
  });
});

function optionsOf({ transformations = [] }: Panel, id: string) {
  return transformations.find((transformation) => transformation.id === id)?.options;
}

function labelsOf({ name = '' }: Selector): readonly string[] {
  const { metric, part } = metricOfSeries(name);
  return [...ADDED, ...metric.labels, ...(part === '_bucket' ? ['le'] : [])];
}

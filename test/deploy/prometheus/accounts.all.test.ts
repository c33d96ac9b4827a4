// Only here: an account is a job, and its metrics may come from several exporters.
import { describe, expect, test } from 'vitest';
import { groups } from '../../../deploy/prometheus/groups.ts';
import { annotations } from '../../../grafana/src/annotations.ts';
import { byAccount } from '../../../grafana/src/by-account.ts';
import { anyValues, filled } from '../../../grafana/src/fill.ts';
import { variables } from '../../../grafana/src/variables.ts';
import { upstreamCatalog } from '../../../src/catalog.ts';
import { everyQuery } from '../../support/dashboards.ts';
import { instanceJoins, mixesAccounts, namesIn } from '../../support/promql.ts';
import { labelsOf } from './named.ts';

const rules = groups.flatMap((group) => group.rules);
const panels = everyQuery.map(({ where, expr }) => [where, filled(expr, anyValues)] as const);
const shared = [
  ...annotations.map((annotation) => annotation.build().expr ?? ''),
  ...Object.values(variables).flatMap((variable) => {
    const { query } = variable.build();
    const text = typeof query === 'object' ? (query as { readonly query?: string }).query : undefined;
    return /^query_result\((.*)\)$/.exec(text ?? '')?.[1] ?? [];
  }),
].map((expr) => [expr.slice(0, 60), expr] as const);
const recording = rules.flatMap((rule) => ('alert' in rule ? [] : [[rule.record, rule.expr] as const]));
const alerts = rules.flatMap((rule) => ('alert' in rule ? [[rule.alert, rule.expr] as const] : []));
const all = [...panels, ...shared, ...recording, ...alerts];

describe('no query mixes accounts', () => {
  test.each(all.filter(([name]) => name !== 'FilerExporterAbsent'))('%s', (_name, query) => {
    expect(mixesAccounts(query)).toEqual([]);
  });

  test.each([
    ['sum(filer_api_up)', 1],
    ['sum by (filer) (filer_appliance_up)', 1],
    ['sum by (job, filer) (filer_appliance_up)', 0],
    ['max without (job) (filer_appliance_up)', 1],
    ['topk(5, filer_appliance_up)', 0],
    ['filer_appliance_up and on (filer) filer_appliance_state', 1],
    ['filer_appliance_up and on (job, filer) filer_appliance_state', 0],
    ['filer_appliance_up or on () filer_api_up', 1],
  ])('%s mixes them in %i places, and on a board in none', (query, places) => {
    expect(mixesAccounts(query)).toHaveLength(places);
    if (!query.includes('without')) expect(mixesAccounts(byAccount(query))).toEqual([]);
  });

  test('every query of a panel is about the account that is chosen', () => {
    expect(
      panels.filter(([, query]) => namesIn(query).selectors.some(({ labels }) => !labels.includes('job'))),
    ).toEqual([]);
  });
});

describe('no join needs two metrics of one exporter that another one may have', () => {
  const sourceOf = new Map(
    upstreamCatalog.map(({ name, source }) => [name, source.map((each) => each.split(':')[0] ?? '')]),
  );
  const expressions = new Map<string, string>(recording);
  /** The operations that a metric comes from; none for what each exporter has of its own. */
  const operations = (name: string): readonly string[] => {
    const recorded = expressions.get(name);
    if (recorded !== undefined) return namesIn(recorded).selectors.flatMap(({ name: read = '' }) => operations(read));
    return sourceOf.get(name.replace(/_(?:bucket|sum|count)$/, '')) ?? sourceOf.get(name) ?? [];
  };
  const split = (query: string) =>
    instanceJoins(query, (name) => labelsOf.get(name) ?? []).filter(({ left, right }) => {
      const [one, other] = [left.flatMap(operations), right.flatMap(operations)];
      return one.length > 0 && other.length > 0 && !one.some((operation) => other.includes(operation));
    });

  test.each(all)('%s', (_name, query) => {
    expect(split(query)).toEqual([]);
  });

  test('one of them is found', () => {
    const cache =
      'filer_appliance_cache_utilization_ratio > 0.95 and on (job, instance, filer) filer_volume_unprotected_bytes > 1';
    expect(split(cache)).toHaveLength(1);
    expect(split(cache.replace('instance, ', ''))).toEqual([]);
    expect(split('filer_appliance_up and filer_volume_unprotected_bytes')).toHaveLength(1);
  });
});

describe('what remote write sends of an appliance is not read as what was scraped', () => {
  const sent = /\{[^}]*\bjob!~"\.\*-minutes"/;

  test.each(rules.map((rule) => ['alert' in rule ? rule.alert : rule.record, rule.expr] as const))(
    '%s',
    (_name, expr) => {
      for (const [selector] of expr.matchAll(
        /\bfiler_appliance_(?:cpu|memory|cache|disk|load|network|smb)\w+(?:\{[^}]*\})?/g,
      )) {
        expect(selector).toMatch(sent);
      }
    },
  );
});

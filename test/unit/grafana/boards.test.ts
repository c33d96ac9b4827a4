import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { catalog } from '../../../src/catalog.ts';
import { boardQueries, dashboards, panelsOf } from '../../harness/board-queries.ts';

const root = new URL('../../../', import.meta.url);
const rules = readFileSync(new URL('deploy/prometheus/filer-exporter.rules.yml', root), 'utf8');

type Rule = { readonly record?: string; readonly expr: string };
const { groups } = parse(rules) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
const allRules = groups.flatMap((group) => group.rules);

/** The series of Prometheus itself and of Node.js that the boards use, and what the rules record. */
const OTHERS = ['up', 'ALERTS', 'ALERTS_FOR_STATE', 'process_cpu_seconds_total', 'process_resident_memory_bytes'];
const known = new Set([
  ...OTHERS,
  ...allRules.flatMap(({ record }) => record ?? []),
  ...catalog.flatMap(({ name, type }) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : [name],
  ),
]);

/** The names of the series that a query selects; throws if it is no PromQL. */
function seriesIn(expr: string): readonly string[] {
  const text = expr.replaceAll('$__rate_interval', '5m');
  const names: string[] = [];
  parser.parse(text).iterate({
    enter: ({ type, from, to, node }) => {
      if (type.isError) throw new Error(`${expr}: no PromQL at ${from}`);
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector') names.push(text.slice(from, to));
    },
  });
  return names;
}

test('every query and rule is PromQL over series that the exporter, the rules or Prometheus have', () => {
  const named = [...boardQueries.map(({ expr }) => expr), ...allRules.map(({ expr }) => expr)];
  expect(named.flatMap(seriesIn).length).toBeGreaterThan(170);
  expect(named.flatMap(seriesIn).filter((name) => !known.has(name))).toEqual([]);
});

test('filters are written so that names with quotes, brackets and backslashes are found', () => {
  const filters = boardQueries.flatMap(({ expr }) => expr.match(/(?:filer|volume)=~?(?:`[^`]*`|"[^"]*")/g) ?? []);
  const one = ['filer=`${filer:raw}`'];
  const several = ['filer=~`${filer:regex}`', 'volume=~`${volume:regex}`', 'volume=~`${volume:regex}|`'];
  expect(new Set(filters)).toEqual(new Set([...one, ...several]));
});

test('the boards stay small, and their queries short', () => {
  const lengths = boardQueries.map(({ expr }) => expr.length).toSorted((one, other) => one - other);
  const upTo = (share: number) => lengths[Math.ceil(share * lengths.length) - 1];
  expect(dashboards).toHaveLength(5);
  expect(dashboards.flatMap(panelsOf).length).toBeLessThanOrEqual(110);
  expect(lengths.length).toBeLessThanOrEqual(150);
  expect(upTo(0.5)).toBeLessThanOrEqual(80);
  expect(upTo(0.9)).toBeLessThanOrEqual(130);
  expect(upTo(1)).toBeLessThanOrEqual(260);
});

test('every board begins with what is up and what the exporter reports', () => {
  for (const board of dashboards) {
    const titles = panelsOf(board).map(({ title }) => title);
    expect(titles.slice(0, 2)).toEqual(['Exporter and services', 'What the exporter reports']);
  }
});

test('colours change where an alert fires', () => {
  const steps = dashboards
    .flatMap(panelsOf)
    .flatMap(({ fieldConfig }) => fieldConfig?.defaults.thresholds?.steps ?? []);
  const limits = new Set(steps.flatMap(({ value }) => (value === null || value === 1 ? [] : [value])));
  const numbers = new Set([...rules.matchAll(/[<>] (?<number>[\d.]+)/g)].map((match) => Number(match.groups?.number)));
  expect(limits.size).toBeGreaterThan(8);
  expect([...limits].filter((limit) => !numbers.has(limit))).toEqual([]);
});

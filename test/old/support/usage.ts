import { alertRules, groups } from '../../deploy/prometheus/groups.ts';
import type { AlertRule } from '../../deploy/prometheus/rule.ts';
import { catalog } from '../../src/catalog.ts';
import { everyQuery } from './dashboards.ts';
import { namesIn } from './promql.ts';

/** Where a metric is used. */
export interface Usage {
  /** Titles of panels, by the title of their dashboard. */
  readonly panels: ReadonlyMap<string, readonly string[]>;
  readonly alerts: readonly AlertRule[];
  /** The names that recording rules give. */
  readonly recorded: readonly string[];
}

const HISTOGRAM_PARTS = ['_bucket', '_sum', '_count'];

/** The metric that each series belongs to. */
const metricOf = new Map(
  catalog.flatMap(({ name, type }) =>
    (type === 'histogram' ? HISTOGRAM_PARTS : ['']).map((part) => [`${name}${part}`, name] as const),
  ),
);

/** What each recording rule asks. */
const recordedBy: ReadonlyMap<string, string> = new Map(
  groups.flatMap(({ rules }) => rules.flatMap((rule) => ('record' in rule ? [[rule.record, rule.expr] as const] : []))),
);

const metricsByQuery = new Map<string, ReadonlySet<string>>();

/** The metrics of a query, those behind recorded series included. A query is parsed once: every metric asks for all. */
export function metricsOf(query: string): ReadonlySet<string> {
  const found = metricsByQuery.get(query) ?? parsedMetrics(query);
  metricsByQuery.set(query, found);
  return found;
}

function parsedMetrics(query: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { name = '' } of namesIn(query).selectors) {
    const metric = metricOf.get(name);
    if (metric !== undefined) found.add(metric);
    const recorded = recordedBy.get(name);
    if (recorded !== undefined) for (const behind of metricsOf(recorded)) found.add(behind);
  }
  return found;
}

/** Where a metric is used, by what dashboards and rules ask. */
export function usageOf(metric: string): Usage {
  const panels = new Map<string, string[]>();
  for (const { dashboard, panel, expr } of everyQuery) {
    if (!metricsOf(expr).has(metric)) continue;
    const titles = panels.get(dashboard.title ?? '') ?? [];
    panels.set(dashboard.title ?? '', titles);
    if (!titles.includes(panel.title ?? '')) titles.push(panel.title ?? '');
  }
  return {
    panels,
    alerts: alertRules.filter(({ expr }) => metricsOf(expr).has(metric)),
    recorded: [...recordedBy].filter(([, expr]) => metricsOf(expr).has(metric)).map(([name]) => name),
  };
}

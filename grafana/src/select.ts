import { metricOfSeries } from './catalogue.ts';

/** The dashboard variables that limit a selection, with the label of each. */
export const scopes = ['job', 'filer', 'volume'] as const;

/**
 * Returns the series of a metric, limited by the dashboard variables for which the metric has a label, and by matchers of
 * the query, such as `{ lock_phase: '="p2"' }`, which replace those of a variable. A histogram is named by its part:
 * `…_bucket`.
 */
export function select(series: string, matchers: Readonly<Record<string, string>> = {}): string {
  const labels = ['job', ...metricOfSeries(series).metric.labels];
  const narrowed = series.startsWith('ALERTS')
    ? scopes.filter((scope) => scope === 'job')
    : scopes.filter((scope) => labels.includes(scope) && !(scope in matchers));
  const own = Object.entries(matchers).map(([label, matcher]) => `${label}${matcher}`);
  // One account is shown at a time, so no number is ever a sum of two.
  const scoped = narrowed.map((scope) => `${scope}${scope === 'job' ? '=' : '=~'}"$${scope}"`);
  return `${series}{${[...scoped, ...own].join(',')}}`;
}

/**
 * How a variable limits the alerts. `with account`: alerts without the label are included, because they concern every filer or
 * volume. `alone`: they are excluded, on the dashboard of one filer.
 */
export type Scope = Readonly<Partial<Record<'filer' | 'volume', 'with account' | 'alone'>>>;

/** Matchers for the labels of a series that the dashboard has no variable for. */
export function unscoped(series: string, scope: Scope): Readonly<Record<string, string>> {
  const { labels } = metricOfSeries(series).metric;
  const open = (['filer', 'volume'] as const).filter((label) => labels.includes(label) && !(label in scope));
  return Object.fromEntries(open.map((label) => [label, '=~".*"']));
}

/** Returns a quantile over the events of a histogram since the previous step, by these labels. */
export function quantile(share: number, histogram: string, by: readonly string[]): string {
  return quantileOf(share, `rate(${select(`${histogram}_bucket`)}[$__rate_interval])`, by);
}

/** Returns a quantile over buckets, by these labels. */
export function quantileOf(share: number, buckets: string, by: readonly string[]): string {
  return `histogram_quantile(${share}, sum by (${['le', ...by].join(', ')}) (${buckets}))`;
}

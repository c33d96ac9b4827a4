import { metricOfSeries } from './catalogue.ts';

/** The dashboard variables that narrow a selection, and the label that each of them is about. */
export const scopes = ['job', 'filer', 'volume'] as const;

/**
 * The series of a metric, narrowed by the dashboard's variables as far as the metric has their labels, and by matchers
 * of the query's own, such as `{ lock_phase: '="p2"' }`, which also replace a variable's. A histogram is named by its part: `…_bucket`.
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

/** What the variables of a dashboard narrow: what is about no filer or volume concerns every one, but on the board of one. */
export type Scope = Readonly<Partial<Record<'filer' | 'volume', 'with account' | 'alone'>>>;

/** Matchers for the labels of a series that the dashboard has no variable for. */
export function unscoped(series: string, scope: Scope): Readonly<Record<string, string>> {
  const { labels } = metricOfSeries(series).metric;
  const open = (['filer', 'volume'] as const).filter((label) => labels.includes(label) && !(label in scope));
  return Object.fromEntries(open.map((label) => [label, '=~".*"']));
}

/** A quantile over a histogram's events since the step before, by these labels. */
export function quantile(share: number, histogram: string, by: readonly string[]): string {
  return quantileOf(share, `rate(${select(`${histogram}_bucket`)}[$__rate_interval])`, by);
}

/** A quantile over the events of an hour on the volumes that are chosen, by these labels; of all together without any. */
export function quantileOfHour(
  share: number,
  histogram: string,
  { by = [], only = {} }: { by?: readonly string[]; only?: Readonly<Record<string, string>> } = {},
): string {
  return quantileOf(share, select(`volume:${histogram}_bucket:increase1h`, only), by);
}

function quantileOf(share: number, buckets: string, by: readonly string[]): string {
  return `histogram_quantile(${share}, sum by (${['le', ...by].join(', ')}) (${buckets}))`;
}

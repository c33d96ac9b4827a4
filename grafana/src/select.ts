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
  return `${series}{${[...narrowed.map((scope) => `${scope}=~"$${scope}"`), ...own].join(',')}}`;
}

/** A quantile over a histogram's events in a window, by these labels; all of them together without any. */
export function quantile(
  share: number,
  histogram: string,
  { window, by = [], only = {} }: { window: string; by?: readonly string[]; only?: Readonly<Record<string, string>> },
): string {
  const labels = ['le', ...by].join(', ');
  return `histogram_quantile(${share}, sum by (${labels}) (rate(${select(`${histogram}_bucket`, only)}[${window}])))`;
}

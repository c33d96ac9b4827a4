import { filled } from '../../grafana/src/fill.ts';
import { variables } from '../../grafana/src/variables.ts';
import type { PanelQuery } from '../support/dashboards.ts';
import type { Prometheus } from '../support/prometheus.ts';

/** What Grafana would put in the place of each variable. */
export type Values = Readonly<Record<string, string>>;

/** Each variable with "All" chosen, and the times that Grafana works out for a panel that shows the last minutes. */
export const everything: Values = {
  job: 'filer-exporter',
  filer: '.*',
  worst: '.*',
  volume: '.*',
  window: '1h',
  top: '10',
  __rate_interval: '4m',
  __interval: '1m',
  __range: '1h',
};

/** Several values chosen, as Grafana writes them into a query: each escaped, all as alternatives. */
export function chosen(values: readonly string[]): string {
  const escaped = values.map((value) => value.replaceAll(/[\\^$*+?.()|[\]{}]/g, String.raw`\\$&`));
  return escaped.length === 1 ? (escaped[0] ?? '') : `(${escaped.join('|')})`;
}

interface Series {
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

/** How many series with a finite number a panel's query gives now. Throws where Prometheus rejects it. */
export async function seriesFor(
  prometheus: Prometheus,
  { expr, instant }: PanelQuery,
  values: Values,
): Promise<number> {
  const query = encodeURIComponent(filled(expr, values));
  const now = Date.now() / 1000;
  const path = instant ? `query?query=${query}` : `query_range?query=${query}&start=${now - 600}&end=${now}&step=60`;
  const { result } = await prometheus.ask<{ readonly result: readonly Series[] }>(path);
  return result.filter((series) => numbersOf(series).some(Number.isFinite)).length;
}

function numbersOf({ value, values = [] }: Series): readonly number[] {
  return [...(value === undefined ? [] : [value]), ...values].map(([, text]) => Number(text));
}

/** What a variable offers: the answer to its own query. */
export async function valuesOf(prometheus: Prometheus, name: string): Promise<readonly string[]> {
  const { query } = variables[name]?.build() ?? {};
  const text = (query as { readonly query: string }).query;
  const [, selector = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? [];
  const match = encodeURIComponent(filled(selector, everything));
  const found = await prometheus.ask<readonly string[]>(`label/${label}/values?match[]=${match}`);
  return found.filter((value) => value !== '');
}

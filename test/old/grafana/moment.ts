import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filled } from '../../grafana/src/fill.ts';
import { hasPromtool, promtool } from '../deploy/prometheus/promtool.ts';
import { everything } from '../e2e/question.ts';
import { temporaryDirectory } from '../support/program.ts';

/** Without promtool these are skipped, unless REQUIRE_PROMETHEUS is set. */
export const isSkipped = !hasPromtool && process.env.REQUIRE_PROMETHEUS !== '1';

/** A series and its only value, or a query of a board and what it has to give. */
type Valued = readonly [series: string, value: number];
type Asked = readonly [expr: string, samples: readonly { readonly labels: string; readonly value: number }[]];

/** What promtool says of queries of boards over these series. */
export function askedAt(series: readonly Valued[], asked: readonly Asked[]): string {
  const file = join(temporaryDirectory(), 'moment.yml');
  const input_series = series.map(([name, value]) => ({ series: name, values: String(value) }));
  const promql_expr_test = asked.map(([expr, exp_samples]) => {
    return { expr: filled(expr, everything), eval_time: '0m', exp_samples };
  });
  writeFileSync(file, JSON.stringify({ rule_files: [], tests: [{ interval: '1m', input_series, promql_expr_test }] }));
  return promtool('test', 'rules', file).said;
}

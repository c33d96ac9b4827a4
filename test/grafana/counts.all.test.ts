import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { applianceCounts } from '../../grafana/src/common.ts';
import { filled } from '../../grafana/src/fill.ts';
import { hasPromtool, promtool } from '../deploy/prometheus/promtool.ts';
import { everything } from '../e2e/question.ts';
import { temporaryDirectory } from '../support/program.ts';

/** Appliances of one portal in each state, and one whose first polls have not ended. */
const STATES = ['reporting', 'reporting', 'no_records', 'unavailable', undefined];

/** What each number says where the portal is up or not; those that are not shown have no series. */
const rows = [
  [1, { reporting: 2, 'no records': 1, unavailable: 1, waiting: 1 }],
  [0, { reporting: 2, 'no records': 1, unavailable: 0, unknown: 1, waiting: 1 }],
] as const;

test.skipIf(!hasPromtool && process.env.REQUIRE_PROMETHEUS !== '1').each(rows)(
  'the numbers of appliances add up to the inventory, with the portal up: %i',
  (up, shown: Readonly<Record<string, number>>) => {
    expect(Object.values(shown).reduce((sum, one) => sum + one)).toBe(STATES.length);
    const of = 'job="filer-exporter", instance="a:9100"';
    const appliances = STATES.flatMap((state, index) => [
      `filer_appliance_info{${of}, serial="${index}", filer="edge-${index}"}`,
      ...(state === undefined ? [] : [`filer_appliance_state{${of}, serial="${index}", state="${state}"}`]),
    ]).map((series) => ({ series, values: '1' }));
    const promql_expr_test = applianceCounts().map(({ expr, legend }) => ({
      ...{ expr: filled(expr, everything), eval_time: '0m' },
      exp_samples: shown[legend] === undefined ? [] : [{ labels: '{}', value: shown[legend] }],
    }));
    const input_series = [...appliances, { series: `filer_api_up{${of}, api="portal"}`, values: String(up) }];
    const file = join(temporaryDirectory(), 'counts.yml');
    writeFileSync(
      file,
      JSON.stringify({ rule_files: [], tests: [{ interval: '1m', input_series, promql_expr_test }] }),
    );
    expect(promtool('test', 'rules', file).said).toContain('SUCCESS');
  },
);

import type { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import { upOrDown } from './mappings.ts';
import { table } from './numbers.ts';
import { select } from './select.ts';
import { noneAllowed, oneIsGood, plain } from './steps.ts';

const up = select('filer_api_up');
const why = select('filer_api_down_info');

/** Every service with its reason; the column stays while every one is up. */
const reasons = `max by (api, reason) (${why}) or label_replace(group by (api) (${up}) unless on (api) ${why}, "reason", "–", "", "")`;

/** How each service is, and why. */
export function byService(width: number): PanelBuilder {
  const narrow = (pixels: number) => (width < 12 ? { width: pixels } : {});
  return table({
    title: 'By service',
    description:
      'Whether each service is up, why not, the age of its oldest data, and its overdue tasks. When one is down, its data ages: the Exporter dashboard has its answers.',
    queries: [
      {
        expr: `min by (api) (${up}) * on (api) group_right () (${reasons})`,
        legend: 'Now',
      },
      {
        expr: `max by (api) (${select('filer_exporter_data_age_seconds', { statistic: '="worst"' })})`,
        legend: 'Oldest',
      },
      { expr: `max by (api) (${select('filer_exporter_tasks_overdue')})`, legend: 'Late' },
    ],
    columns: [
      { label: 'api', title: 'Service', ...narrow(70) },
      { label: 'reason', title: 'Why', ...narrow(100) },
    ],
    steps: plain,
    stepsBy: { Late: noneAllowed, Now: oneIsGood },
    mappingsBy: { Now: upOrDown },
    ...(width < 12 ? { valueWidth: 71 } : {}),
    width,
    height: 6,
  });
}

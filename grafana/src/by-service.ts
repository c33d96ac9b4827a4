import type { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import { upOrWhy } from './mappings.ts';
import { LABELS_ALONE, table } from './numbers.ts';
import { select } from './select.ts';
import { late } from './service.ts';
import { noneExpected } from './steps.ts';

const up = `min by (api) (${select('filer_api_up')})`;
const why = `max by (api, reason) (${select('filer_api_down_info')})`;
const said = (word: string, query: string) => `label_replace(${query}, "reason", "${word}", "", "")`;

/** Shows the state of each service and the reason for it; and its overdue tasks if there is room. */
export function byService(width: number, height: number): PanelBuilder {
  const narrow = width < 12;
  return table({
    title: 'By service',
    description:
      'Whether each service is up or why it is not, and the longest time since a successful poll of one of its tasks. Unless the reason is known at once, a service is down after three to four intervals without a success, so this time grows before. The dashboard Exporter shows the responses.',
    queries: [
      { expr: `${why} or on (api) ${said('up', `${up} == 1`)} or on (api) ${said('down', up)}`, legend: LABELS_ALONE },
      {
        expr: `max by (api) (${select('filer_exporter_data_age_worst_seconds')})`,
        legend: 'Last poll',
      },
      ...(narrow ? [] : [{ expr: late, legend: 'Overdue' }]),
    ],
    columns: [
      { label: 'api', title: 'Service', ...(narrow ? { width: 70 } : {}) },
      { label: 'reason', title: 'Now', ...(narrow ? { minWidth: 128 } : {}), mappings: upOrWhy },
    ],
    stepsBy: { Overdue: noneExpected },
    ...(narrow ? { valueWidth: 100 } : {}),
    width,
    height,
  });
}

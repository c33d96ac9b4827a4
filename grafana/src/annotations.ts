import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { byAccount } from './by-account.ts';
import { select } from './select.ts';
import { DATA_SOURCE } from './variables.ts';

const critical = select('ALERTS', { alertstate: '="firing"', alertname: '=~"Filer.*"', severity: '="critical"' });

/** The marks above the charts of every dashboard: when an alert began to fire, and when an exporter started. */
export const annotations: readonly AnnotationQueryBuilder[] = [
  mark(
    'Critical alerts',
    'red',
    // Only the beginning is marked, because a mark as long as the alert would cover the charts.
    `count by (alertname) (${critical} unless ${critical} offset 1m)`,
    '{{alertname}}',
  ),
  mark('Exporter starts', 'blue', `changes(${select('process_start_time_seconds')}[2m]) > 0`, '{{instance}}'),
];

function mark(name: string, colour: string, expr: string, title: string): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(DATA_SOURCE)
    .enable(true)
    .iconColor(colour)
    .expr(byAccount(expr))
    .step('60s')
    .titleFormat(name)
    .textFormat(title);
}

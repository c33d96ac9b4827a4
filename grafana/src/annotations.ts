import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { select } from './select.ts';
import { DATA_SOURCE } from './variables.ts';

const alerts = select('ALERTS', { alertstate: '="firing"', alertname: '=~"Filer.*"' });

/** What every dashboard marks over its charts: when something fired, and when an exporter started. */
export const annotations: readonly AnnotationQueryBuilder[] = [
  mark(
    'Critical alerts',
    'red',
    `count by (alertname) (${alerts.replace('}', ',severity="critical"}')})`,
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
    .expr(expr)
    .step('60s')
    .titleFormat(name)
    .textFormat(title);
}

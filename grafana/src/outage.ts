import { VizTextDisplayOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import type { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { words } from './mappings.ts';
import { number } from './numbers.ts';
import { select } from './select.ts';
import type { Steps } from './steps.ts';

const why = select('filer_api_down_info');
const lastAnswer = `max by (job, instance, api) (${select('filer_exporter_last_success_timestamp_seconds')})`;
const unseen = `${select('up')} == 0`;
const lastScrape = `max_over_time(timestamp(${select('up')} == 1)[1d:1m])`;

/** Values below zero stand for states; other values are times. */
const all = words([-1, 'respond'], [-2, 'never'], [-3, 'not configured']);

/** An exporter is scraped, and no exporter polls this service. */
const notConfigured = (api: string) =>
  `min(0 * timestamp(${select('filer_exporter_build_info')}) - 3) unless on () ${select('filer_api_up', { api: `="${api}"` })}`;
const alarm: Steps = [{ value: null, color: 'red' }];

/**
 * Shows the outage that explains the other panels, the same on every dashboard. It uses only series of the exporter, so
 * it does not need the rules.
 */
export function outagePanel(): PanelBuilder {
  return number(
    {
      title: 'Outages',
      description:
        'The services that do not respond, with the reason and the time of the last response; exporters that cannot be scraped; and services that are not configured. Values that an outage hides are unknown below, not red. Repair the outage first. This panel needs no alert rules.',
      queries: [
        {
          expr: `max by (api, reason) ((time() - ${lastAnswer}) * on (job, instance, api) group_right () ${why}) or max by (api, reason) (-2 * ${why})`,
          legend: '{{api}} is down: {{reason}}. Last response',
        },
        {
          expr: `max by (instance) ((time() - ${lastScrape}) and ${unseen}) or max by (instance) (${unseen}) - 2`,
          legend: '{{instance}} cannot be scraped. Last scrape',
        },
        { expr: notConfigured('gfa'), legend: 'The file acceleration service' },
        { expr: notConfigured('portal'), legend: 'The portal' },
        {
          expr: `min(0 * timestamp(${select('filer_api_up')}) - 1) unless on () (${why} or ${unseen})`,
          legend: 'All services that are polled',
        },
      ],
      steps: alarm,
      width: 24,
      height: 2,
      empty: 'unknown: Prometheus does not respond, or scrapes no exporter',
    },
    all,
  )
    .wideLayout(true)
    .text(new VizTextDisplayOptionsBuilder().titleSize(16).valueSize(18));
}

import { expect, test } from 'vitest';
import { alertRules } from '../../deploy/prometheus/groups.ts';
import { numbersOf } from '../../grafana/src/alerts/numbers.ts';
import { UNKNOWN } from '../../grafana/src/mappings.ts';
import { api, applianceLyon, type Labels, lyon, scraped, series } from '../deploy/prometheus/case.ts';
import { everyQuery } from '../support/dashboards.ts';
import { askedAt, isSkipped } from './moment.ts';

const { job } = scraped;
const filer = applianceLyon.filer;

/** What is going on, what Prometheus has, and what the table of alerts says of how bad that is. */
const cases: readonly (readonly [when: string, had: string, value: number, labels: Labels | undefined])[] = [
  [
    'credentials of one kind fail: how many of them',
    series('filer_cloud_credentials_with_error', { ...scraped, type: 'amazon' }),
    3,
    { alertname: 'FilerCloudCredentialFailing', type: 'amazon', how_bad: '3 failed' },
  ],
  [
    'the telemetry of an appliance was never polled: how long it has failed',
    series('ALERTS_FOR_STATE', { ...applianceLyon, alertname: 'FilerApplianceTelemetryFailing' }),
    -5400,
    { alertname: 'FilerApplianceTelemetryFailing', filer, how_bad: '90 minutes' },
  ],
  [
    'tasks are late',
    series('filer_exporter_tasks_overdue', api('portal')),
    7,
    { alertname: 'FilerExporterDataOld', api: 'portal', how_bad: '7 tasks late' },
  ],
  ['tasks are late no longer: no number', series('filer_exporter_tasks_overdue', api('portal')), 0, undefined],
];

test.skipIf(isSkipped).each(cases)('%s', (_when, had, value, labels) => {
  const samples = labels === undefined ? [] : [{ labels: series('', { job, ...labels }), value: 1 }];
  const query = `max without (number) (${numbersOf(alertRules, {})})`;
  expect(askedAt([[had, value]], [[query, samples]])).toContain('SUCCESS');
});

test.skipIf(isSkipped).each([
  ['an appliance is well while it reports', 'reporting', 1, 0],
  ['an appliance is not well in an outage of the portal, and no warning', 'unavailable', 0, UNKNOWN],
  ['an appliance that cannot be polled is a warning while its filer is heard of', 'unavailable', 1, 2],
] as const)('%s', (_when, state, up, rank) => {
  const [{ expr = '' } = {}] = everyQuery.filter(({ where }) => where.includes('Appliances, the worst first'));
  const had = [
    [series('filer_appliance_state', { ...applianceLyon, state }), 1],
    [series('filer_last_checkin_timestamp_seconds', lyon), 0],
    [series('filer_api_up', api('portal')), up],
  ] as const;
  const samples = [{ labels: series('', { job, filer }), value: rank }];
  expect(askedAt(had, [[`round(${expr}, 0.001)`, samples]])).toContain('SUCCESS');
});

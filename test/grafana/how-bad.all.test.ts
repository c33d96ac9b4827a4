import { expect, test } from 'vitest';
import { UNKNOWN } from '../../grafana/src/mappings.ts';
import { api, applianceLyon, lyon, scraped, series } from '../deploy/prometheus/case.ts';
import { everyQuery } from '../support/dashboards.ts';
import { askedAt, isSkipped } from './moment.ts';

const { job } = scraped;
const filer = applianceLyon.filer;

test.skipIf(isSkipped).each([
  ['an appliance is well while it reports', 'reporting', 1, 1, 0],
  ['an appliance is well in an outage of the portal while its filer checks in', 'unavailable', 0, 1, 0],
  [
    'an appliance is not well in an outage of the portal without a check-in, and no warning',
    'unavailable',
    0,
    1,
    UNKNOWN,
  ],
  ['an appliance that cannot be polled is a warning while its filer is heard of', 'unavailable', 1, 1, 2],
  ['nobody knows whether an appliance is well in an outage of file acceleration', 'reporting', 1, 0, UNKNOWN],
] as const)('%s', (_when, state, portal, gfa, rank) => {
  const [{ expr = '' } = {}] = everyQuery.filter(({ where }) => where.includes('Appliances, the worst first'));
  const had = [
    [series('filer_appliance_state', { ...applianceLyon, state }), 1],
    ...(rank === UNKNOWN ? [] : [[series('filer_last_checkin_timestamp_seconds', lyon), 0] as const]),
    [series('filer_api_up', api('portal')), portal],
    [series('filer_api_up', api('gfa')), gfa],
  ] as const;
  const samples = [{ labels: series('', { job, filer }), value: rank }];
  expect(askedAt(had, [[`round(${expr}, 0.001)`, samples]])).toContain('SUCCESS');
});

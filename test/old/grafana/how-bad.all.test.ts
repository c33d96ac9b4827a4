import { expect, test } from 'vitest';
import { UNKNOWN } from '../../grafana/src/mappings.ts';
import { reasons } from '../../grafana/src/nothing.ts';
import { api, applianceLyon, lyon, lyonOnProjects, scraped, series } from '../deploy/prometheus/case.ts';
import { everyQuery } from '../support/dashboards.ts';
import { askedAt, isSkipped } from './moment.ts';

const { job } = scraped;
const filer = applianceLyon.filer;
const exporterDown = reasons.find(([, text]) => text === 'exporter down')?.[0] ?? 0;

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

test.skipIf(isSkipped)('how long changes take is not known while the exporter cannot be scraped', () => {
  const [{ expr = '' } = {}] = everyQuery.filter(({ where }) => where === 'filer-volumes / Propagation / A');
  const had = [
    [series('volume_filer:filer_propagation_duration_seconds:p90_rate1h', lyonOnProjects), 60],
    [series('up', scraped), 0],
  ] as const;
  const samples = [{ labels: series('', { job, volume: 'file acceleration' }), value: exporterDown }];
  expect(askedAt(had, [[expr, samples]])).toContain('SUCCESS');
});

// Only here: alerts that never fire, or fire when all is well.
import { expect, test } from 'vitest';
import { sentOf, testAlerts } from './alerts.ts';
import { type AlertCases, api, applianceLyon, applianceOslo, lyon, scraped, series } from './case.ts';

const up = series('filer_appliance_up', applianceLyon);
const state = (word: 'reporting' | 'no_records' | 'unavailable', of: object = applianceLyon) =>
  series('filer_appliance_state', { ...of, state: word });
const checkin = series('filer_last_checkin_timestamp_seconds', lyon);
const portalUp = series('filer_api_up', api('portal'));
const reachable = series('filer_appliance_reachable', applianceLyon);
const record = (name: string, of: object = applianceLyon) =>
  series('filer_appliance_series_timestamp_seconds', { ...of, series: name });
const effective = series('filer_exporter_effective_interval_seconds', api('portal'));
const synced = series('filer_appliance_synced', applianceLyon);
const waiting = series('filer_oldest_unprotected_data_timestamp_seconds', { ...applianceLyon, volume: 'projects' });
const one = (metric: string, index: number, of: object) =>
  series(metric, { ...applianceLyon, filer: `edge-${index}`, serial: `s-${index}`, ...of });
/** A fleet as an exporter sees it: so many without telemetry. */
const fleet = (size: number, silent: number, instance: string) =>
  Object.fromEntries(
    Array.from({ length: size }, (_, index) => [
      [one('filer_appliance_info', index, { instance, build: '10.1' }), '1x60'],
      [one('filer_appliance_up', index, { instance }), index < silent ? '0x60' : '1x60'],
    ]).flat(),
  );
/** An inventory that so many appliances leave at the twentieth minute. */
const inventory = (size: number, leaving: number) =>
  Object.fromEntries(
    Array.from({ length: size }, (_, index) => [
      one('filer_appliance_info', index, { build: '10.1' }),
      index < leaving ? '1x19 stale' : '1x60',
    ]),
  );
/** So many appliances with a warning. */
const busy = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      one('ALERTS', index, { alertname: 'FilerApplianceCpuHigh', alertstate: 'firing', severity: 'warning' }),
      '1x30',
    ]),
  );
const cpu = series('filer_appliance_cpu_utilization_ratio', applianceLyon);
const memory = series('filer_appliance_memory_utilization_ratio', applianceLyon);
const cache = series('filer_appliance_cache_utilization_ratio', applianceLyon);
const latency = (direction: 'read' | 'write') =>
  series('filer_appliance_disk_io_latency_seconds', { ...applianceLyon, disk: 'cache', direction });

const cases: AlertCases = {
  FilerFleetNotReporting: [
    {
      when: 'a third of twelve appliances has no telemetry, as both exporters say',
      series: { ...fleet(12, 4, 'a'), ...fleet(12, 4, 'b') },
      pendingAt: '10m',
      at: '30m',
      fires: scraped,
      values: ['4', ', first of all edge-0'],
    },
    {
      when: 'twenty-one of three hundred have none: a small share, and still one cause',
      series: { ...fleet(300, 21, 'a') },
      at: '30m',
      fires: scraped,
      values: ['21', ', first of all edge-0'],
    },
    { when: 'two of twelve have none', series: { ...fleet(12, 2, 'a') }, at: '30m' },
    {
      when: 'none has any while the portal is down, which FilerApiDown says',
      series: { ...fleet(12, 12, 'a'), [portalUp]: '0x60' },
      at: '30m',
    },
    { when: 'the inventory is not to be had: silent', series: { [up]: '0x60' }, at: '30m' },
  ],
  FilerFleetShrunk: [
    {
      when: 'two of twelve appliances leave the inventory at the twentieth minute',
      series: { ...inventory(12, 2) },
      pendingAt: '25m',
      at: '45m',
      fires: scraped,
      values: ['16.67%'],
    },
    { when: 'one of twelve leaves', series: { ...inventory(12, 1) }, at: '45m' },
    { when: 'one of two is taken out of service', series: { ...inventory(2, 1) }, at: '45m' },
  ],
  FilerFleetAffected: [
    {
      when: 'twenty-one appliances are busy',
      series: busy(21),
      pendingAt: '3m',
      at: '20m',
      fires: { job: scraped.job },
      values: ['21', ', first of all edge-0'],
    },
    { when: 'twenty are', series: busy(20), at: '20m' },
  ],
  FilerApplianceDown: [
    {
      when: 'every poll of one appliance fails, and another one is well',
      series: {
        [state('reporting')]: '1x5 stale',
        [state('unavailable')]: '_x5 1x30',
        [state('reporting', applianceOslo)]: '1x35',
        [portalUp]: '1x35',
      },
      pendingAt: '15m',
      at: '30m',
      fires: applianceLyon,
    },
    {
      when: 'the whole portal is down, which FilerApiDown says',
      series: { [state('unavailable')]: '1x35', [state('unavailable', applianceOslo)]: '1x35', [portalUp]: '0x35' },
      at: '30m',
    },
    {
      when: 'it answers now and then',
      series: { [state('unavailable')]: '1x9 stale 1x9 stale 1x9', [portalUp]: '1x35' },
      at: '28m',
    },
    {
      when: 'the filer checks in every minute, which FilerApplianceTelemetryFailing says',
      series: { [state('unavailable')]: '1x70', [portalUp]: '1x70', [checkin]: '0+60x70' },
      at: '60m',
    },
  ],
  FilerApplianceTelemetryFailing: [
    {
      when: 'every poll fails, and the filer checks in every minute',
      series: { [state('unavailable')]: '1x70', [portalUp]: '1x70', [checkin]: '0+60x70' },
      pendingAt: '40m',
      at: '60m',
      fires: applianceLyon,
    },
    {
      when: 'the filer has stopped to check in too',
      series: { [state('unavailable')]: '1x70', [portalUp]: '1x70', [checkin]: '0x70' },
      at: '60m',
    },
    {
      when: 'the whole portal is down, which FilerApiDown says',
      series: { [state('unavailable')]: '1x70', [portalUp]: '0x70', [checkin]: '0+60x70' },
      at: '60m',
    },
    {
      when: 'file acceleration is not configured: silent, FilerApplianceDown speaks',
      series: { [state('unavailable')]: '1x70', [portalUp]: '1x70' },
      at: '60m',
    },
  ],
  FilerApplianceNotReporting: [
    {
      when: 'the polls of an appliance succeed with nothing in them, and another one reports',
      series: { [state('no_records')]: '1x60', [state('reporting', applianceOslo)]: '1x60' },
      pendingAt: '20m',
      at: '45m',
      fires: applianceLyon,
    },
    {
      when: 'one series reports, and the others are empty',
      series: { [state('reporting')]: '1x60' },
      at: '45m',
    },
    {
      when: 'its polls fail, which FilerApplianceDown says',
      series: { [state('unavailable')]: '1x60', [portalUp]: '1x60' },
      at: '45m',
    },
  ],
  FilerApplianceDataOld: [
    {
      when: 'the newest record of all series was taken forty minutes ago',
      series: {
        [record('cpu_utilization')]: '0x90',
        [record('cache_utilization')]: '600x90',
        [effective]: '300x90',
      },
      pendingAt: '40m',
      at: '50m',
      fires: applianceLyon,
      values: ['40m 0s', '15m 0s'],
    },
    {
      when: 'it is polled once an hour, as is asked for',
      series: { [record('cpu_utilization')]: '0x90', [effective]: '3600x90' },
      at: '80m',
    },
    {
      when: 'one series has stopped, and another one goes on',
      series: {
        [record('cpu_utilization')]: '0x90',
        [record('cache_utilization')]: '0+60x90',
        [effective]: '300x90',
      },
      at: '80m',
    },
  ],
  FilerApplianceUnreachable: [
    {
      when: 'the portal has not reached it for three rounds',
      series: { [reachable]: '1x5 0x90', [up]: '1x95' },
      pendingAt: '50m',
      at: '80m',
      fires: applianceLyon,
    },
    {
      when: 'the portal reaches it, but it has run with old settings for an hour',
      series: { [reachable]: '1x95', [synced]: '1x5 0x90' },
      pendingAt: '50m',
      at: '80m',
      fires: applianceLyon,
    },
    {
      when: 'the next round reaches it again',
      series: { [reachable]: '0x15 1x90', [synced]: '1x105' },
      at: '80m',
    },
  ],
  FilerApplianceCpuHigh: [
    {
      when: 'the processors have been busy for 40 minutes',
      series: { [cpu]: '0.97x60' },
      pendingAt: '20m',
      at: '40m',
      fires: applianceLyon,
      values: ['97%', '90%'],
    },
    {
      when: 'they are busy for twenty minutes in the hour',
      series: { [cpu]: '0.97x20 0.3x40' },
      at: '40m',
    },
  ],
  FilerApplianceMemoryHigh: [
    {
      when: 'nearly nothing is available for 40 minutes',
      series: { [memory]: '0.955x60' },
      pendingAt: '20m',
      at: '40m',
      fires: applianceLyon,
      values: ['95.5%', '90%'],
    },
    { when: 'a third is available', series: { [memory]: '0.66x60' }, at: '40m' },
  ],
  FilerApplianceCacheNearlyFull: [
    {
      when: 'the cache has been full for over an hour',
      series: { [cache]: '0.98x120', [waiting]: '-4000x120' },
      pendingAt: '45m',
      at: '75m',
      fires: applianceLyon,
      values: ['98%', '95%'],
    },
    {
      when: 'it is full of data that is in the cloud, as caches are',
      series: { [cache]: '0.98x120', [waiting]: '0+60x120' },
      at: '75m',
    },
    {
      when: 'it fills up and evicts, as caches do',
      series: { [cache]: '0.7+0.01x28 0.7+0.01x28 0.7+0.01x28 0.7+0.01x28' },
      at: '110m',
    },
  ],
  FilerApplianceDiskLatencyHigh: [
    {
      when: 'writes to the cache disk are slow, and reads are not',
      series: { [latency('write')]: '0.08x60', [latency('read')]: '0.004x60' },
      pendingAt: '20m',
      at: '40m',
      fires: { ...applianceLyon, disk: 'cache', direction: 'write' },
      values: ['80ms', '50ms'],
    },
    {
      when: 'one slow bin now and then',
      series: { [latency('write')]: '0.2 0.01x20 0.2 0.01x20' },
      at: '40m',
    },
  ],
};

testAlerts('appliances', cases);

test('there are alerts about what remote write sends', () => {
  const sent = Object.entries(cases).filter(([, some]) => some.some((one) => Object.keys(sentOf(one)).length > 0));
  expect(sent.map(([alert]) => alert)).toEqual(
    expect.arrayContaining(['FilerApplianceCpuHigh', 'FilerApplianceMemoryHigh', 'FilerApplianceDiskLatencyHigh']),
  );
});

import { describe, expect, test } from 'vitest';
import { effectiveConfiguration } from '../../src/config/describe.ts';
import { STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { configOf, type Environment, errorsOf, portalOnly, services } from './surroundings.ts';

const economy = { ...portalOnly, PORTAL_MODE: 'economy' };
const minutes = (count: number) => count * 60_000;

describe('PORTAL_MODE=economy', () => {
  const series = (more: Environment = {}) => configOf({ ...economy, ...more }).portal?.series;

  test('polls one series at PORTAL_INTERVAL, the others at PORTAL_FULL_INTERVAL, and not those it gives the whole of', () => {
    expect(series()).toEqual([
      { name: 'current_appliance_performance', intervalMs: minutes(5) },
      ...STANDARD_SERIES.filter((name) => name !== 'cpu_utilization').map((name) => ({
        name,
        intervalMs: minutes(60),
      })),
    ]);
    expect(series({ PORTAL_INTERVAL: '2m', PORTAL_FULL_INTERVAL: '30m', PORTAL_SERIES: 'load_average' })).toEqual([
      { name: 'current_appliance_performance', intervalMs: minutes(2) },
      { name: 'load_average', intervalMs: minutes(30) },
    ]);
  });

  test('leaves a series the interval that it was given', () => {
    const PORTAL_SERIES = 'current_appliance_performance=1m,load_average=10m,cache_utilization';
    expect(series({ PORTAL_SERIES })).toEqual([
      { name: 'current_appliance_performance', intervalMs: minutes(1) },
      { name: 'load_average', intervalMs: minutes(10) },
      { name: 'cache_utilization', intervalMs: minutes(60) },
    ]);
  });

  test('is a fault with a full interval below the short one', () => {
    expect(errorsOf({ ...economy, PORTAL_FULL_INTERVAL: '1m' })).toEqual([
      'PORTAL_FULL_INTERVAL: is below PORTAL_INTERVAL; with PORTAL_MODE=economy expected at least PORTAL_INTERVAL',
    ]);
    expect(errorsOf({ ...portalOnly, PORTAL_FULL_INTERVAL: '1m' })).toEqual([]);
  });

  test('is the same configuration once written out and read again', () => {
    const config = configOf({ ...economy, PORTAL_SERIES: 'load_average=10m,cache_utilization' });
    const lines = effectiveConfiguration(config, services)
      .trimEnd()
      .split('\n')
      .map((line) => line.split('=', 1).concat(line.slice(line.indexOf('=') + 1)))
      .filter(([, value]) => value !== '');
    const again = configOf({ ...Object.fromEntries(lines), ...portalOnly, services });
    expect(again.portal?.series).toEqual(config.portal?.series);
  });
});

test('the full mode polls every series at PORTAL_INTERVAL, and knows what the economy mode would', () => {
  const portal = configOf(portalOnly).portal;
  expect(portal?.series).toEqual(portal?.seriesByMode.full);
  expect(portal?.series.map(({ intervalMs }) => intervalMs)).toEqual(STANDARD_SERIES.map(() => minutes(5)));
  expect(portal?.seriesByMode.economy).toEqual(configOf(economy).portal?.series);
});

test('a period that is shorter than a bin is a fault', () => {
  const message = 'PORTAL_LOOKBACK: is below PORTAL_BIN_SIZE; expected at least one whole bin';
  expect(errorsOf({ ...portalOnly, PORTAL_BIN_SIZE: '1h' })).toEqual([message]);
  expect(errorsOf({ ...portalOnly, PORTAL_BIN_SIZE: '1h', PORTAL_LOOKBACK: '1h' })).toEqual([]);
});

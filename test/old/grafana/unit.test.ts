import { describe, expect, test } from 'vitest';
import { select } from '../../grafana/src/select.ts';
import { unitOf } from '../../grafana/src/unit.ts';

describe('the unit of a panel', () => {
  test.each([
    ['max by (filer) (filer:last_checkin_age:seconds{job="$job"})', 's'],
    ['time() - max(filer_exporter_last_success_timestamp_seconds)', 's'],
    ['max(filer_license_expiry_timestamp_seconds) - time()', 's'],
    ['histogram_quantile(0.9, sum by (le) (rate(filer_propagation_duration_seconds_bucket[$window])))', 's'],
    ['1 / (rate(filer_lock_events_total[6h]) > 0)', 's'],
    ['rate(filer_lock_duration_seconds_sum[$__rate_interval])', 'percentunit'],
    ['sum(filer_appliance_up) / count(filer_appliance_up)', 'percentunit'],
    ['filer_appliance_cpu_utilization_ratio', 'percentunit'],
    ['increase(filer_lock_events_total[1h])', 'locale'],
    ['sum(filer:last_checkin_age:seconds > bool 1800)', 'locale'],
    ['count(filer:last_checkin_age:seconds > 1800) or vector(0)', 'locale'],
    ['rate(filer_exporter_requests_total[5m])', 'suffix:/s'],
    ['filer_exporter_pace_requests_per_second', 'suffix:/s'],
    ['topk($top, filer_appliance_memory_detail_bytes)', 'bytes'],
    ['filer_appliance_network_bytes_per_second', 'binBps'],
  ])('of %s is %s', (query, unit) => {
    expect(unitOf([query])).toBe(unit);
  });

  test.each([
    ['bytes beside seconds', ['filer_appliance_memory_bytes', 'filer_appliance_uptime_seconds'], /one unit/],
    ['seconds times seconds', ['filer_appliance_uptime_seconds * filer_appliance_uptime_seconds'], /no unit/],
    ['a metric that is not there', ['filer_appliance_uptime_minutes'], /no such metric/],
    ['a histogram without its part', ['sum(filer_lock_duration_seconds)'], /_bucket, _sum or _count/],
    ['what is no PromQL', ['sum by (filer (filer_api_up)'], /not PromQL/],
    ['a selection by labels alone', ['{job="a"}'], /name of a metric/],
  ])('%s have none', (_what, queries, fault) => {
    expect(() => unitOf(queries)).toThrow(fault);
  });
});

describe('a selection', () => {
  test('is narrowed by the variables whose labels the metric has', () => {
    expect(select('filer_api_up')).toBe('filer_api_up{job="$job"}');
    expect(select('filer_appliance_up')).toBe('filer_appliance_up{job="$job",filer=~"$filer"}');
    expect(select('filer_lock_duration_seconds_sum', { lock_phase: '="p2"' })).toBe(
      'filer_lock_duration_seconds_sum{job="$job",filer=~"$filer",volume=~"$volume",lock_phase="p2"}',
    );
  });

  test('a matcher of its own stands in the place of a variable', () => {
    expect(select('filer_appliance_up', { filer: '=~"$filer|"' })).toBe(
      'filer_appliance_up{job="$job",filer=~"$filer|"}',
    );
  });

  test('of a metric that was renamed fails, and so leaves no empty panel', () => {
    expect(() => select('filer_appliance_upp')).toThrow('no such metric in the catalogue');
  });
});

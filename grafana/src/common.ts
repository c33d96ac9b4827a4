import type { Query } from './panel.ts';
import { select } from './select.ts';

/** Time since each filer was last heard of, on whichever volume: the smallest of its values is its contact. */
export function checkIns(by: string): string {
  return `min by (${by}) (${select('filer:last_checkin_age:seconds')})`;
}

/** The filers where a gauge is highest, a number of them or a variable's. */
export function highest(
  count: number | '$top',
  gauge: string,
  matchers: Readonly<Record<string, string>> = {},
): string {
  return `topk(${count}, max by (filer) (${select(gauge, matchers)}))`;
}

/** Share of cache requests that the cache disk answered, by filer. */
export function hitRatio(): string {
  const requests = (matchers = {}) => `sum by (filer) (${select('filer_appliance_cache_requests', matchers)})`;
  return `${requests({ result: '="hit"' })} / (${requests()} > 0)`;
}

/** One-minute load of a filer for each of its processor cores. */
export function loadPerCore(): string {
  const load = select('filer_appliance_load_average', { window: '="1m"' });
  return `max by (filer) (${load}) / max by (filer) (${select('filer_appliance_cpu_cores')} > 0)`;
}

/**
 * How many appliances report, have no record, and cannot be polled: an appliance that is off answers with nothing in it, which
 * is no failed poll. Each counts once, however many exporters poll it.
 */
export function applianceStates(): readonly Query[] {
  const up = select('filer_appliance_up');
  const records = `on (job, instance, serial) ${select('filer_appliance_series_timestamp_seconds')}`;
  const counted = (state: string) => `count(max by (serial) (${state})) or 0 * count(${up})`;
  return [
    { expr: counted(`${up} == 1 and ${records}`), legend: 'report' },
    { expr: counted(`${up} == 1 unless ${records}`), legend: 'no records' },
    { expr: counted(`${up} == 0`), legend: 'not polled' },
  ];
}

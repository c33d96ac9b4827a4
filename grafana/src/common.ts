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

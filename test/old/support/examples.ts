import type { CatalogEntry } from '../../src/catalog.ts';

/** Questions that a metric's kind alone does not suggest. */
const OWN: Readonly<Record<string, string>> = {
  filer_account_info: 'count by (account) (filer_account_info)',
  filer_last_checkin_timestamp_seconds: 'time() - max by (filer) (filer_last_checkin_timestamp_seconds) > 1800',
  filer_oldest_unprotected_data_timestamp_seconds:
    'topk(5, time() - min by (filer, volume) (filer_oldest_unprotected_data_timestamp_seconds))',
  filer_lock_state: 'count by (lock_phase, lock_state) (filer_lock_state == 1)',
  filer_lock_duration_seconds: 'sum by (volume) (rate(filer_lock_duration_seconds_sum{lock_phase="p2"}[1h]))',
  filer_appliance_cache_requests:
    'sum by (filer) (filer_appliance_cache_requests{result="hit"}) / sum by (filer) (filer_appliance_cache_requests)',
  filer_appliance_load_average:
    'max by (serial, filer) (filer_appliance_load_average{window="5m"}) / on (serial, filer) filer_appliance_cpu_cores',
  filer_appliance_cpu_cores: 'sum(filer_appliance_cpu_cores)',
  filer_appliance_info: 'count by (build) (filer_appliance_info)',
  filer_appliance_series_timestamp_seconds:
    'time() - max by (serial, filer) (filer_appliance_series_timestamp_seconds)',
  filer_exporter_build_info: 'count by (version) (filer_exporter_build_info)',
  filer_exporter_requests_total: 'sum by (api, code) (rate(filer_exporter_requests_total[5m]))',
  filer_exporter_daily_budget_remaining:
    'filer_exporter_daily_budget_remaining / on (job, instance, api) filer_exporter_daily_budget_limit',
  filer_exporter_effective_interval_seconds:
    'filer_exporter_effective_interval_seconds / on (job, instance, api) filer_exporter_configured_interval_seconds',
  filer_exporter_tasks_suspended: 'sum by (api, reason) (filer_exporter_tasks_suspended) > 0',
};

/** Labels that people read; what they stand beside, such as a serial, only tells things of one name apart. */
const READ = [
  ...['filer', 'volume', 'api', 'kind', 'operation', 'disk', 'direction', 'result', 'reason', 'status', 'state'],
];

/** A question in PromQL that a metric answers: its own, or the one that everybody asks of its kind. */
export function exampleOf({ name, type, unit, labels }: CatalogEntry): string {
  const own = OWN[name];
  if (own !== undefined) return own;
  const read = READ.filter((label) => labels.includes(label)).slice(0, 3);
  const by = (...more: readonly string[]) => {
    const names = [...read, ...more];
    return names.length === 0 ? '' : ` by (${names.join(', ')}) `;
  };
  if (type === 'histogram') return `histogram_quantile(0.9, sum${by('le')}(rate(${name}_bucket[1h])))`;
  if (type === 'counter') return `sum${by()}(increase(${name}[1h])) > 0`;
  if (name.endsWith('_timestamp_seconds')) return `time() - max${by()}(${name})`;
  if (name.endsWith('_up')) return `${name} == 0`;
  if (name.endsWith('_info')) return `count${by()}(${name})`;
  if (unit === 'ratio') return `max${by()}(${name}) > 0.9`;
  if (unit === 'seconds') return `max${by()}(max_over_time(${name}[1h]))`;
  return read.length === 0 ? name : `sum${by()}(${name})`;
}

/** The overrides above, for the test that none of them is left over from a metric that is gone. */
export const ownExamples: readonly string[] = Object.keys(OWN);

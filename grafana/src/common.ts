import type { Reason } from './badness.ts';
import { limits } from './limits.ts';
import { UNKNOWN } from './mappings.ts';
import type { Query } from './panel.ts';
import { quantileOf, select } from './select.ts';
import { down, type Service, whilePolled, whileUp } from './service.ts';

/**
 * The time since the last contact of each filer, on its own or on any volume; unknown in an outage. It is computed at
 * this moment, because the recording rules may not be loaded.
 */
export function checkIns(by: string): string {
  const contact = [
    select('filer_last_checkin_timestamp_seconds'),
    select('filer_volume_last_checkin_timestamp_seconds', { volume: '=~".*"' }),
  ].join(' or ');
  return `(time() - max by (${by}) (${whileUp('gfa', contact)}))`;
}

/** The same, at each time of the range, from the recording rules. */
export function checkInsOverTime(by: string): string {
  return `min by (${by}) (${whileUp('gfa', select('filer:last_checkin_age:seconds'))})`;
}

/** Returns the filers with the highest values of a gauge. `count` is a number or a variable. */
export function highest(
  count: number | '$top',
  gauge: string,
  matchers: Readonly<Record<string, string>> = {},
): string {
  return `topk(${count}, max by (filer) (${select(gauge, matchers)}))`;
}

/** The median, the 90th and the 99th percentile, which every chart of a distribution shows. */
export function quantiles(expr: (share: number) => string, by = ''): readonly Query[] {
  return [0.5, 0.9, 0.99].map((share) => ({ expr: expr(share), legend: `p${share * 100}${by}` }));
}

/** The share of cache requests that the cache disk served, by filer; `among` limits the series to some filers. */
export function hitRatio(among = ''): string {
  const requests = (matchers = {}) =>
    `sum by (filer) (${once(`${select('filer_appliance_cache_requests', matchers)}${among}`)})`;
  return `${requests({ result: '="hit"' })} / (${requests()} > 0)`;
}

/** One-minute load of a filer for each of its processor cores. */
export function loadPerCore(): string {
  const load = select('filer_appliance_load_average', { window: '="1m"' });
  return `max by (filer) (${load}) / max by (filer) (${select('filer_appliance_cpu_cores')} > 0)`;
}

/**
 * The state of each appliance: 2 while it reports, 1 while the portal has no records of it, 0 while it cannot be polled,
 * -1 while nothing is known because the portal is down. Of the values of two exporters the higher one is used.
 */
export function standing(by: string): string {
  const in_ = (state: string) => select('filer_appliance_state', { state: `="${state}"` });
  return `max by (${by}) (2 * ${in_('reporting')} or ${in_('no_records')} or 0 * ${whileUp('portal', in_('unavailable'))} or -1 * ${in_('unavailable')})`;
}

/** The age of the newest record of each appliance without telemetry; one second if no record is known. */
export const withoutTelemetry = (() => {
  const newest = `max by (filer) (${select('filer_appliance_last_record_timestamp_seconds')})`;
  return `((time() - ${newest} or max by (filer) (${select('filer_appliance_state')})) and (${standing('filer')} >= 0 < 2))`;
})();

/** The same age, of appliances that do not check in either, so that there is no sign that they work. */
export const dead = `(${withoutTelemetry} unless on (filer) ${checkIns('filer')} < ${limits.missingCheckIn})`;

/** Every filer is unknown while file acceleration is down, because telemetry says nothing of its data. */
export const unknownInOutage: Reason = {
  of: `(${UNKNOWN} * group by (filer) (${select('filer_appliance_state')}) and on () ${down('gfa')})`,
  warns: 1,
};

/**
 * How many appliances have each state, and how many have none yet. An appliance counts once, by its best state, even if
 * several exporters poll it. Charts compute this at each step, so few series are grouped.
 */
export function applianceCounts(): readonly Query[] {
  const in_ = (state: string) => select('filer_appliance_state', { state });
  const count = (series: string) => `count(group by (serial) (${series}))`;
  const up = in_('="reporting"');
  const listed = in_('=~"reporting|no_records"');
  const down = whileUp('portal', in_('="unavailable"'));
  const orZero = `or on () 0 * (group(${listed}) or group(${down}))`;
  return [
    { expr: `${count(up)} ${orZero}`, legend: 'up' },
    { expr: `${count(`${in_('="no_records"')} unless on (serial) ${up}`)} ${orZero}`, legend: 'no records' },
    { expr: `${count(`${down} unless on (serial) ${listed}`)} ${orZero}`, legend: 'down' },
    {
      expr: count(`${in_('="unavailable"')} unless on (serial) ${listed} unless on (serial) ${down}`),
      legend: 'unknown',
    },
    {
      expr: count(`${select('filer_appliance_info')} unless on (serial) ${select('filer_appliance_state')}`),
      legend: 'waiting',
    },
  ];
}

/**
 * How long the oldest data of each filer has been waiting for cloud storage. It does not use the recording rule: if the
 * rules are not loaded, its missing series would mean "nothing waits".
 */
export const dataWaits = whileUp('gfa', `time() - ${select('filer_oldest_unprotected_data_timestamp_seconds')}`);

/** The 90th percentile of propagation in the last hour. */
export const propagation = whilePolled('gfa', select('volume_filer:filer_propagation_duration_seconds:p90_rate1h'));

/** Negative if file acceleration is polled and reports that no data waits; without a value if nothing is known. */
export const nothingWaits = `0 * max(time() - ${whileUp('gfa', select('filer_gfa_request_timestamp_seconds'))}) - 1`;

/** The time until the subscription ends; -1 if it is known to have no end; without a value if nothing is known of it. */
export const licenceLeft = `(min(${select('filer_license_expiry_timestamp_seconds')}) - time()) or on () -1 * group(${select('filer_license_info')})`;

/** Counts once what two exporters of one account both count, by every label that distinguishes what is counted. */
export function once(query: string): string {
  return `max without (instance, pod) (${query})`;
}

/** How many volumes on appliances have failing snapshots, which the alert FilerSnapshotFailing is about. */
export const failingSnapshots = `sum(max by (serial, volume_guid) (${[
  select('filer_volume_snapshot_status', { status: '="failed"' }),
  whilePolled(
    'portal',
    `increase(${select('filer_snapshot_metadata_failures_total')}[1h]) > bool ${limits.failedSnapshotsAnHour}`,
  ),
].join(' or ')}))`;

/**
 * Returns a quantile over the events of an hour on the chosen volumes, by these labels; over all events if there are no
 * labels. In an outage there is none, because it would be of the time before.
 */
export function quantileOfHour(
  service: Service,
  share: number,
  histogram: string,
  {
    by = [],
    only = {},
    offset = '',
  }: { by?: readonly string[]; only?: Readonly<Record<string, string>>; offset?: string } = {},
): string {
  const buckets = select(`volume:${histogram}_bucket:increase1h`, only);
  return quantileOf(share, offset === '' ? whilePolled(service, buckets) : `${buckets}${offset}`, by);
}

/** The mean of a histogram of the portal over the events of an hour on the chosen volumes, by this label. */
export function meanOfHour(histogram: string, by: string): string {
  const [sum = '', count = ''] = ['sum', 'count'].map(
    (part) => `sum by (${by}) (${once(whilePolled('portal', select(`volume:${histogram}_${part}:increase1h`)))})`,
  );
  return `${sum} / (${count} > 0)`;
}

import { limits } from './limits.ts';
import type { Query } from './panel.ts';
import { select } from './select.ts';
import { whileUp } from './service.ts';

/**
 * Time since each filer was last heard of, on its own or on any volume; unknown in an outage. Of this moment, and so not from the
 * recording rules, which may not be loaded.
 */
export function checkIns(by: string): string {
  const heard = [
    select('filer_last_checkin_timestamp_seconds'),
    select('filer_volume_last_checkin_timestamp_seconds', { volume: '=~".*"' }),
  ].join(' or ');
  return `(time() - max by (${by}) (${whileUp('gfa', heard)}))`;
}

/** The same over time, as it was recorded. */
export function checkInsOverTime(by: string): string {
  return `min by (${by}) (${whileUp('gfa', select('filer:last_checkin_age:seconds'))})`;
}

/** The filers where a gauge is highest, a number of them or a variable's. */
export function highest(
  count: number | '$top',
  gauge: string,
  matchers: Readonly<Record<string, string>> = {},
): string {
  return `topk(${count}, max by (filer) (${select(gauge, matchers)}))`;
}

/** Half, nine tenths and 99 of 100 of what is measured: what every chart of a distribution shows. */
export function quantiles(expr: (share: number) => string, by = ''): readonly Query[] {
  return [0.5, 0.9, 0.99].map((share) => ({ expr: expr(share), legend: `p${share * 100}${by}` }));
}

/** Share of cache requests that the cache disk answered, by filer. */
export function hitRatio(): string {
  const requests = (matchers = {}) => `sum by (filer) (${once(select('filer_appliance_cache_requests', matchers))})`;
  return `${requests({ result: '="hit"' })} / (${requests()} > 0)`;
}

/** One-minute load of a filer for each of its processor cores. */
export function loadPerCore(): string {
  const load = select('filer_appliance_load_average', { window: '="1m"' });
  return `max by (filer) (${load}) / max by (filer) (${select('filer_appliance_cpu_cores')} > 0)`;
}

/**
 * How each appliance stands: 2 while it reports, 1 while the portal has no records of it, as when it is off, 0 while it cannot
 * be polled, -1 while nothing is known because the portal is down. Of two exporters the one that knows more is right.
 */
export function standing(by: string): string {
  const in_ = (state: string) => select('filer_appliance_state', { state: `="${state}"` });
  return `max by (${by}) (2 * ${in_('reporting')} or ${in_('no_records')} or 0 * ${whileUp('portal', in_('unavailable'))} or -1 * ${in_('unavailable')})`;
}

/** How long ago the newest record of each appliance without telemetry is; one second where none is known. */
export const withoutTelemetry = (() => {
  const newest = `max by (filer) (${select('filer_appliance_last_record_timestamp_seconds')})`;
  return `((time() - ${newest} or max by (filer) (${select('filer_appliance_state')})) and (${standing('filer')} >= 0 < 2))`;
})();

/** The same of those that do not check in either: nothing says that they work. */
export const dead = `(${withoutTelemetry} unless on (filer) ${checkIns('filer')} < ${limits.missingCheckIn})`;

/** How many appliances there are of each standing, and of none yet. Each counts once, however many exporters poll it. */
export function applianceCounts(): readonly Query[] {
  const counts = ['down', 'no records', 'up'].map((legend, rank) => ({
    expr: `sum(${standing('serial')} >= 0 == bool ${rank})`,
    legend,
  }));
  const known = (name: string) => `group by (serial) (${select(name)})`;
  return [
    ...counts.toReversed(),
    { expr: `count(${standing('serial')} == -1)`, legend: 'unknown' },
    { expr: `count(${known('filer_appliance_info')} unless ${known('filer_appliance_state')})`, legend: 'waiting' },
  ];
}

/**
 * How long each filer's oldest data waits for cloud storage. Not the series of the recording rule: where the rules are not
 * loaded, or not yet evaluated, its silence would read as "nothing waits".
 */
export const dataWaits = whileUp('gfa', `time() - ${select('filer_oldest_unprotected_data_timestamp_seconds')}`);

/** Negative where file acceleration is known, and so says that no data waits; without a value where nothing is known. */
export const nothingWaits = `0 * max(time() - ${whileUp('gfa', select('filer_gfa_request_timestamp_seconds'))}) - 1`;

/** Time until the subscription ends; -1 where it is known to have no end, and without a value where nothing is known of it. */
export const licenceLeft = `(min(${select('filer_license_expiry_timestamp_seconds')}) - time()) or on () -1 * group(${select('filer_license_info')})`;

/** What two exporters of one account both count, once: by every label that tells apart what is counted. */
export function once(query: string): string {
  return `max without (instance, pod) (${query})`;
}

/** How many volumes on appliances have snapshots that fail: what FilerSnapshotFailing watches, as a number. */
export const failingSnapshots = `sum(max by (serial, volume_guid) (${[
  select('filer_volume_snapshot_status', { status: '="failed"' }),
  `(increase(${select('filer_snapshot_metadata_failures_total')}[1h]) > bool ${limits.failedSnapshotsAnHour})`,
].join(' or ')}))`;

/** The mean of a histogram's events of an hour on the volumes that are chosen, by this label. */
export function meanOfHour(histogram: string, by: string): string {
  const [sum = '', count = ''] = ['sum', 'count'].map(
    (part) => `sum by (${by}) (${once(select(`volume:${histogram}_${part}:increase1h`))})`,
  );
  return `${sum} / (${count} > 0)`;
}

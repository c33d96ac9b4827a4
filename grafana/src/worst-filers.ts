import { badness, type Reason } from './badness.ts';
import { checkIns, dataWaits, dead, standing, unknownInOutage } from './common.ts';
import { limits } from './limits.ts';
import { UNKNOWN } from './mappings.ts';
import { select } from './select.ts';
import { whileUp } from './service.ts';

const silent: Reason = { of: checkIns('filer'), warns: limits.missingCheckIn, critical: limits.missingCheckIn };
const gone: Reason = { of: dead, warns: limits.missingCheckIn, critical: 0 };
// The value is 0 while the appliance reports, and 1 or 2 while it does not. In an outage, only its check-in counts.
const unseen: Reason = { of: `(2 - ${standing('filer')} <= 2)`, warns: 1 };

/** The longest time that data of a filer, or of a volume, has been waiting. */
export const waits = (by: 'filer' | 'volume') => `max by (${by}) (${dataWaits})`;

/** The highest value of a gauge of each filer. */
export const byFiler = (gauge: string) => `max by (filer) (${select(gauge)})`;

/** Whether the portal reaches each appliance. */
export const reached = `min by (filer) (${whileUp('portal', select('filer_appliance_reachable'))})`;

/** The filers whose state is worst: no check-in, no telemetry, or data that waits. */
export const worstFilers = `topk(12, ${badness('filer', [
  silent,
  { of: waits('filer'), warns: limits.unprotectedAge, critical: limits.atRiskAge },
  gone,
  unseen,
  unknownInOutage,
])})`;

/** The appliances whose state is worst: no check-in, no telemetry, or a high load. */
export const worstAppliances = `topk(15, ${badness('filer', [
  silent,
  gone,
  unseen,
  { of: `((${standing('filer')} == -1) + ${1 + UNKNOWN} unless on (filer) ${checkIns('filer')})`, warns: 1 },
  unknownInOutage,
  { of: `(1 - ${reached})`, warns: 1 },
  { of: byFiler('filer_appliance_cpu_utilization_ratio'), warns: limits.worstCpu },
  { of: byFiler('filer_appliance_cache_utilization_ratio'), warns: limits.worstCache },
  { of: byFiler('filer_appliance_disk_io_latency_seconds'), warns: limits.worstLatency },
])})`;

/** Limits a query to the filers of the variable `worst`. */
export function ofWorst(query: string): string {
  return query.replaceAll('filer=~"$filer"', 'filer=~"$worst"');
}

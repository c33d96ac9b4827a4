import { type AlertRule, spell, type Thresholds } from '../rule.ts';

/** The time since the last contact of each filer, without duplicates from two exporters. */
const CONTACT = 'min without (instance, pod) (filer:last_checkin_age:seconds)';

/** Alerts about filers and volumes, from the file acceleration service. */
export function fileAccelerationAlerts(limits: Thresholds): readonly AlertRule[] {
  const page = 'file-acceleration';
  const silent = `count without (filer_guid, filer) (${CONTACT} > ${limits.checkinAge})`;
  const filer = 'Filer {{ $labels.filer }}';
  const data = 'Data of volume {{ $labels.volume }} on filer {{ $labels.filer }}';
  return [
    {
      alert: 'FilerNotCheckingIn',
      severity: 'critical',
      for: '5m',
      expr: `filer:last_checkin_age:seconds > ${limits.checkinAge}`,
      summary: 'A filer does not check in.',
      description: `${filer} has not checked in for {{ $value | humanizeDuration }}, which is more than ${spell(limits.checkinAge)}. Its locks and its new data wait.`,
      page,
    },
    {
      alert: 'FilerFleetNotCheckingIn',
      severity: 'critical',
      for: '5m',
      count: silent,
      expr: manyOf(silent, `count without (filer_guid, filer) (${CONTACT})`, limits),
      summary: 'Many filers do not check in.',
      description: `{{ $value }} filers do not check in${first(`filer:last_checkin_age:seconds{job=%q} > ${limits.checkinAge}`)}. So many have one cause: the service, or the network to it.`,
      page,
    },
    {
      alert: 'FilerDataAtRisk',
      severity: 'critical',
      for: '15m',
      expr: `volume_filer:oldest_unprotected_data_age:seconds > ${limits.atRiskAge}`,
      summary: 'Data has not been protected for very long.',
      description: `${data} has been unprotected for {{ $value | humanizeDuration }}, which is more than ${spell(limits.atRiskAge)}. It is only on this filer, and is lost if the filer is lost.`,
      page,
    },
    {
      alert: 'FilerUnprotectedDataOld',
      severity: 'warning',
      for: '15m',
      expr: `volume_filer:oldest_unprotected_data_age:seconds > ${limits.unprotectedAge}`,
      summary: 'Data has not been protected for long.',
      description: `${data} has been unprotected for {{ $value | humanizeDuration }}, which is more than ${spell(limits.unprotectedAge)}. It is only on this filer, and is lost if the filer is lost.`,
      page,
    },
    {
      alert: 'FilerTimeToProtectLong',
      severity: 'warning',
      for: '30m',
      expr: `filer_volume_time_to_protect_seconds > ${limits.timeToProtect}`,
      summary: 'Data of a volume is protected slowly.',
      description: `File acceleration takes {{ $value | humanizeDuration }} to protect the data of volume {{ $labels.volume }}, which is more than ${spell(limits.timeToProtect)}. What is written meanwhile is on one filer only.`,
      page,
    },
    {
      alert: 'FilerPropagationSlow',
      severity: 'warning',
      for: '30m',
      expr: [
        `volume_filer:filer_propagation_duration_seconds:p90_rate1h > ${limits.propagationP90}`,
        `and volume_filer:filer_propagation_duration_seconds_count:increase1h > ${limits.propagationEvents}`,
      ].join('\n'),
      summary: 'Changes propagate slowly to a filer.',
      description: `One in ten changes of volume {{ $labels.volume }} takes {{ $value | humanizeDuration }} or longer to reach filer {{ $labels.filer }}. This 90th percentile of the last hour is above ${spell(limits.propagationP90)}: users of this filer see old files.`,
      page,
    },
    {
      alert: 'FilerLockHeldTooLong',
      severity: 'warning',
      for: '5m',
      expr: `volume_filer:filer_lock_latest_timestamp_seconds:held_age > ${limits.lockHeld}`,
      summary: 'A filer holds the lock of a volume for too long.',
      description: `${filer} has held the lock of volume {{ $labels.volume }} for {{ $value | humanizeDuration }}, which is more than ${spell(limits.lockHeld)}. No other filer can write a snapshot of the volume meanwhile.`,
      page,
    },
  ];
}

/**
 * The number of filers or appliances, if it is a large share of the fleet or large in itself: so many failures have one
 * cause.
 */
export function manyOf(count: string, all: string, limits: Thresholds): string {
  return [
    count,
    'and (',
    `  ${count} > ${limits.fleetMany}`,
    `  or ${count} / (${all} >= ${limits.fleetSize}) > ${limits.fleetShare}`,
    ')',
  ].join('\n');
}

/**
 * The first name, by the alphabet, in the result of a query: the description of an alert about many names it as an
 * example.
 */
export function first(query: string): string {
  return `{{ with query (printf ${JSON.stringify(query)} $labels.job) }}, first of all {{ (first (sortByLabel "filer" .)).Labels.filer }}{{ end }}`;
}

import { type AlertRule, spell, type Thresholds } from '../rule.ts';

/** The time since the last contact of each filer, without duplicates from two exporters. */
const CONTACT = 'min without (instance, pod) (filer:last_checkin_age:seconds)';

/** Alerts about filers and volumes, from the file acceleration service. */
export function fileAccelerationAlerts(limits: Thresholds): readonly AlertRule[] {
  const page = 'file-acceleration';
  return [
    {
      alert: 'FilerNotCheckingIn',
      severity: 'critical',
      for: '5m',
      expr: `filer:last_checkin_age:seconds > ${limits.checkinAge}`,
      summary: 'Filer {{ $labels.filer }} has not checked in for {{ $value | humanizeDuration }}.',
      description: `The file acceleration service has had no contact for more than ${spell(limits.checkinAge)}: its locks and new data wait.`,
      page,
    },
    {
      alert: 'FilerFleetNotCheckingIn',
      severity: 'critical',
      for: '5m',
      expr: [
        `count without (filer_guid, filer) (${CONTACT} > ${limits.checkinAge})`,
        `/ (count without (filer_guid, filer) (${CONTACT}) >= ${limits.fleetSize})`,
        `> ${limits.fleetShare}`,
      ].join('\n'),
      summary: '{{ $value | humanizePercentage }} of the filers have not checked in.',
      description: 'Such a large share has one cause: the service, or the network to it.',
      page,
    },
    {
      alert: 'FilerDataAtRisk',
      severity: 'critical',
      for: '15m',
      expr: `volume_filer:oldest_unprotected_data_age:seconds > ${limits.atRiskAge}`,
      summary:
        'Data of volume {{ $labels.volume }} on filer {{ $labels.filer }} has waited {{ $value | humanizeDuration }} for the cloud.',
      description: `Data older than ${spell(limits.atRiskAge)} is only on this filer, and is lost if the filer is lost.`,
      page,
    },
    {
      alert: 'FilerUnprotectedDataOld',
      severity: 'warning',
      for: '15m',
      expr: `volume_filer:oldest_unprotected_data_age:seconds > ${limits.unprotectedAge}`,
      summary:
        'Data of volume {{ $labels.volume }} on filer {{ $labels.filer }} has waited {{ $value | humanizeDuration }} for the cloud.',
      description: `Data older than ${spell(limits.unprotectedAge)} is only on this filer, and is lost if the filer is lost.`,
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
      summary:
        'One in ten changes of volume {{ $labels.volume }} takes {{ $value | humanizeDuration }} or longer to reach filer {{ $labels.filer }}.',
      description: `The 90th percentile of the last hour is above ${spell(limits.propagationP90)}: users of this filer see old files.`,
      page,
    },
    {
      alert: 'FilerLockHeldTooLong',
      severity: 'warning',
      for: '5m',
      expr: `volume_filer:filer_lock_latest_timestamp_seconds:held_age > ${limits.lockHeld}`,
      summary:
        'Filer {{ $labels.filer }} has held the lock of volume {{ $labels.volume }} for {{ $value | humanizeDuration }}.',
      description: `No other filer can write a snapshot of the volume meanwhile; more than ${spell(limits.lockHeld)} is too long.`,
      page,
    },
  ];
}

import { thresholds } from '../../deploy/prometheus/thresholds.ts';
import { above, below, warnsAbove, warnsBelow } from './steps.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/**
 * The values from which a colour warns. If an alert is about the same value, orange begins at its warning and red at its
 * critical threshold.
 */
export const limits = {
  /** A filer without a check-in for this time counts as missing. */
  missingCheckIn: thresholds.checkinAge,
  /** The vendor's first mark, and the time after which a filer counts as missing. */
  checkIn: above(5 * MINUTE, thresholds.checkinAge),
  unprotectedAge: thresholds.unprotectedAge,
  atRiskAge: thresholds.atRiskAge,
  unprotected: above(thresholds.unprotectedAge, thresholds.atRiskAge),
  propagation: warnsAbove(thresholds.propagationP90),
  timeToProtect: warnsAbove(thresholds.timeToProtect),
  lockHeld: warnsAbove(thresholds.lockHeld),
  lockedShare: warnsAbove(0.8),
  betweenReleases: warnsAbove(2 * HOUR),
  cpu: warnsAbove(thresholds.cpu),
  worstCpu: thresholds.cpu,
  worstCache: thresholds.cache,
  worstLatency: thresholds.diskLatency,
  loadPerCore: warnsAbove(2),
  memory: warnsAbove(thresholds.memory),
  cache: warnsAbove(thresholds.cache),
  /** The mark that the tools of the services call critical; no alert is about it. */
  hitRatio: warnsBelow(0.6),
  diskLatency: warnsAbove(thresholds.diskLatency),
  healthScore: warnsBelow(80),
  /** The portal is 5 to 6 minutes behind the appliance, and is polled every 5 minutes. */
  telemetryAge: warnsAbove(thresholds.applianceDataAge),
  /** For one volume on one appliance. */
  unprotectedBytes: warnsAbove(thresholds.unprotectedBytes),
  failedSnapshotsAnHour: thresholds.failedSnapshotsAnHour,
  snapshotsBehind: warnsAbove(thresholds.snapshotsBehind),
  behindFor: warnsAbove(thresholds.behindFor),
  snapshotAge: warnsAbove(thresholds.snapshotAge),
  licenceLeft: below(thresholds.licenseLeft, thresholds.licenseEnds),
  keyLeft: warnsBelow(thresholds.keyLeft),
  jobAge: warnsAbove(thresholds.jobAge),
  indexed: warnsAbove(0.95),
} as const;

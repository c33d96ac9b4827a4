import { thresholds } from '../../deploy/prometheus/thresholds.ts';
import { above, below } from './steps.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Where things begin to look bad. Where an alert watches the same, red begins where it does. */
export const limits = {
  /** A filer that has not checked in for longer is missing. */
  missingCheckIn: thresholds.checkinAge,
  /** The vendor's first mark, and where the filer is missing. */
  checkIn: above(5 * MINUTE, thresholds.checkinAge),
  unprotectedAge: thresholds.unprotectedAge,
  unprotected: above(thresholds.unprotectedAge / 2, thresholds.unprotectedAge),
  propagation: above(thresholds.propagationP90 / 2, thresholds.propagationP90),
  timeToProtect: above(thresholds.unprotectedAge / 2, thresholds.unprotectedAge),
  lockHeld: above(thresholds.lockHeld / 3, thresholds.lockHeld),
  lockedShare: above(0.5, 0.8),
  betweenReleases: above(HOUR, 2 * HOUR),
  cpu: above(0.8, thresholds.cpu),
  worstCpu: thresholds.cpu,
  worstCache: thresholds.cache,
  worstLatency: thresholds.diskLatency,
  loadPerCore: above(1, 2),
  memory: above(0.8, thresholds.memory),
  cache: above(0.9, thresholds.cache),
  hitRatio: below(0.8, 0.5),
  diskLatency: above(thresholds.diskLatency / 2, thresholds.diskLatency),
  healthScore: below(80, 50),
  /** The portal is 5 to 6 minutes behind the appliance, and is asked every 5 minutes. */
  telemetryAge: above(thresholds.applianceDataAge, 2 * thresholds.applianceDataAge),
  /** Of one volume on one appliance. */
  unprotectedBytes: above(thresholds.unprotectedBytes / 2, thresholds.unprotectedBytes),
  failedSnapshotsAnHour: thresholds.failedSnapshotsAnHour,
  snapshotAge: above(12 * HOUR, DAY),
  licenceLeft: below(2 * thresholds.licenseLeft, thresholds.licenseLeft),
  keyLeft: below(30 * DAY, 7 * DAY),
  keyAge: above(365 * DAY, 730 * DAY),
  jobAge: above(HOUR, thresholds.jobAge),
  indexed: above(0.8, 0.95),
  lastSeen: above(10 * MINUTE, HOUR),
} as const;

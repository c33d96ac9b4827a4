import { above, below } from './steps.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Where filers and volumes begin to look bad. Check-ins and releases are the vendor's own marks. */
export const limits = {
  /** A filer that has not checked in for longer is missing. */
  missingCheckIn: 30 * MINUTE,
  checkIn: above(5 * MINUTE, HOUR),
  unprotected: above(4 * HOUR, 12 * HOUR),
  propagation: above(HOUR, 4 * HOUR),
  timeToProtect: above(4 * HOUR, 12 * HOUR),
  lockHeld: above(10 * MINUTE, 30 * MINUTE),
  lockedShare: above(0.5, 0.8),
  betweenReleases: above(HOUR, 2 * HOUR),
  feedAge: above(5 * MINUTE, 15 * MINUTE),
  cpu: above(0.8, 0.95),
  loadPerCore: above(1, 2),
  memory: above(0.85, 0.95),
  cache: above(0.9, 0.97),
  hitRatio: below(0.8, 0.5),
  diskLatency: above(0.02, 0.1),
  diskBusy: above(0.8, 0.95),
  healthScore: below(80, 50),
  /** The portal is 5 to 6 minutes behind the appliance, and is asked every 5 minutes. */
  telemetryAge: above(15 * MINUTE, 30 * MINUTE),
} as const;

/** Where the alerts look, and where they lead. Change it here, then `npm run docs` writes the rules anew. */
export const settings = {
  /** The `job` under which Prometheus scrapes the exporter. */
  job: 'filer-exporter',
  /** Where people read `docs/runbooks/`: the address of that folder, without a slash at its end. */
  runbookBase: 'https://example.com/filer-exporter/docs/runbooks',
} as const;

/**
 * Every number that an alert compares with: seconds, ratios from 0 to 1, or counts where the name says so. Where it has
 * to last for a while, that is the `for` of the alert.
 */
export const thresholds = {
  /** The effective interval in times of the one asked for. */
  intervalStretch: 1.1,
  /** Share of the day's request limit that the last hour's requests would take in a day. */
  budgetUse: 0.95,
  /** Share of the last hour's requests that were refused with 429; the pacing itself looks for limits with up to 0.01. */
  throttledShare: 0.05,
  /** Values of one reason that gave no sample, in an hour. */
  droppedAnHour: 5,
  /** Time until the certificate ends that the exporter serves with. */
  certificateLeft: 1_209_600,
  /** Time since a filer was last heard of. */
  checkinAge: 1_800,
  /** Age of the oldest data that is not in cloud storage. */
  unprotectedAge: 14_400,
  /** 90th percentile of the propagation time over the last hour. */
  propagationP90: 3_600,
  /** Propagation events of a filer and volume in the last hour: with fewer the percentile says nothing. */
  propagationEvents: 3,
  /** Time that a lock is held by now. */
  lockHeld: 1_800,
  /** Time since a volume's lock was last given back. */
  releaseAge: 7_200,
  /** Age of an appliance's newest record, beyond two effective intervals. */
  applianceDataAge: 900,
  cpu: 0.9,
  memory: 0.9,
  cache: 0.95,
  /** Share of the cache requests of the last hour that the cache answers: below this is low. */
  hitRatio: 0.5,
  /** Requests in a bin, as the mean of the last hour: with fewer the hit ratio says nothing. */
  cacheRequests: 10,
  /** Mean time of one disk operation. */
  diskLatency: 0.05,
  /** Bytes of a volume on one appliance that are not in cloud storage. */
  unprotectedBytes: 100_000_000_000,
  /** Metadata snapshots of a volume that failed on an appliance, in an hour. */
  failedSnapshotsAnHour: 2,
  /** Time until the subscription ends. */
  licenseLeft: 2_592_000,
  /** Time since the oldest job that has not ended was created. */
  jobAge: 86_400,
} as const;

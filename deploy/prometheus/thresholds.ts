/**
 * Every number that an alert compares with: seconds, ratios from 0 to 1, or counts where the name says so. How long it has
 * to last is the `for` of the alert.
 */
export const thresholdRows = {
  intervalStretch: { value: 1.1, meaning: 'the effective interval in times of the one asked for' },
  budgetUse: {
    value: 0.95,
    meaning: 'share of the day’s request limit that the last hour’s requests would take in a day',
  },
  throttledShare: {
    value: 0.05,
    meaning:
      'share of the last hour’s requests that were refused with 429; the pacing itself looks for limits with up to 0.01',
  },
  droppedAnHour: { value: 5, meaning: 'values of one reason that gave no sample, in an hour' },
  remoteWriteLag: { value: 1_200, meaning: 'age of the newest point that has arrived by remote write' },
  remoteWriteDropped: { value: 5, meaning: 'points that the receiver of remote write refused, in an hour' },
  certificateLeft: { value: 1_209_600, meaning: 'time until the certificate ends that the exporter serves with' },
  certificateEnds: { value: 172_800, meaning: 'time until that certificate ends, when it is urgent' },
  restartsAnHour: { value: 3, meaning: 'starts of the exporter in an hour' },
  scrapeDuration: { value: 8, meaning: 'time of a scrape; Prometheus gives up after 10 s unless it is told otherwise' },
  clockSkew: { value: 60, meaning: 'difference between the clocks of the exporter and of those it talks with' },
  checkinAge: { value: 1_800, meaning: 'time since a filer was last heard of' },
  unprotectedAge: { value: 14_400, meaning: 'age of the oldest data that is not in cloud storage' },
  atRiskAge: { value: 86_400, meaning: 'age of the oldest data that is not in cloud storage, when it is urgent' },
  propagationP90: { value: 3_600, meaning: '90th percentile of the propagation time over the last hour' },
  propagationEvents: {
    value: 3,
    meaning: 'propagation events of a filer and volume in the last hour: with fewer the percentile says nothing',
  },
  lockHeld: { value: 1_800, meaning: 'time that a lock is held by now' },
  releaseAge: { value: 7_200, meaning: 'time since a volume’s lock was last given back' },
  fleetShare: { value: 0.2, meaning: 'share of the filers or appliances that fall silent together' },
  fleetSize: { value: 10, meaning: 'filers or appliances of a job: with fewer a share of them says nothing' },
  fleetGone: { value: 0.1, meaning: 'share of the appliances of the last day that have left the inventory' },
  applianceDataAge: { value: 900, meaning: 'age of an appliance’s newest record, beyond two effective intervals' },
  cpu: { value: 0.9, meaning: 'share of the processors in use' },
  memory: { value: 0.9, meaning: 'share of the memory in use' },
  cache: { value: 0.95, meaning: 'share of the cache disk in use' },
  cacheWait: { value: 3_600, meaning: 'age of the oldest unprotected data on an appliance whose cache is nearly full' },
  hitRatio: {
    value: 0.5,
    meaning: 'share of the cache requests of the last hour that the cache answers: below this is low',
  },
  cacheRequests: {
    value: 10,
    meaning: 'requests in a bin, as the mean of the last hour: with fewer the hit ratio says nothing',
  },
  diskLatency: { value: 0.05, meaning: 'mean time of one disk operation' },
  unprotectedBytes: {
    value: 100_000_000_000,
    meaning: 'bytes of a volume on one appliance that are not in cloud storage',
  },
  failedSnapshotsAnHour: {
    value: 2,
    meaning: 'metadata snapshots of a volume that failed on an appliance, in an hour',
  },
  licenseLeft: { value: 2_592_000, meaning: 'time until the subscription ends' },
  licenseEnds: { value: 604_800, meaning: 'time until the subscription ends, when it is urgent' },
  keyLeft: { value: 1_209_600, meaning: 'time until the first key of a kind expires' },
  snapshotAge: { value: 86_400, meaning: 'age of the last snapshot of a volume with unprotected data' },
  indexed: { value: 0.95, meaning: 'share of the files that the subscription allows to be indexed' },
  jobAge: { value: 86_400, meaning: 'time since the oldest job that has not ended was created' },
} as const satisfies Readonly<Record<string, ThresholdRow>>;

/** One threshold: the number that is shipped, and what it is compared with. */
interface ThresholdRow {
  readonly value: number;
  readonly meaning: string;
}

/** The name of a threshold. */
export type ThresholdName = keyof typeof thresholdRows;

/** The names of all thresholds. */
export const thresholdNames = Object.keys(thresholdRows) as readonly ThresholdName[];

/** The thresholds that are shipped. */
export const thresholds = Object.fromEntries(thresholdNames.map((name) => [name, thresholdRows[name].value])) as {
  readonly [name in ThresholdName]: number;
};

/**
 * Every number in the condition of an alert: seconds, ratios from 0 to 1, or counts as the name says. How long the
 * condition has to hold is the `for` of the alert.
 */
export const thresholdRows = {
  intervalStretch: { value: 1.1, meaning: 'effective interval as a multiple of the configured one' },
  droppedAnHour: { value: 5, meaning: 'values without a sample for one reason, in an hour' },
  remoteWriteLag: { value: 1_200, meaning: 'age of the newest point that has arrived by remote write' },
  remoteWriteDropped: { value: 5, meaning: 'points that the receiver of remote write rejected, in an hour' },
  certificateLeft: { value: 1_209_600, meaning: 'time until the certificate of the exporter expires' },
  certificateEnds: { value: 172_800, meaning: 'time until that certificate expires, when it is urgent' },
  restartsAnHour: { value: 3, meaning: 'starts of the exporter in an hour' },
  clockSkew: { value: 60, meaning: 'difference between the clock of the exporter and that of a service' },
  checkinAge: { value: 1_800, meaning: 'time since the last contact of a filer' },
  unprotectedAge: { value: 14_400, meaning: 'age of the oldest data that is not in cloud storage' },
  atRiskAge: { value: 86_400, meaning: 'age of the oldest data that is not in cloud storage, when it is urgent' },
  propagationP90: { value: 3_600, meaning: '90th percentile of the propagation time over the last hour' },
  propagationEvents: {
    value: 3,
    meaning: 'propagation events of a filer and volume in the last hour; with fewer the percentile is not meaningful',
  },
  timeToProtect: { value: 7_200, meaning: 'how long file acceleration takes to protect the data of a volume' },
  lockHeld: { value: 1_800, meaning: 'how long a lock has been held' },
  fleetShare: { value: 0.2, meaning: 'share of the filers or appliances that stop reporting together' },
  fleetMany: { value: 20, meaning: 'filers or appliances that stop reporting together, even if their share is small' },
  fleetSize: { value: 10, meaning: 'filers or appliances of a job; with fewer a share is not meaningful' },
  fleetGone: { value: 0.1, meaning: 'share of the appliances of the last day that have left the inventory' },
  applianceDataAge: {
    value: 900,
    meaning: 'age of an appliance’s newest record, in addition to two effective intervals',
  },
  cpu: { value: 0.9, meaning: 'share of the processors in use' },
  memory: { value: 0.9, meaning: 'share of the memory in use' },
  cache: { value: 0.95, meaning: 'share of the cache disk in use' },
  cacheWait: { value: 3_600, meaning: 'age of the oldest unprotected data on an appliance whose cache is nearly full' },
  diskLatency: { value: 0.05, meaning: 'mean time of one disk operation' },
  unprotectedBytes: {
    value: 100_000_000_000,
    meaning: 'bytes of a volume on one appliance that are not in cloud storage',
  },
  failedSnapshotsAnHour: {
    value: 2,
    meaning: 'failed metadata snapshots of a volume on an appliance, in an hour',
  },
  licenseLeft: { value: 2_592_000, meaning: 'time until the subscription ends' },
  licenseEnds: { value: 604_800, meaning: 'time until the subscription ends, when it is urgent' },
  keyLeft: { value: 1_209_600, meaning: 'time until the first key of a kind expires' },
  snapshotsBehind: { value: 5, meaning: 'snapshots of a volume that have not reached an appliance' },
  behindFor: { value: 3_600, meaning: 'time since the newest snapshot reached an appliance that is behind' },
  snapshotAge: { value: 86_400, meaning: 'age of the last snapshot of a volume with unprotected data' },
  jobAge: { value: 86_400, meaning: 'age of the oldest unfinished job' },
} as const satisfies Readonly<Record<string, ThresholdRow>>;

/** One threshold: the shipped number, and what is compared with it. */
interface ThresholdRow {
  readonly value: number;
  readonly meaning: string;
}

export type ThresholdName = keyof typeof thresholdRows;

export const thresholdNames = Object.keys(thresholdRows) as readonly ThresholdName[];

export const thresholds = Object.fromEntries(thresholdNames.map((name) => [name, thresholdRows[name].value])) as {
  readonly [name in ThresholdName]: number;
};

import type { Thresholds } from '../../deploy/prometheus/rule.ts';

/** Panels about what the demo does not have at all, with the reason. */
export const absentPanels: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['overview', 'volumes', 'appliance', 'fleet', 'account', 'exporter'].flatMap((board) =>
      ['A', 'B'].map((refId) => [`filer-${board} / Outages / ${refId}`, 'both services of the demo answer']),
    ),
  ),
  ...Object.fromEntries(
    ['filer-overview / Appliances', 'filer-overview / Appliances over time', 'filer-fleet / Appliances'].map(
      (panel) => [`${panel} / D`, 'the portal of the demo answers'],
    ),
  ),
  ...Object.fromEntries(
    ['overview', 'volumes', 'appliance', 'fleet', 'account', 'exporter'].flatMap((board) =>
      ['C', 'D'].map((refId) => [`filer-${board} / Outages / ${refId}`, 'both services of the demo are configured']),
    ),
  ),
  ...Object.fromEntries(
    ['Data of all volumes / B', 'Unprotected data of all volumes / B', 'Volumes that grow fastest / A'].map((query) => [
      `filer-account / ${query}`,
      'the demo has not run for a week',
    ]),
  ),
  'filer-account / Volumes that grow fastest / B': 'the demo has not run for a week',
  'filer-appliance / Disk latency / B': 'the demo has not run for a week',
  'filer-volumes / Propagation time, quantiles / D': 'the demo has not run for a week',
  'filer-account / Volumes that grow fastest / C': 'the demo has not run for a week',
  'filer-appliance / Processors in use, every minute / A': 'the demo sends nothing by remote write',
  'filer-volumes / Time between releases / A': 'releases have not been counted for six hours',
  ...Object.fromEntries(
    [
      ...['Delivered up to / A', 'Waiting points / A', 'History lost in a day / A', 'Points sent and dropped / A'],
      ...['Points sent and dropped / B', 'Responses of the receiver / A'],
    ].map((query) => [`filer-exporter / ${query}`, 'the demo sends nothing by remote write']),
  ),
};

/**
 * Panels whose events are too rare for the time that is gathered, with the reason. They show how far a counter rose while it
 * was there, so they may show something or not; of the counter itself they show something as soon as there was one event.
 */
export const rarePanels: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...['A', 'B', 'C'].map((refId) => `filer-volumes / Time to protect / ${refId}`),
    ...['Length of the phases', 'Propagation of snapshots'].map((panel) => `filer-volumes / ${panel} / A`),
  ].map((where) => [where, 'a demo appliance has a turn at a volume’s snapshot every quarter of an hour or so']),
);

/** Queries that give something at some moments only, with the reason: they may or may not while the demo is gathered. */
export const momentPanels: Readonly<Record<string, string>> = {
  'filer-fleet / Hit ratio of full caches, the lowest / A':
    'a cache of the demo fills up in nine hours, and is nearly full in the last of them only',
  'filer-volumes / Unprotected / B': 'the calm of the panel, which is shown while no filer has data that waits',
  'filer-volumes / Lock held for / B': 'the calm of the panel, which is shown while no lock is held',
  'filer-volumes / Filers on volumes, the worst first / C':
    'none of the fifteen pairs that it lists has to hold a lock',
  'filer-account / Index is full in / A': 'the demo’s index grows at some moments only',
  'filer-overview / Appliances over time / E': 'an appliance is waited for until its first answers',
  'filer-overview / Appliances / E': 'an appliance is waited for until its first answers',
  'filer-fleet / Appliances / E': 'an appliance is waited for until its first answers',
  ...Object.fromEntries(
    [
      ...['filer-overview / What is broken', 'filer-volumes / What is broken'],
      ...['filer-appliance / What is broken on it', 'filer-fleet / What is broken', 'filer-account / What is broken'],
      'filer-exporter / What is broken',
    ].map((panel) => [`${panel} / A`, 'none of the alerts of a board has to be pending, and none fires so early']),
  ),
};

/** Alerts that stay silent: what they watch for does not happen in the demo, whatever the threshold. */
export const emptyRules: Readonly<Record<string, string>> = {
  'alert:ALERTS:unexplained_age': 'every alert that the demo has cause for waits longer than is gathered',
  FilerExporterAbsent: 'the exporter is scraped',
  FilerExporterDown: 'every scrape succeeds',
  FilerApiDown: 'both services of the demo answer',
  FilerApiTokenRefused: 'the demo’s credentials are good',
  FilerApiForbidden: 'both services of the demo answer',
  FilerApiPartlyForbidden: 'the demo’s account may read everything',
  FilerFleetAffected: 'every warning about an appliance waits longer than is gathered',
  FilerInventoryIncomplete: 'the demo’s lists name the same appliances',
  FilerExporterDataOld: 'every task of the demo is polled in time',
  FilerExporterThrottled: 'the demo’s limit is free',
  FilerExporterClientKeyShared: 'nobody else uses the demo’s client key',
  FilerExporterStateFileFailing: 'the demo keeps no state file',
  FilerExporterWebConfigRefused: 'the demo has no web configuration',
  FilerExporterCertificateUrgent: 'the demo serves without TLS',
  FilerExporterRemoteWriteLagging: 'the demo sends nothing by remote write',
  FilerExporterRemoteWriteDropping: 'the demo sends nothing by remote write',
  FilerExporterRemoteWriteLosing: 'the demo sends nothing by remote write',
  FilerPortalUnhealthy: 'the portal of the demo is healthy',
  FilerExporterCertificateEnding: 'the demo serves without TLS',
  FilerApplianceTelemetryFailing: 'with these thresholds no check-in is recent',
  FilerApplianceDown: 'the portal of the demo responds for the appliance that is off, without records',
};

/** Thresholds so low, and one so high, that whatever there is to compare with them is beyond: so alerts give data. */
export const nothingIsGood: Thresholds = {
  intervalStretch: 0,
  droppedAnHour: -1,
  checkinAge: -1,
  unprotectedAge: -1,
  propagationP90: -1,
  timeToProtect: -1,
  propagationEvents: -1,
  lockHeld: -1,
  applianceDataAge: -1e9,
  cpu: -1,
  memory: -1,
  cache: -1,
  diskLatency: -1,
  unprotectedBytes: -1,
  failedSnapshotsAnHour: -1,
  licenseLeft: 1e12,
  snapshotsBehind: -1e9,
  behindFor: -1e9,
  jobAge: -1e9,
  certificateLeft: 1e12,
  certificateEnds: 1e12,
  restartsAnHour: -1,
  clockSkew: -1,
  atRiskAge: -1,
  fleetShare: -1,
  fleetMany: -1,
  fleetSize: 0,
  fleetGone: -1,
  cacheWait: -1,
  licenseEnds: 1e12,
  keyLeft: 1e12,
  snapshotAge: -1e9,
  remoteWriteLag: -1e9,
  remoteWriteDropped: -1,
};

import { alertTable } from '../alerts/table.ts';
import { checkIns, dataWaits, nothingWaits, propagation } from '../common.ts';
import { limits } from '../limits.ts';
import { orNothing, words } from '../mappings.ts';
import { number, stateCounts, table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { whileUp } from '../service.ts';

const contact = checkIns('filer_guid, filer');
const pair = (metric: string) => `max by (filer, volume) (${select(metric)})`;
const waits = `max by (filer, volume) (${dataWaits})`;
const p90 = `max by (filer, volume) (${propagation})`;
const inP2 = (name: string, matchers = {}) => whileUp('gfa', select(name, { lock_phase: '="p2"', ...matchers }));
const acquired = { lock_state: '="acquired"' };
const held = `max by (filer, volume) (time() - ${inP2('filer_lock_latest_timestamp_seconds', acquired)} and ${inP2('filer_lock_state', acquired)} == 1)`;
const share = pair('volume_filer:filer_lock_duration_seconds:share_rate1h');
const released = pair('volume_filer:filer_lock_latest_timestamp_seconds:release_age');
const active = pair('volume_filer:last_checkin_age:seconds');

/** The worst pairs of filer and volume; if no data waits, those whose lock has been held for longest. */
const worst = `topk(15, ${waits} or ${held} / 1e6 or 0 * ${active})`;
const ofWorst = (query: string) => `${query} and on (filer, volume) ${worst}`;

/** Lists what is broken between filers and volumes, where, since when, and how bad it is. */
export const nowPanels = [
  stateCounts(
    number({
      title: 'Filers',
      description:
        'Filers that checked in with file acceleration in the last 30 minutes, and those that did not. “Not checking in” names these; check that the appliance runs and reaches the internet.',
      queries: [
        { expr: `sum(${contact} <= bool ${limits.missingCheckIn})`, legend: 'checking in' },
        { expr: `sum(${contact} > bool ${limits.missingCheckIn})`, legend: 'not checking in' },
      ],
      width: 4,
    }),
    'not checking in',
  ),
  number({
    title: 'Check-in',
    description:
      'The filer with the longest time since its last contact. Above half an hour, its changes reach no other filer: check the appliance and its connection.',
    queries: { expr: `topk(1, ${checkIns('filer')})`, legend: '{{filer}}' },
    steps: limits.checkIn,
    width: 4,
    drill: [drillDown('appliance', 'filer')],
  }),
  number(
    {
      title: 'Unprotected',
      description:
        'Age of the oldest data of any filer that is not yet in cloud storage: what would be lost with its appliance. If it grows, find the filer below, and check its propagation, its cache and its connection.',
      queries: [
        { expr: `topk(1, max by (filer) (${waits}))`, legend: '{{filer}}' },
        { expr: `${nothingWaits} unless on () ${waits}`, legend: 'all filers' },
      ],
      steps: limits.unprotected,
      width: 4,
      drill: [drillDown('appliance', 'filer')],
    },
    orNothing,
  ),
  number({
    title: 'Propagation',
    description:
      'The volume whose changes take longest to reach other filers, by the 90th percentile of the last hour. If it grows, check the lock of the volume, and the cloud.',
    queries: { expr: `topk(1, max by (volume) (${p90}))`, legend: '{{volume}}' },
    steps: limits.propagation,
    width: 4,
    drill: [drillDown('volumes', 'volume')],
  }),
  number(
    {
      title: 'Lock held for',
      description:
        'The volume whose lock has been held for longest. Until it is released, no other filer can finish a snapshot of the volume: see below which filer holds it, and check that filer.',
      queries: [
        { expr: `topk(1, max by (volume) (${held}))`, legend: '{{volume}}' },
        {
          expr: `0 * max(time() - ${inP2('filer_lock_latest_timestamp_seconds')}) - 1 unless on () ${held}`,
          legend: 'all volumes',
        },
      ],
      steps: limits.lockHeld,
      width: 4,
      drill: [drillDown('volumes', 'volume')],
    },
    words([-1, 'none held']),
  ),
  number({
    title: 'Volumes',
    description:
      'Volumes of the account with file acceleration. If one is missing, check its settings in the management console.',
    queries: { expr: `max(${select('filer_gfa_volumes')})`, legend: 'accelerated' },
    width: 4,
  }),
  alertTable({
    title: 'What is broken',
    about: {
      pages: ['file-acceleration'],
      alerts: ['FilerSnapshotFailing', 'FilerSnapshotOld', 'FilerUnprotectedDataLarge', 'FilerCloudCredentialFailing'],
    },
    scope: { filer: 'with account', volume: 'with account' },
    height: 7,
  }),
  table({
    title: 'Filers on volumes, the worst first',
    description:
      'The fifteen worst pairs of filer and volume: how long data has been unprotected, how long changes take to propagate, how long the lock has been held, for what share of the last hour it was held, and how long ago it was released. Begin at the top: its unprotected data is lost if the appliance is lost.',
    queries: [
      { expr: ofWorst(waits), legend: 'Unprotected' },
      { expr: ofWorst(p90), legend: 'Propagation' },
      { expr: ofWorst(held), legend: 'Lock held for' },
      { expr: ofWorst(share), legend: 'Lock share' },
      { expr: ofWorst(released), legend: 'Lock released' },
      { expr: ofWorst(active), legend: 'Check-in' },
    ],
    columns: [
      { label: 'filer', title: 'Filer', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
      { label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) },
    ],
    stepsBy: {
      Unprotected: limits.unprotected,
      Propagation: limits.propagation,
      'Lock held for': limits.lockHeld,
      'Lock share': limits.lockedShare,
    },
    valueWidth: 130,
    width: 24,
    height: 8,
    sortedBy: [['Unprotected', 'down']],
  }),
];

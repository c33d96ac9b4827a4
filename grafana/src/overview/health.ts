import { checkIns, dataWaits, dead, standing, unknownInOutage } from '../common.ts';
import { limits } from '../limits.ts';
import { rankWords, standingWords } from '../mappings.ts';
import { table } from '../numbers.ts';
import { badness } from '../order.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';

const silence = checkIns('filer');
const waits = (by: string) => `max by (${by}) (${dataWaits})`;
const unprotected = `sum by (volume) (max by (serial, volume_guid, volume) (${select('filer_volume_unprotected_bytes')}))`;
const p90 = select('volume_filer:filer_propagation_duration_seconds:p90_rate1h');

/** The number of rows of a table that shows only the worst. */
const ROWS = 12;

/** How bad the state of a filer is: no check-in, no telemetry, or data that waits. */
const rank = badness('filer', [
  { of: silence, warns: limits.missingCheckIn, critical: limits.missingCheckIn },
  { of: waits('filer'), warns: limits.unprotectedAge, critical: limits.atRiskAge },
  { of: dead, warns: limits.missingCheckIn, critical: 0 },
  { of: `(2 - ${standing('filer')} <= 2)`, warns: 1 },
  unknownInOutage,
]);
const worstFilers = `topk(${ROWS}, ${rank})`;

/**
 * The volumes whose data waits longest. If file acceleration is not polled, they are those with most unprotected bytes by
 * the portal; the factor keeps bytes below every waiting time.
 */
const worstVolumes = `topk(${ROWS}, ${waits('volume')} or ${unprotected} * 1e-15)`;
const ofWorst = (by: 'filer' | 'volume', query: string) =>
  `${query} and on (${by}) ${by === 'filer' ? worstFilers : worstVolumes}`;

/** Shows the state of each site and each volume. A site is its filer. */
export const healthPanels = [
  table({
    title: 'By filer, the worst first',
    description:
      'The worst filers, by the time since their last check-in, how long data has been unprotected, and whether they have telemetry. Critical ones come first, then those furthest above a limit. Begin at the top.',
    queries: [
      { expr: worstFilers, legend: 'Now' },
      { expr: ofWorst('filer', silence), legend: 'Check-in' },
      { expr: ofWorst('filer', waits('filer')), legend: 'Unprotected' },
      { expr: ofWorst('filer', standing('filer')), legend: 'Telemetry' },
    ],
    columns: [
      { label: 'filer', title: 'Filer', minWidth: 120, link: drillDown('appliance', 'filer', `$\{__value.text}`) },
    ],
    stepsBy: { 'Check-in': limits.checkIn, Unprotected: limits.unprotected },
    mappingsBy: { Now: rankWords, Telemetry: standingWords },
    valueWidth: 102,
    width: 12,
    height: 8,
    sortedBy: [['Now', 'down']],
  }),
  table({
    title: 'By volume, the worst first',
    description:
      'The volumes whose data has been unprotected for longest, with the amount, and the 90th percentile of propagation to the slowest filer. Begin at the top.',
    queries: [
      { expr: ofWorst('volume', waits('volume')), legend: 'Unprotected' },
      { expr: ofWorst('volume', unprotected), legend: 'Amount' },
      { expr: ofWorst('volume', `max by (volume) (${p90})`), legend: 'Propagation' },
    ],
    rows: worstVolumes,
    columns: [{ label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) }],
    stepsBy: { Unprotected: limits.unprotected, Propagation: limits.propagation },
    valueWidth: 126,
    width: 12,
    height: 8,
    sortedBy: [['Unprotected', 'down']],
  }),
];

import { checkIns, propagation, standing } from '../common.ts';
import { limits } from '../limits.ts';
import { rankWords, standingWords } from '../mappings.ts';
import { table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { ofWorst, waits, worstFilers } from '../worst-filers.ts';

const silence = checkIns('filer');
const unprotected = `sum by (volume) (max by (serial, volume_guid, volume) (${select('filer_volume_unprotected_bytes')}))`;

/** If file acceleration is not polled, the worst volumes are those with most unprotected bytes by the portal. */
const ofWorstVolumes = (query: string) =>
  `${query} and on (volume) topk(12, ${waits('volume')} or ${unprotected} * 1e-15)`;

/** Shows the state of each site and each volume. A site is its filer. */
export const healthPanels = [
  table({
    title: 'By filer, the worst first',
    description:
      'The worst filers, by the time since their last check-in, how long data has been unprotected, and whether they have telemetry. Critical ones come first, then those furthest above a limit. Begin at the top.',
    queries: [
      { expr: ofWorst(worstFilers), legend: 'Now' },
      { expr: ofWorst(silence), legend: 'Check-in' },
      { expr: ofWorst(waits('filer')), legend: 'Unprotected' },
      { expr: ofWorst(standing('filer')), legend: 'Telemetry' },
    ],
    columns: [
      { label: 'filer', title: 'Filer', minWidth: 123, link: drillDown('appliance', 'filer', `$\{__value.text}`) },
    ],
    stepsBy: { 'Check-in': limits.checkIn, Unprotected: limits.unprotected },
    mappingsBy: { Now: rankWords, Telemetry: standingWords },
    valueWidth: 101,
    width: 12,
    height: 8,
    sortedBy: [['Now', 'down']],
  }),
  table({
    title: 'By volume, the worst first',
    description:
      'The volumes whose data has been unprotected for longest, with the amount, and the 90th percentile of propagation to the slowest filer. Begin at the top.',
    queries: [
      { expr: `topk(12, ${waits('volume')})`, legend: 'Unprotected' },
      { expr: ofWorstVolumes(unprotected), legend: 'Amount' },
      { expr: ofWorstVolumes(`max by (volume) (${propagation})`), legend: 'Propagation' },
    ],
    rows: unprotected,
    columns: [{ label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) }],
    stepsBy: { Unprotected: limits.unprotected, Propagation: limits.propagation },
    valueWidth: 126,
    width: 12,
    height: 8,
    sortedBy: [['Unprotected', 'down']],
  }),
];

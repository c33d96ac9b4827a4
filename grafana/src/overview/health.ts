import { dataWaits, standing } from '../common.ts';
import { limits } from '../limits.ts';
import { standingWords } from '../mappings.ts';
import { table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { plain } from '../steps.ts';

const silence = `max by (filer) (${select('filer:last_checkin_age:seconds')})`;
const waits = (by: string) => `max by (${by}) (${dataWaits})`;
const unprotected = `sum by (volume) (max by (serial, volume_guid, volume) (${select('filer_volume_unprotected_bytes')}))`;
const p90 = select('volume_filer:filer_propagation_duration_seconds:p90_rate1h');

/** How many rows a table of the worst has. */
const ROWS = 12;
const ratio = (query: string, limit: number) => `${query} / ${limit}`;
const rank = (index: number, query: string) => `label_replace(${query}, "rank", "${index}", "", "")`;

/** How bad a filer is, in times of the limits that alerts have: silence, data that waits, no telemetry. */
const worstFilers = `topk(${ROWS}, max by (filer) (${[
  rank(1, ratio(silence, limits.missingCheckIn)),
  rank(2, ratio(waits('filer'), limits.unprotectedAge)),
  rank(3, `2 - ${standing('filer')}`),
].join(' or ')}))`;

/** Where file acceleration tells of no volume, the portal's bytes rank them. */
const worstVolumes = `topk(${ROWS}, ${waits('volume')} or ${unprotected} * 1e-15)`;
const ofWorst = (by: 'filer' | 'volume', query: string) =>
  `${query} and on (${by}) ${by === 'filer' ? worstFilers : worstVolumes}`;

/** How each site and each volume is. A site is its filer. */
export const healthPanels = [
  table({
    title: 'By site, the worst first',
    description:
      'The filers that are worst off, by the time since they were heard of, the data that waits for the cloud, and whether they have telemetry. Open the one at the top.',
    queries: [
      { expr: ofWorst('filer', silence), legend: 'Silent for' },
      { expr: ofWorst('filer', waits('filer')), legend: 'Data waits' },
      { expr: ofWorst('filer', standing('filer')), legend: 'Telemetry' },
    ],
    columns: [{ label: 'filer', title: 'Filer', link: drillDown('appliance', 'filer', `$\{__value.text}`) }],
    steps: plain,
    stepsBy: { 'Silent for': limits.checkIn, 'Data waits': limits.unprotected },
    mappingsBy: { Telemetry: standingWords },
    valueWidth: 120,
    width: 12,
    height: 6,
    sortedBy: [
      ['Telemetry', 'up'],
      ['Data waits', 'down'],
    ],
  }),
  table({
    title: 'By volume, the worst first',
    description:
      'The volumes whose data waits longest for the cloud, with their unprotected data and how long nine of ten changes took to reach the slowest filer. Open the one at the top.',
    queries: [
      { expr: ofWorst('volume', waits('volume')), legend: 'Data waits' },
      { expr: ofWorst('volume', unprotected), legend: 'Unprotected' },
      { expr: ofWorst('volume', `max by (volume) (${p90})`), legend: 'Arrives in' },
    ],
    columns: [{ label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) }],
    steps: plain,
    stepsBy: { 'Data waits': limits.unprotected, 'Arrives in': limits.propagation },
    valueWidth: 120,
    width: 12,
    height: 6,
    sortedBy: [['Data waits', 'down']],
  }),
];

import { alertTable } from '../alerts/table.ts';
import { applianceCounts, standing } from '../common.ts';
import { limits } from '../limits.ts';
import { rankWords, standingWords, words } from '../mappings.ts';
import { number, ranking, stateCounts, table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { whileUp } from '../service.ts';
import { noneExpected } from '../steps.ts';
import { byFiler, ofWorst, reached, worstAppliances } from '../worst-filers.ts';

const info = select('filer_appliance_info');
// While the portal is down, no record can arrive.
const lastRecord = `time() - max by (filer) (${whileUp('portal', select('filer_appliance_last_record_timestamp_seconds'))})`;
const lastSeen = `time() - ${byFiler('filer_appliance_last_seen_timestamp_seconds')}`;
const cpu = byFiler('filer_appliance_cpu_utilization_ratio');
const cache = byFiler('filer_appliance_cache_utilization_ratio');
const latency = byFiler('filer_appliance_disk_io_latency_seconds');
/** Appliances where a gauge is 0. */
const countOf = (gauge: string) => `sum(max by (serial) (${whileUp('portal', select(gauge))}) == bool 0)`;
const telemetryAge = `time() - max by (filer) (${select('filer_appliance_series_timestamp_seconds')})`;

/** Shows which appliances there are, and which of them do not report. */
export const presentPanels = [
  stateCounts(
    number({
      title: 'Appliances',
      description:
        'Appliances with telemetry; those without records, which are off or disconnected; and those that cannot be polled. The table below has the worst first.',
      queries: applianceCounts(),
      width: 8,
    }),
    'no records',
    'down',
  ),
  number({
    title: 'Unreachable',
    description:
      'Appliances that the portal cannot reach, and those that are not synced: they have not applied its settings. Settings and updates do not arrive there: check their connections first.',
    queries: [
      { expr: countOf('filer_appliance_reachable'), legend: 'unreachable' },
      { expr: countOf('filer_appliance_synced'), legend: 'not synced' },
    ],
    steps: noneExpected,
    width: 6,
  }),
  number({
    title: 'Updates waiting',
    description:
      'Appliances for which the portal offers another build, and those whose build is older than the newest download. Plan the update.',
    queries: [
      { expr: `sum(max by (serial) (${select('filer_appliance_update_available')}))`, legend: 'offered' },
      { expr: `sum(max by (serial) (${select('filer_appliance_software_outdated')}))`, legend: 'behind the newest' },
    ],
    steps: noneExpected,
    width: 10,
  }),
  alertTable({
    title: 'What is broken',
    about: { pages: ['appliances'], alerts: ['FilerNotCheckingIn'] },
    scope: { filer: 'with account' },
    height: 7,
  }),
  table({
    title: 'Appliances, the worst first',
    description:
      'The fifteen worst appliances: critical ones first, by the time since their last check-in or telemetry; then those furthest above a limit. Last record is the time of the newest telemetry, last seen that of the last contact with the portal. Begin at the top.',
    queries: [
      { expr: ofWorst(worstAppliances), legend: 'Now' },
      { expr: ofWorst(standing('filer')), legend: 'Telemetry' },
      { expr: ofWorst(reached), legend: 'Reached' },
      { expr: ofWorst(lastRecord), legend: 'Last record' },
      { expr: ofWorst(lastSeen), legend: 'Last seen' },
      { expr: ofWorst(cpu), legend: 'Processors' },
      { expr: ofWorst(cache), legend: 'Cache' },
      { expr: ofWorst(latency), legend: 'Disk latency' },
    ],
    columns: [{ label: 'filer', title: 'Appliance', link: drillDown('appliance', 'filer', `$\{__value.text}`) }],
    stepsBy: {
      'Last record': limits.telemetryAge,
      Processors: limits.cpu,
      Cache: limits.cache,
      'Disk latency': limits.diskLatency,
    },
    mappingsBy: { Now: rankWords, Telemetry: standingWords, Reached: words([1, 'yes'], [0, 'no']) },
    valueWidth: 112,
    width: 24,
    height: 8,
    sortedBy: [['Now', 'down']],
  }),
];

/** Shows types and builds of the appliances. */
export const kindPanels = [
  number({
    title: 'By kind',
    description:
      'Appliances by kind, as the inventory lists them. If a number changes without a change of yours, an appliance joined or left: find out why.',
    queries: { expr: `count by (type) (max by (serial, type) (${info}))`, legend: '{{type}}' },
    width: 8,
    height: 11,
  }),
  ranking({
    title: 'By build',
    description: 'Appliances by build. If appliances behave differently, compare their builds first.',
    queries: { expr: `topk(20, count by (build) (max by (serial, build) (${info})))`, legend: '{{build}}' },
    name: 'Build',
    width: 8,
  }),
  ranking({
    title: 'Oldest telemetry',
    description:
      'Appliances by the age of their newest telemetry. Those at the top report late or not at all. If all are equally old, the portal or the exporter fails.',
    queries: { expr: `topk($top, ${telemetryAge})`, legend: '{{filer}}' },
    name: 'Appliance',
    steps: limits.telemetryAge,
    width: 8,
    drill: drillDown('appliance', 'filer', `$\{__value.text}`),
  }),
];

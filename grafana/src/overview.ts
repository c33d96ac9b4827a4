import { chart } from './charts.ts';
import { checkIns, highest } from './common.ts';
import type { Dashboard } from './dashboard.ts';
import { dashboard } from './dashboard.ts';
import { limits } from './limits.ts';
import { upOrDown } from './mappings.ts';
import { number, stepsOf, table } from './numbers.ts';
import { drillDown, more } from './places.ts';
import { quantile, select } from './select.ts';
import { above, noneAllowed, noneExpected, oneIsGood, plain } from './steps.ts';

const contact = checkIns('filer_guid, filer');
const oldest = select('filer_oldest_unprotected_data_age_seconds');
const applianceUp = select('filer_appliance_up');
const firing = select('ALERTS', { alertstate: '="firing"', alertname: '=~"Filer.*"' });
const propagation = 'filer_propagation_duration_seconds';

const now = [
  stepsOf(
    number({
      title: 'Filers checking in',
      description:
        'Filers that file acceleration heard of in the last 30 minutes, and those it did not. When some are missing, look them up under “Missing check-ins”, then check that the appliance runs and reaches the internet.',
      queries: [
        { expr: `sum(${contact} <= bool ${limits.missingCheckIn})`, legend: 'checking in' },
        { expr: `sum(${contact} > bool ${limits.missingCheckIn})`, legend: 'missing' },
      ],
      steps: plain,
      width: 5,
      links: [more('volumes')],
    }),
    'missing',
    noneAllowed,
  ),
  number({
    title: 'Oldest unprotected data',
    description:
      'Age of the oldest data of any filer that is not yet in cloud storage: what would be lost with its appliance. When it grows, find the filer below and check its propagation, its cache and its line.',
    queries: [{ expr: `max(${oldest})`, legend: 'worst' }],
    steps: limits.unprotected,
    width: 4,
    links: [more('volumes')],
    empty: 'nothing waits',
  }),
  number({
    title: 'Volume locks held',
    description:
      'Volumes and filers where the newest lock event says that the lock is held. A few are usual; one that stays held blocks the snapshots of all other filers on the volume.',
    queries: [
      {
        expr: `sum(${select('filer_lock_state', { lock_phase: '="P2"', lock_state: '="ACQUIRED"' })}) or 0 * count(${select('filer_lock_state')})`,
        legend: 'held',
      },
    ],
    steps: plain,
    width: 3,
    links: [more('volumes')],
  }),
  stepsOf(
    number({
      title: 'Appliances',
      description:
        'Appliances whose telemetry answers, and those that give none. When some are down, the Fleet dashboard names them; when all are, look at the service first.',
      queries: [
        { expr: `sum(${applianceUp})`, legend: 'up' },
        { expr: `sum(${applianceUp} == bool 0)`, legend: 'not reporting' },
      ],
      steps: plain,
      width: 5,
      links: [more('fleet')],
    }),
    'not reporting',
    noneAllowed,
  ),
  number({
    title: 'Firing alerts',
    description:
      'Alerts of the shipped rules that fire now. The table at the end names them; each has a page that says what to do.',
    queries: [{ expr: `count(${firing}) or vector(0)`, legend: 'firing' }],
    steps: noneExpected,
    width: 3,
  }),
  number(
    {
      title: 'Services',
      description:
        'Whether the latest poll of each service succeeded. When one is down, everything that comes from it grows old: look at the Exporter dashboard for what it answered.',
      queries: [{ expr: `min by (api) (${select('filer_up')})`, legend: '{{api}}' }],
      steps: oneIsGood,
      width: 4,
      links: [more('exporter')],
    },
    upOrDown,
  ),
];

const acceleration = [
  chart({
    title: 'Propagation time',
    description:
      'How long data took to reach other filers, over the event window. A p99 far above p90 is a single slow filer or volume; when all rise together, look at the locks and at the cloud side.',
    queries: [0.5, 0.9, 0.99].map((share) => ({
      expr: quantile(share, propagation, { window: '$window' }),
      legend: `p${share * 100}`,
    })),
    steps: limits.propagation,
    width: 12,
    links: [more('volumes')],
  }),
  chart({
    title: 'Oldest unprotected data, the worst filers',
    description:
      'The filers with the oldest data that is not yet in cloud storage. A line that only climbs protects nothing any more: open the filer and see whether it gets the lock.',
    queries: [{ expr: `topk(10, max by (filer) (${oldest}))`, legend: '{{filer}}' }],
    steps: limits.unprotected,
    width: 12,
    drill: [drillDown('volumes', 'filer')],
    empty: 'nothing waits',
  }),
  chart({
    title: 'Filers by time since check-in',
    description:
      'How many filers were heard of within 5 minutes, within the hour, or longer ago. Many that turn at once point to the service or the network, one alone to its appliance.',
    queries: [
      { expr: `sum(${contact} <= bool 300)`, legend: 'under 5 minutes' },
      { expr: `sum(${contact} <= bool 3600) - sum(${contact} <= bool 300)`, legend: '5 minutes to 1 hour' },
      { expr: `sum(${contact} > bool 3600)`, legend: 'above 1 hour' },
    ],
    steps: plain,
    width: 12,
    stacked: true,
    links: [more('volumes')],
  }),
  chart({
    title: 'Lock releases by volume',
    description:
      'How often filers finished with the lock of a volume in the event window. A volume that falls to zero takes no snapshots: find out who holds its lock.',
    queries: [
      {
        expr: `sum by (volume) (increase(${select('filer_lock_events_total', { lock_phase: '="P2"', lock_state: '="RELEASED"' })}[$window]))`,
        legend: '{{volume}}',
      },
    ],
    steps: plain,
    width: 12,
    drill: [drillDown('volumes', 'volume')],
  }),
];

const appliances = [
  chart({
    title: 'Appliances over time',
    description:
      'How many appliances report and how many do not. A step down is an outage or a lost right; a slow fall is appliances that left the account.',
    queries: [
      { expr: `sum(${applianceUp})`, legend: 'up' },
      { expr: `sum(${applianceUp} == bool 0)`, legend: 'not reporting' },
    ],
    steps: plain,
    width: 8,
    stacked: true,
    links: [more('fleet')],
  }),
  chart({
    title: 'Busiest processors',
    description:
      'The five appliances that use most of their processors. Above 95 % for long, users wait: look at the load and at what the appliance does.',
    queries: [{ expr: highest(5, 'filer_appliance_cpu_utilization_ratio'), legend: '{{filer}}' }],
    steps: limits.cpu,
    width: 8,
    toOne: true,
    drill: [drillDown('appliance', 'filer')],
  }),
  chart({
    title: 'Fullest caches',
    description:
      'The five appliances with the fullest cache. A full cache evicts what users need next, and cannot take new data before it is protected: enlarge it or see why data waits.',
    queries: [{ expr: highest(5, 'filer_appliance_cache_utilization_ratio'), legend: '{{filer}}' }],
    steps: limits.cache,
    width: 8,
    toOne: true,
    drill: [drillDown('appliance', 'filer')],
  }),
];

const portal = [
  number({
    title: 'Unprotected data',
    description:
      'Data of all volumes and appliances that is not yet in cloud storage. When it grows for a day, the Snapshots dashboard says where.',
    queries: [{ expr: `sum(${select('filer_volume_unprotected_bytes')})`, legend: 'all' }],
    steps: plain,
    width: 4,
    links: [more('snapshots')],
  }),
  number({
    title: 'Snapshots failing',
    description: 'Volumes on appliances whose snapshot failed: nothing new is protected there until it is mended.',
    queries: [{ expr: `sum(${select('filer_volume_snapshot_status', { status: '="failed"' })})`, legend: 'failed' }],
    steps: noneAllowed,
    width: 4,
    links: [more('snapshots')],
  }),
  number({
    title: 'Appliances unreachable',
    description: 'Appliances that the portal cannot reach. The Fleet dashboard has more; check their lines first.',
    queries: [{ expr: `sum(${select('filer_appliance_reachable')} == bool 0)`, legend: 'unreachable' }],
    steps: noneAllowed,
    width: 4,
    links: [more('fleet')],
  }),
  number({
    title: 'Updates waiting',
    description: 'Appliances that the portal offers another build. Plan the update for a quiet hour.',
    queries: [{ expr: `sum(${select('filer_appliance_update_available')})`, legend: 'waiting' }],
    steps: noneExpected,
    width: 4,
    links: [more('fleet')],
  }),
  number({
    title: 'Jobs failed',
    description: 'Jobs of the portal that failed and that nobody has acknowledged. Read them there.',
    queries: [{ expr: `sum(${select('filer_jobs_failed_unacknowledged')})`, legend: 'failed' }],
    steps: noneExpected,
    width: 4,
    links: [more('account')],
    empty: 'not polled',
  }),
  number({
    title: 'Subscription ends in',
    description: 'Time until the subscription of the account ends. Below two months begin to renew it.',
    queries: [{ expr: `min(${select('filer_license_expiry_timestamp_seconds')}) - time()`, legend: 'left' }],
    steps: limits.licenceLeft,
    width: 4,
    links: [more('account')],
    empty: 'no end',
  }),
];

const alerts = [
  table({
    title: 'Alerts',
    description:
      'Alerts of the shipped rules that fire, or will when what they watch goes on for long enough. Empty when the rules are not loaded, too. Each alert has a page in docs/runbooks.',
    queries: [
      {
        expr: `max by (alertname, alertstate, severity, filer, volume, api) (${select('ALERTS', { alertname: '=~"Filer.*"' })})`,
        legend: 'active',
      },
    ],
    columns: [
      { label: 'alertname', title: 'Alert' },
      { label: 'alertstate', title: 'State' },
      { label: 'severity', title: 'Severity' },
      { label: 'filer', title: 'Filer', link: drillDown('volumes', 'filer', `$\{__value.text}`) },
      { label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) },
      { label: 'api', title: 'Service' },
    ],
    steps: plain,
    width: 16,
    empty: 'no alert',
  }),
  number({
    title: 'Age of the data',
    description:
      'Time since the last good poll of the task that waits longest, by service. When it grows, the Exporter dashboard says whether the service fails, throttles or is over its limit.',
    queries: [
      {
        expr: `max by (api) (${select('filer_exporter_data_age_seconds', { statistic: '="worst"' })})`,
        legend: '{{api}}',
      },
    ],
    steps: above(900, 1800),
    width: 8,
    height: 8,
    links: [more('exporter')],
  }),
];

/** The account at a glance. */
export function overview(): Dashboard {
  return dashboard({
    place: 'overview',
    description: 'The account at a glance: what needs a look, and where to look next.',
    reach: '6h',
    variables: ['job', 'filer', 'volume', 'window'],
    sections: [
      { title: 'Now', panels: now },
      { title: 'File acceleration', panels: acceleration },
      { title: 'The portal', panels: portal },
      { title: 'Appliances', panels: appliances },
      { title: 'What needs a look', panels: alerts },
    ],
  });
}

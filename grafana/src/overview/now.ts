import { checkIns } from '../common.ts';
import { limits } from '../limits.ts';
import { upOrDown } from '../mappings.ts';
import { number, stepsOf } from '../numbers.ts';
import { more } from '../places.ts';
import { select } from '../select.ts';
import { noneAllowed, noneExpected, oneIsGood, plain } from '../steps.ts';

const contact = checkIns('filer_guid, filer');
const oldest = select('volume_filer:oldest_unprotected_data_age:seconds');
const applianceUp = select('filer_appliance_up');
const firing = select('ALERTS', { alertstate: '="firing"', alertname: '=~"Filer.*"' });

/** What needs a look, in a line of numbers. */
export const nowPanels = [
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
        expr: `sum(${select('filer_lock_state', { lock_phase: '="p2"', lock_state: '="acquired"' })}) or 0 * count(${select('filer_lock_state')})`,
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
      queries: [{ expr: `min by (api) (${select('filer_api_up')})`, legend: '{{api}}' }],
      steps: oneIsGood,
      width: 4,
      links: [more('exporter')],
    },
    upOrDown,
  ),
];

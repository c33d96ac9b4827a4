// Only here: what hours of it do to what is shown, counted and requested. The judge alone has something to say of these.
import { test } from 'vitest';
import { type Plan, play } from '../harness/plan.ts';
import { HOUR, MINUTE } from '../harness/world.ts';

/** Of the whole time that there was before the first moment of a simulated life. */
const SINCE_1970 = `${Date.UTC(2026, 2, 2, 10) / 1000}s`;

const ofCounts = {
  environment: {
    PORTAL_COLLECTORS: 'telemetry,edges,jobs,notifications,volume_telemetry=5m',
    PORTAL_DISCOVERY_INTERVAL: '5m',
  },
};

const plans: readonly (readonly [name: string, plan: Plan])[] = [
  [
    'a clock that is set back a day, and then forward a century, changes nothing that is shown',
    {
      setup: { gfa: true },
      events: [
        { at: '10m', do: 'clock', step: '-1d' },
        { at: '40m', do: 'clock', step: '36525d' },
      ],
      quiet: '30m',
    },
  ],
  [
    'a machine that begins in 1970 and gets the time after ten minutes',
    {
      setup: { gfa: true },
      before: { do: 'clock', step: `-${SINCE_1970}` },
      events: [{ at: '10m', do: 'clock', step: SINCE_1970 }],
      quiet: '20m',
    },
  ],
  [
    'a machine that sleeps for six hours shows nothing old when it wakes, and all again soon after',
    { setup: { gfa: true }, events: [{ at: '10m', do: 'suspend', sleeps: '6h' }], quiet: '20m' },
  ],
  [
    'half of the fleet is off for two hours',
    {
      setup: { appliances: 4 },
      events: [{ at: '10m', lasts: '2h', do: 'appliances are off', appliances: [0, 1] }],
      quiet: '20m',
    },
  ],
  [
    'an appliance that is off for ten minutes and on for ten changes its state each time and no more often',
    {
      setup: {},
      events: [
        { at: '10m', lasts: '10m', do: 'appliances are off', appliances: [0] },
        { at: '30m', lasts: '10m', do: 'appliances are off', appliances: [0] },
      ],
      quiet: '20m',
    },
  ],
  [
    'the counts of a renamed appliance go on',
    {
      setup: { gfa: true },
      events: [{ at: '20m', do: 'rename', appliance: 0, to: 'edge of the world' }],
      quiet: '25m',
    },
  ],
  [
    'five appliances that join at once are up soon after the next list',
    {
      setup: { appliances: 2 },
      events: Array.from({ length: 5 }, () => ({ at: '10m', do: 'join' }) as const),
      quiet: '40m',
    },
  ],
  [
    'half a list of appliances at the start is made whole by the next one',
    { setup: { appliances: 4 }, before: { do: 'short lists', share: 0.5 }, events: [], quiet: '40m' },
  ],
  [
    'one empty list and one half list, of appliances, jobs and connections, take nothing away and count nothing anew',
    {
      setup: { appliances: 6, ...ofCounts },
      events: [
        { at: '20m', lasts: '15m', do: 'short lists', share: 0 },
        { at: '40m', lasts: '15m', do: 'short lists', share: 0.5 },
      ],
      quiet: '20m',
    },
  ],
  [
    'filers that are named one an answer keep their counts',
    {
      setup: { gfa: true, portal: false, appliances: 5 },
      events: [{ at: '1m', lasts: '30m', do: 'one filer an answer' }],
      quiet: '20m',
    },
  ],
  [
    'an answer without volumes and filers for half an hour takes no count away',
    {
      setup: { gfa: true, portal: false, variations: { delivery: 'overlapping' } },
      events: [{ at: '10m', lasts: '30m', do: 'no filers' }],
      quiet: '20m',
    },
  ],
  [
    'records that are dated a day ahead, and events eight hours, are replaced by the next answer',
    {
      setup: { gfa: true, portal: false },
      events: [
        { at: '5m', lasts: '2m', do: 'dated ahead', group: 'filers', by: '1d' },
        { at: '10m', lasts: '5m', do: 'dated ahead', group: 'locks', by: '8h' },
      ],
      quiet: '20m',
    },
  ],
  [
    'one 503 of the token service, with the token revoked, takes nothing down',
    {
      setup: { lookMs: MINUTE / 2, variations: { tokenLifetimeMs: HOUR } },
      events: [{ at: '2m', do: 'token revoked' }],
      quiet: '20m',
    },
  ],
  [
    'a limit that is lifted makes no value vanish',
    {
      setup: { appliances: 12, environment: { PORTAL_RATE_LIMIT: '25/30s', PORTAL_INTERVAL: '60s' } },
      events: [{ at: '0s', lasts: '40m', do: 'limit', requests: 3 }],
      quiet: '20m',
    },
  ],
];

test.each(plans)('%s', async (_, plan) => {
  await play(plan);
});

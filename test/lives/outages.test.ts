// Only here: what is shown, asked and logged during an outage and after it.

import { expect, test } from 'vitest';
import type { SimulatedFailure } from '../../src/demo/faults.ts';
import { STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import type { StatusReport } from '../../src/status/model.ts';
import { ACCOUNT, HOUR, MINUTE, PORTAL, SECOND, TELEMETRY, World } from '../harness/world.ts';
import { isAtLeast } from '../support/program.ts';
import { type Story, tell, trouble } from './story.ts';

const unavailable = { kind: 'status', status: 503 } as const;
const WELL = 'portal up, 3 reporting, 9 series';
const DOWN = (reason: string) => new RegExp(`portal down \\(${reason}\\), (?:3 unavailable, )?0 series$`);

/** What the portal does for forty minutes, and the reason that is given: all is well twenty minutes later. */
const faults: readonly (readonly [name: string, SimulatedFailure, reason: string])[] = [
  [
    'a maintenance page in the place of every answer is no answer',
    { operation: PORTAL, kind: 'body', body: '<html>We will be back.</html>' },
    'invalid',
  ],
  [
    'a gateway that knows no path is believed for one round of the inventory and no longer',
    { operation: PORTAL, kind: 'status', status: 404 },
    'not_found',
  ],
  ['a firewall that forbids everything', { operation: PORTAL, kind: 'status', status: 403 }, 'credentials'],
  ['a network that is cut', { operation: PORTAL, kind: 'reset' }, 'network'],
  ['a portal that hangs', { operation: PORTAL, kind: 'hang' }, 'timeout'],
  ['a portal that sends a byte a second', { operation: TELEMETRY, kind: 'drip' }, 'timeout'],
  ['a token service that is down while every token dies', { operation: 'token', ...unavailable }, 'server_error'],
];

/** Services that are down, slow or only half there. */
const outages: readonly Story[] = [
  trouble({
    name: 'the portal is down during a maintenance window of two hours, and up twenty minutes after it',
    ms: 2 * HOUR,
    begin: (life) => life.fails({ operation: PORTAL, ...unavailable }),
    during: DOWN('server_error'),
    after: WELL,
  }),
  ...faults.map(([name, fault, reason]) =>
    trouble({ name, begin: (life) => life.fails(fault), during: DOWN(reason), after: WELL }),
  ),
  trouble({
    name: 'a portal that is slow for an hour is up, and all that it says is fresh',
    ms: HOUR,
    begin: (life) => life.varies({ latencyMs: 20 * SECOND }, { scope: { path: /never/ } }),
    during: WELL,
    after: WELL,
  }),
  {
    name: 'two failed requests an hour change nothing that is shown',
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      for (let half = 0; half < 4; half += 1) {
        life.fails({ operation: TELEMETRY, times: 1, ...unavailable });
        life.expects([await life.after(15 * MINUTE)], [WELL]);
        await life.passes(15 * MINUTE);
      }
    },
  },
  {
    name: 'credentials that are revoked at noon and given again an hour later: meanwhile nothing is known of appliances',
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      const given = [
        life.fails({ operation: 'token', kind: 'status', status: 401 }),
        life.fails({ operation: PORTAL, kind: 'status', status: 401 }),
      ];
      await life.passes(30 * MINUTE);
      const during = await life.after(30 * MINUTE);
      const { appliances } = JSON.parse((await life.page('/api/v1/status')).text) as StatusReport;
      expect(appliances.map(({ state }) => state)).toEqual(['unknown', 'unknown', 'unknown']);
      for (const give of given) give();
      life.expects([during, await life.after(12 * MINUTE)], [DOWN('credentials'), WELL]);
    },
  },
  {
    name: 'tokens that live for a minute from now on',
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      life.judge.excused.push('costs');
      life.varies({ tokenLifetimeMs: MINUTE }, { scope: { path: /never/ } });
      life.expects([await life.after(HOUR)], [WELL]);
    },
  },
  trouble({
    name: 'an inventory that cannot be had for three hours takes no appliance away',
    begins: { lookMs: 10 * MINUTE },
    ms: 3 * HOUR,
    begin: (life) => life.fails({ operation: /^(?:serials|edges)$/, kind: 'status', status: 500 }),
    during: WELL,
    after: WELL,
  }),
  trouble({
    name: 'everything about the account fails for three hours, and telemetry knows nothing of it',
    begins: { lookMs: 5 * MINUTE },
    ms: 3 * HOUR,
    begin: (life) => life.fails({ operation: ACCOUNT, ...unavailable }),
    during: WELL,
    after: WELL,
  }),
  trouble({
    name: 'one series of all appliances fails for two hours, and the others go on',
    ms: 2 * HOUR,
    begin: (life) => life.fails({ operation: 'load_average', ...unavailable }),
    during: 'portal up, 3 reporting, 6 series',
    after: WELL,
  }),
  trouble({
    name: 'the file acceleration service is down for three hours, and the portal knows nothing of it',
    begins: { gfa: true, lookMs: 5 * MINUTE },
    ms: 3 * HOUR,
    begin: (life) => life.fails({ operation: 'data', kind: 'status', status: 500 }),
    during: `gfa down (server_error), 0 filers; ${WELL}`,
    after: `gfa up, 3 filers; ${WELL}`,
  }),
  trouble({
    name: 'the portal is down for three hours, and the file acceleration service knows nothing of it',
    begins: { gfa: true, lookMs: 5 * MINUTE },
    ms: 3 * HOUR,
    begin: (life) => life.fails({ operation: PORTAL, ...unavailable }),
    during: DOWN('server_error'),
    after: `gfa up, 3 filers; ${WELL}`,
  }),
  {
    name: 'telemetry fails while most appliances hang, and the others are back a quarter of an hour after its end',
    begins: { appliances: 20, environment: { PORTAL_CONCURRENCY: '4' } },
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      for (const serial of life.serials.slice(3)) life.fails({ serial, kind: 'hang' });
      await life.passes(75 * MINUTE);
      const over = life.fails({ operation: TELEMETRY, ...unavailable });
      await life.passes(40 * MINUTE);
      over();
      life.expects([await life.after(15 * MINUTE)], ['portal up, 3 reporting, 17 unavailable, 9 series']);
    },
  },
];

tell(outages);

test('a portal that is down is logged once, and not again for each appliance, and its return once', async () => {
  const life = await World.begin({ appliances: 6, series: STANDARD_SERIES, lookMs: 10 * MINUTE });
  await life.passes(20 * MINUTE);
  const before = life.log.length;
  const over = life.fails({ operation: PORTAL, kind: 'status', status: 503 });
  await life.passes(HOUR);
  const told = life.log.slice(before).filter(({ level }) => isAtLeast(level, 'info'));
  const lines = told.map(({ msg, operation, serial }) => `${msg}: ${operation ?? serial ?? ''}`);
  expect(lines).toHaveLength(new Set(lines).size);
  expect(told.filter(({ msg }) => msg.startsWith('the API cannot be polled'))).toHaveLength(1);
  expect(told.filter(({ msg }) => msg.startsWith('the appliance does not respond')).length).toBeLessThan(3);
  over();
  await life.passes(20 * MINUTE);
  expect(life.log.filter(({ msg }) => msg === 'the API responds again')).toHaveLength(1);
});

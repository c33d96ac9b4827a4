// Only here: what is shown, asked and logged during an outage and after it.

import { expect } from 'vitest';
import type { SimulatedFailure } from '../../src/demo/faults.ts';
import type { StatusReport } from '../../src/status/model.ts';
import { ACCOUNT, HOUR, MINUTE, PORTAL, SECOND, TELEMETRY } from '../harness/world.ts';
import { type Story, tell, trouble } from './story.ts';

const unavailable = { kind: 'status', status: 503 } as const;
const WELL = 'portal up, 3 reporting, 9 series';
const DOWN = (reason: string) => new RegExp(`portal down \\(${reason}\\), (?:3 unavailable, )?0 series$`);

/** What goes wrong with an operation, how all stands then, and the label `code` that counts it. */
const faults: readonly (readonly [name: string, fault: SimulatedFailure, during: string | RegExp, code: string])[] = [
  [
    'a maintenance page in the place of every answer is no answer',
    { operation: PORTAL, kind: 'body', body: '<html>We will be back.</html>' },
    DOWN('invalid'),
    'invalid',
  ],
  [
    'a gateway that knows no path is believed for one round of the inventory and no longer',
    { operation: PORTAL, kind: 'status', status: 404 },
    DOWN('not_found'),
    '404',
  ],
  [
    'a firewall that forbids everything',
    { operation: PORTAL, kind: 'status', status: 403 },
    DOWN('credentials'),
    '403',
  ],
  ['a network that is cut', { operation: PORTAL, kind: 'reset' }, DOWN('network'), 'network'],
  ['a portal that hangs', { operation: PORTAL, kind: 'hang' }, DOWN('timeout'), 'timeout'],
  ['a portal that sends a byte a second', { operation: TELEMETRY, kind: 'drip' }, DOWN('timeout'), 'timeout'],
  [
    'telemetry that fails while the account answers',
    { operation: TELEMETRY, ...unavailable },
    DOWN('server_error'),
    '503',
  ],
  [
    'a portal that rejects everything',
    { operation: PORTAL, kind: 'status', status: 429, headers: { 'retry-after': '300' } },
    DOWN('throttled'),
    '429',
  ],
  [
    'a token service that is down while every token dies',
    { operation: 'token', ...unavailable },
    DOWN('server_error'),
    '503',
  ],
  [
    'one series that is rejected for all appliances, and the others go on',
    { operation: 'load_average', kind: 'status', status: 400 },
    'portal up, 3 reporting, 6 series',
    '400',
  ],
];

/** Services that are down, slow or only half there. */
const outages: readonly Story[] = [
  ...faults.map(([name, fault, during, code]) =>
    trouble({ name, begin: (life) => life.fails(fault), during, after: WELL, code }),
  ),
  trouble({
    name: 'a list of edges that is too large takes no appliance away',
    begins: { environment: { MAX_RESPONSE_BYTES: '4000000' } },
    begin: (life) => life.fails({ operation: 'edges', kind: 'body', body: ' '.repeat(5_000_000) }),
    during: WELL,
    after: WELL,
    code: 'oversize',
  }),
  trouble({
    name: 'a portal that is slow is up, and all that it says is fresh',
    begin: (life) => life.varies({ latencyMs: 20 * SECOND }, { scope: { path: /never/ } }),
    during: WELL,
    after: WELL,
  }),
  {
    name: 'credentials that are revoked and given again half an hour later: meanwhile nothing is known of appliances',
    tells: async (life) => {
      await life.passes(10 * MINUTE);
      const given = [
        life.fails({ operation: 'token', kind: 'status', status: 401 }),
        life.fails({ operation: PORTAL, kind: 'status', status: 401 }),
      ];
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
      await life.passes(10 * MINUTE);
      life.judge.excused.push('costs');
      life.varies({ tokenLifetimeMs: MINUTE }, { scope: { path: /never/ } });
      life.expects([await life.after(20 * MINUTE)], [WELL]);
    },
  },
  trouble({
    name: 'everything about the account fails for an hour, and telemetry knows nothing of it',
    ms: HOUR,
    begin: (life) => life.fails({ operation: ACCOUNT, ...unavailable }),
    during: WELL,
    after: WELL,
  }),
  trouble({
    name: 'the file acceleration service sends half of each answer, and the portal knows nothing of it',
    begins: { gfa: true },
    begin: (life) => life.fails({ operation: 'data', kind: 'cut' }),
    during: `gfa down (network), 0 filers; ${WELL}`,
    after: `gfa up, 3 filers; ${WELL}`,
    code: 'network',
  }),
  trouble({
    name: 'the portal is down for an hour, and the file acceleration service knows nothing of it',
    begins: { gfa: true },
    ms: HOUR,
    begin: (life) => life.fails({ operation: PORTAL, ...unavailable }),
    during: DOWN('server_error'),
    after: `gfa up, 3 filers; ${WELL}`,
  }),
  {
    name: 'telemetry fails while most appliances hang, and the others are back a quarter of an hour after its end',
    begins: { appliances: 12, environment: { PORTAL_CONCURRENCY: '4' } },
    tells: async (life) => {
      await life.passes(10 * MINUTE);
      for (const serial of life.serials.slice(3)) life.fails({ serial, kind: 'hang' });
      await life.passes(45 * MINUTE);
      const over = life.fails({ operation: TELEMETRY, ...unavailable });
      await life.passes(30 * MINUTE);
      over();
      life.expects([await life.after(15 * MINUTE)], ['portal up, 3 reporting, 9 unavailable, 9 series']);
    },
  },
];

tell(outages);

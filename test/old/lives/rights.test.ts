// Only here: a right or a licence that is taken away and given back.

import { expect, test } from 'vitest';
import { HOUR, MINUTE, PORTAL, World } from '../harness/world.ts';
import type { LogLine } from '../support/program.ts';
import { type Story, tell, trouble } from './story.ts';

const WELL = 'portal up, 3 reporting, 9 series';
const LICENCE = ['filer_license_feature_enabled', { feature: 'ops_iq_premium' }] as const;
/** What is denied rests until the next list. */
const echoMs = 20 * MINUTE;

const EDGES_FORBIDDEN = ['filer_exporter_inventory_gap_info', { list: 'edges', reason: 'forbidden' }] as const;

function gapLine({ msg, list, reason }: LogLine): string {
  if (msg.startsWith('the inventory is incomplete')) return `${list} ${reason}; `;
  return msg === 'the inventory is complete again' ? `${list} closed; ` : '';
}

/** Licences and rights that are lost and given again. */
const rights: readonly Story[] = [
  {
    name: 'a licence that lapses and is bought again is on its metric and the page each time',
    tells: async (life) => {
      await life.passes(10 * MINUTE);
      const bought = life.varies({ opsIqPremium: false }, { echoMs });
      const lapsed = await life.passes(10 * MINUTE);
      const page = (await life.page('/status')).text.includes('lacks ops_iq_premium');
      const during = await life.after(30 * MINUTE);
      bought();
      const after = await life.passes(22 * MINUTE);
      const pageAfter = (await life.page('/status')).text.includes('lacks ops_iq_premium');
      life.expects(
        [lapsed.scrape.value(...LICENCE), page, during, after.scrape.value(...LICENCE), pageAfter],
        [0, true, 'portal down (forbidden), 3 unavailable, 0 series', 1, false],
      );
      life.expects([await life.after(MINUTE)], [WELL]);
    },
  },
  {
    name: 'a licence that lapses takes everything down where a series that the build lacks is asked every six hours',
    begins: {
      series: ['cpu_utilization', 'memory_utilization', 'memory_utilization_details'],
      environment: { PORTAL_DISCOVERY_INTERVAL: '6h' },
    },
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      life.varies({ opsIqPremium: false }, { echoMs });
      life.expects([await life.after(40 * MINUTE)], ['portal down (forbidden), 3 unavailable, 0 series']);
    },
  },
  trouble({
    name: 'a licence that the role may not read lapses',
    begins: { variations: { forbidden: ['license'] } },
    begin: (life) => life.varies({ opsIqPremium: false }, { echoMs }),
    during: /^portal down \(forbidden\)/,
    after: WELL,
  }),
  trouble({
    name: 'a role that loses the right to one series and gets it back',
    begin: (life) => life.varies({ forbidden: ['load_average'] }, { scope: { operation: 'load_average' }, echoMs }),
    during: 'portal up, 3 reporting, 6 series',
    after: WELL,
  }),
  {
    name: 'a role that may not list edges: the page says so, and when it may again',
    tells: async (life) => {
      await life.passes(10 * MINUTE);
      const given = life.varies({ forbidden: ['edges'] }, { scope: { operation: 'edges' }, echoMs });
      const during = await life.passes(40 * MINUTE);
      const page = (await life.page('/status')).text.includes('PORTAL_COLLECTORS=-edges');
      given();
      const after = await life.passes(20 * MINUTE);
      life.expects(
        [
          during.scrape.value(...EDGES_FORBIDDEN),
          page,
          after.scrape.value(...EDGES_FORBIDDEN),
          life.log.map(gapLine).join(''),
        ],
        [1, true, undefined, 'edges forbidden; edges closed; '],
      );
    },
  },
  trouble({
    name: 'a role that may read neither list for an hour loses no appliance',
    ms: HOUR,
    begin: (life) =>
      life.varies({ forbidden: ['serials', 'edges'] }, { scope: { operation: /^(?:serials|edges)$/ }, echoMs }),
    during: WELL,
    after: WELL,
  }),
];

tell(rights);

test('series that are rejected ask once a minute for a licence that is rejected too', async () => {
  const life = await World.begin({ appliances: 12, series: ['cpu_utilization', 'load_average', 'cache_utilization'] });
  await life.passes(20 * MINUTE);
  const license = /^\/portal\/account\/license/;
  const before = life.sent.count(license);
  life.fails({ operation: PORTAL, kind: 'status', status: 403 });
  await life.passes(10 * MINUTE);
  const asked = life.sent.count(license) - before;
  // Ten to explain, two of its own interval.
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThanOrEqual(12);
});

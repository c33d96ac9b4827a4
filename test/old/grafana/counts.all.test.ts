import { expect, test } from 'vitest';
import { applianceCounts } from '../../grafana/src/common.ts';
import { api, scraped, series } from '../deploy/prometheus/case.ts';
import { askedAt, isSkipped } from './moment.ts';

/** Appliances of one portal in each state, and one whose first polls have not ended. */
const STATES = ['reporting', 'reporting', 'no_records', 'unavailable', undefined];

/** What each number says where the portal is up or not; those that are not shown have no series. */
const rows = [
  [1, { up: 2, 'no records': 1, down: 1, waiting: 1 }],
  [0, { up: 2, 'no records': 1, down: 0, unknown: 1, waiting: 1 }],
] as const;

test.skipIf(isSkipped).each(rows)(
  'the numbers of appliances add up to the inventory, with the portal up: %i',
  (up, shown: Readonly<Record<string, number>>) => {
    expect(Object.values(shown).reduce((sum, one) => sum + one)).toBe(STATES.length);
    const appliances = STATES.flatMap((state, index) => {
      const appliance = { ...scraped, serial: `${index}`, filer: `edge-${index}` };
      const info = series('filer_appliance_info', appliance);
      return state === undefined ? [info] : [info, series('filer_appliance_state', { ...appliance, state })];
    });
    const said = askedAt(
      [...appliances.map((one) => [one, 1] as const), [series('filer_api_up', api('portal')), up]],
      applianceCounts().map(({ expr, legend }) => {
        return [expr, shown[legend] === undefined ? [] : [{ labels: '{}', value: shown[legend] }]];
      }),
    );
    expect(said).toContain('SUCCESS');
  },
);

// Only here: a metric of the catalogue that the demo does not show.
import { expect, test } from 'vitest';
import { demoEnvironment, demoVariations, switchOffAppliance } from '../../src/demo/demo.ts';
import type { StatusReport } from '../../src/status/model.ts';
import { World } from '../harness/world.ts';
import { demoCatalog } from '../support/demo-catalog.ts';

test('the demo shows every metric of the catalogue, and of its appliances one has no records', async () => {
  const world = await World.begin({ appliances: 12, volumes: 5, variations: demoVariations(), later: true });
  switchOffAppliance(world.services);
  const demo = await world.exporter(demoEnvironment({}, world.services) as Record<string, string>);
  const missing = async () => {
    const { types } = await demo.scrape();
    return demoCatalog
      .filter(({ name, type }) => types.get(name) !== type)
      .map(({ name, source }) => `${name} from ${source.join('; ')}`);
  };
  await world
    .until('every metric', async () => (await missing()).length === 0)
    .catch(async () => {
      expect(await missing(), 'src/demo/ sends these in no response; series.ts there has those of appliances').toEqual(
        [],
      );
    });
  const off = await world.until('an appliance without records', async () => {
    const [sample] = (await demo.scrape()).all('filer_appliance_state', { state: 'no_records' });
    return sample?.labels.serial;
  });
  expect(off).toBe(world.services.fleet.appliances[2]?.serial);
  const { appliances } = JSON.parse((await demo.page('/api/v1/status')).text) as StatusReport;
  expect(appliances.filter(({ state }) => state === 'no_records')).toMatchObject([{ lastError: null }]);
});

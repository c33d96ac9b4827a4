// Only here: a metric of the catalogue that the demo does not show.
import { expect, test } from 'vitest';
import { demoEnvironment, demoVariations, switchOffAppliance } from '../../src/demo/demo.ts';
import { demoCatalog } from '../support/demo-catalog.ts';
import { exporter, services, until } from '../support/live.ts';

test('the demo shows every metric of the catalogue', async () => {
  const standIn = await services({ appliances: 12, volumes: 5, variations: demoVariations() });
  switchOffAppliance(standIn);
  const live = await exporter(demoEnvironment({}, standIn) as Record<string, string>);
  const missing = async () => {
    const { types } = await live.scrape();
    return demoCatalog.filter(({ name, type }) => types.get(name) !== type).map(({ name }) => name);
  };
  await until('every metric', async () => (await missing()).length === 0).catch(async () => {
    expect(await missing()).toEqual([]);
  });
});

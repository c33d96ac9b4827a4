import { expect, test, vi } from 'vitest';
import { demoEnvironment, demoVariations, switchOffAppliance } from '../../src/demo/demo.ts';
import { hasPromtool } from '../deploy/prometheus/promtool.ts';
import { World } from '../harness/world.ts';
import { arrivals, samplesOf } from './alerts.ts';

vi.setConfig({ testTimeout: 600_000 });

/* Only here: which alerts the demo sends, by its own fleet, the shipped rules and the shipped inhibitions. */

/** Rules look once a minute, so polling more often would change no alert. */
const EACH_MINUTE = { GFA_INTERVAL: '1m', PORTAL_INTERVAL: '1m', PORTAL_COLLECTORS: 'all=1m' };

/** The names of the alerts that arrive in so many minutes of the demo. */
async function arriving(minutes: number, isCalm: boolean): Promise<readonly string[]> {
  const world = await World.begin({ appliances: 12, volumes: 5, variations: demoVariations(), isCalm, later: true });
  const { clock, services } = world;
  switchOffAppliance(services);
  const demo = await world.exporter({
    ...(demoEnvironment({}, services) as Record<string, string>),
    ...EACH_MINUTE,
  });
  const start = clock.now() + 60_000;
  const looks = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    await clock.advance(60_000);
    looks.push(samplesOf(await demo.scrape()));
  }
  const named = arrivals(looks, 1, start)
    .flat()
    .map(({ alertname, filer }) => `${alertname} ${filer ?? ''}`);
  return [...new Set(named)];
}

test.runIf(hasPromtool)('the demo sends one alert in forty minutes: about the appliance that is off', async () => {
  expect(await arriving(40, true)).toEqual(['FilerNotCheckingIn edge-denver']);
});

test.runIf(hasPromtool)('with --trouble it sends several in twenty minutes', async () => {
  expect((await arriving(20, false)).length).toBeGreaterThan(4);
});

// Only here: what is shown, asked and logged during an outage and after it.
import { expect, test, vi } from 'vitest';
import { STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { isAtLeast } from '../support/program.ts';
import { HOUR, Life, MINUTE, PORTAL } from './life.ts';
import { outages } from './stories/outages.ts';
import { tell } from './story.ts';

vi.setConfig({ testTimeout: 120_000 });

tell(outages, 'never');

test('a portal that is down is logged once, and not again for each appliance, and its return once', async () => {
  const life = await Life.begin({ appliances: 6, series: STANDARD_SERIES, lookMs: 10 * MINUTE });
  await life.passes(20 * MINUTE);
  const before = life.log.length;
  const over = life.fails({ operation: PORTAL, kind: 'status', status: 503 });
  await life.passes(HOUR);
  const told = life.log.slice(before).filter(({ level }) => isAtLeast(level, 'info'));
  const lines = told.map(({ msg, operation, serial }) => `${msg}: ${operation ?? serial ?? ''}`);
  expect(lines).toHaveLength(new Set(lines).size);
  expect(told.filter(({ msg }) => msg === 'the API cannot be polled')).toHaveLength(1);
  expect(told.filter(({ msg }) => msg === 'the appliance does not answer').length).toBeLessThan(3);
  over();
  await life.passes(20 * MINUTE);
  expect(life.log.filter(({ msg }) => msg === 'the API answers again')).toHaveLength(1);
});

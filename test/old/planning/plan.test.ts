import { describe, expect, test } from 'vitest';
import { type Demand, planFor } from '../../src/planning/plan.ts';
import { createPlanWarner } from '../../src/planning/warning.ts';
import type { Log } from '../../src/runtime/log.ts';
import { minutes } from '../polling/fleet.ts';

const series = (count: number, intervalMs = minutes(5)) =>
  Array.from({ length: count }, (_, index) => ({ name: `s${index}`, intervalMs }));

const discovery = { requests: 3, first: 3, intervalMs: minutes(15) };

function demand(appliances: number, more: Partial<Demand> = {}): Demand {
  return {
    variables: { interval: 'PORTAL_INTERVAL', series: 'PORTAL_SERIES', appliances: 'PORTAL_SERIALS' },
    appliances,
    series: series(15),
    additional: [discovery],
    intervalMs: minutes(5),
    limit: { requests: 500, windowMs: 30_000 },
    dailyLimit: 1_000_000,
    allowedPerSecond: 990_000 / 86_400,
    ...more,
  };
}

describe('the plan', () => {
  test('of 100 appliances takes a third of the burst limit and 43 % of the day’s', () => {
    const plan = planFor(demand(100));
    expect(plan.requestsPerCycle).toBe(1_500);
    expect(plan.burstShare).toBeCloseTo(0.3, 2);
    expect(plan.dayShare).toBeCloseTo(0.432, 2);
    expect(plan).toMatchObject({ fits: true, advice: [], effectiveIntervalMs: minutes(5), maxAgeMs: minutes(7.5) });
  });

  test.each([
    [229, true],
    [230, false],
  ])('of %d appliances fits the day, less its reserve: %s', (appliances, fits) => {
    expect(planFor(demand(appliances)).fits).toBe(fits);
  });

  test('of 2,000 appliances says how long a sweep takes, and what would help', () => {
    const plan = planFor(demand(2_000));
    expect(plan.effectiveIntervalMs / 60_000).toBeCloseTo(43.6, 1);
    expect(plan.cycleMs / 60_000).toBeCloseTo(43.6, 1);
    expect(plan.maxAgeMs / 60_000).toBeCloseTo(46.1, 1);
    expect(plan.advice[0]).toBe('a longer PORTAL_INTERVAL: 44m');
    expect(plan.advice.at(-1)).toBe('fewer appliances in PORTAL_SERIALS: 229 instead of 2000');
  });

  test('what it advises fits', () => {
    const longer = planFor(demand(2_000, { series: series(15, minutes(44)), intervalMs: minutes(44) }));
    expect(longer.fits).toBe(true);
    expect(planFor(demand(2_000, { series: series(1) })).fits).toBe(true);
  });

  test('counts a series by the interval of its own', () => {
    const own = [...series(1, minutes(1)), ...series(1, minutes(15))];
    expect(planFor(demand(15, { series: own })).requestsPerSecond).toBeCloseTo(15 * (1 / 60 + 1 / 900) + 3 / 900, 5);
  });

  test('counts what is asked beside the series, in its own rounds', () => {
    const additional = [
      discovery,
      { requests: 1, first: 1, intervalMs: minutes(5) },
      { requests: 100, first: 0, intervalMs: minutes(60) },
    ];
    const more = planFor(demand(100, { additional })).requestsPerDay - planFor(demand(100)).requestsPerDay;
    expect(more).toBeCloseTo(288 + 2_400, 5);
  });
});

test('a fleet that has become too large is told once, with the numbers, and once when it fits again', () => {
  const lines: string[] = [];
  const write = (level: string) => (fields: object, message?: string) => {
    lines.push(`${level}: ${message} ${JSON.stringify(fields)}`);
  };
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') } as Log;
  const judge = createPlanWarner(log);
  for (const appliances of [100, 300, 400, 100, 100]) judge(planFor(demand(appliances)), appliances * 15);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(
    /^warn: the limits do not allow PORTAL_INTERVAL.*"effectiveIntervalSeconds":393.*longer PORTAL_INTERVAL/,
  );
  expect(lines[1]).toMatch(/^info: the limits allow PORTAL_INTERVAL again/);
});

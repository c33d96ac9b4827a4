// Only here: a verdict that changes although nothing changes, or that is wrong.
import { expect, test } from 'vitest';
import { drawn, mostlyFailing, played } from './constant-behaviour.ts';

/** In fleet 1064, an hourly series is polled in the gap between two records of its appliance. */
const FLEETS = [...Array.from({ length: 8 }, (_, index) => 1_000 + index), 1_064];

test.each(FLEETS)(
  'a fleet that behaves the same all the time changes no verdict and no log line twice (fleet %d)',
  async (seed) => {
    const { maxChanges, maxLines, wrong, cost, story } = await played(drawn(seed), 3);
    expect({ wrong, story }).toEqual({ wrong: [], story: [] });
    expect(Math.max(maxChanges, maxLines)).toBeLessThanOrEqual(1);
    expect(cost).toBeLessThanOrEqual(1.2);
  },
);

test.each([3, 10])(
  'a service in which one of 15 series of %d appliances responds stays up, and is polled no more than a healthy one',
  async (appliances) => {
    const { wrong, cost, story } = await played(mostlyFailing(appliances), 2);
    expect({ wrong, story }).toEqual({ wrong: [], story: [] });
    expect(cost).toBeLessThanOrEqual(1);
  },
);

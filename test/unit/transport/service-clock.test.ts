import { expect, test } from 'vitest';
import { ServiceClock } from '../../../src/transport/service-clock.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const NOON = Date.UTC(2026, 2, 2, 12);
const TEN_YEARS = 315_532_800;

/** The clock after responses ten seconds apart whose `Date` differs from noon by so many seconds, and by how much it is off. */
async function measured(machineOff: number, ...seconds: readonly number[]) {
  const machine = new ManualClock(NOON + machineOff * 1000);
  const clock = new ServiceClock(machine);
  const right = () => NOON + machine.monotonic();
  for (const each of seconds) {
    await machine.advance(10_000);
    clock.addSample(right() + each * 1000);
  }
  return { clock, machine, off: () => (clock.now() - right()) / 1000 };
}

test('the time of a service is the median of its last five responses, whatever the clock of this machine shows', async () => {
  for (const machineOff of [0, 3600, -3600, TEN_YEARS, -NOON / 1000]) {
    expect((await measured(machineOff, 600, 0, 601)).off()).toBe(600);
    expect((await measured(machineOff, 0, 0, 0, -TEN_YEARS, -600)).off()).toBe(0);
    expect((await measured(machineOff, 0, 0, 0, -600, -600, -600)).off()).toBe(-600);
  }
});

test('until the third response the clock of this machine counts as one unless it shows 1970, and of two the earlier is used', async () => {
  const cases = [[3600], [3600, 0], [0, TEN_YEARS], [-3600, 0, 0], [-NOON / 1000, 0]] as const;
  const offs: number[] = [];
  for (const [machine, ...seconds] of cases) offs.push((await measured(machine, ...seconds)).off());
  expect(offs).toEqual([3600, 0, 0, 0, 0]);
});

test('a new time of this machine, or a pause of the process, changes the difference and not the time of the service', async () => {
  const { clock, machine, off } = await measured(0, 0, 0, 0);
  machine.step(-3_600_000);
  expect([off(), clock.skewMs]).toEqual([0, 3_600_000]);
  // Responses that arrive together, as after a pause of the process, count as one.
  for (let response = 0; response < 8; response += 1) clock.addSample(NOON - 100_000);
  expect(off()).toBe(0);
});

test('a difference is large from the fifth response on, above a minute until it is below half a minute', async () => {
  const isSkewed = async (...seconds: readonly number[]) => (await measured(0, ...seconds)).clock.isSkewed;
  expect([await isSkewed(61, 61, 61, 61), await isSkewed(60, 60, 60, 60, 60)]).toEqual([false, false]);
  expect(await isSkewed(61, 61, 61, 61, 61, 31, 31, 31)).toBe(true);
  expect(await isSkewed(61, 61, 61, 61, 61, 30, 30, 30)).toBe(false);
});

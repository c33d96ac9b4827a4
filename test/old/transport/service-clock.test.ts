import { expect, test } from 'vitest';
import { ServiceClock } from '../../src/transport/service-clock.ts';
import { ManualClock } from '../support/manual-clock.ts';

const NOON = Date.UTC(2026, 2, 2, 12);
const TEN_YEARS = 315_532_800;

/** The clock after responses ten seconds apart whose `Date` differs from noon by so many seconds, and how far it is off. */
async function measured(machineOff: number, ...seconds: readonly number[]) {
  const machine = new ManualClock(NOON + machineOff * 1000);
  const clock = new ServiceClock(machine);
  const right = NOON - machine.monotonic();
  for (const each of seconds) {
    await machine.advance(10_000);
    clock.addSample(right + machine.monotonic() + each * 1000);
  }
  return { clock, machine, off: () => (clock.now() - right - machine.monotonic()) / 1000 };
}

test('a service’s time is the median of its last five responses, whatever the clock of this machine says', async () => {
  for (const machineOff of [0, 3600, -3600, TEN_YEARS, -NOON / 1000]) {
    expect((await measured(machineOff, 600, 0, 601)).off()).toBe(600);
    expect((await measured(machineOff, 0, 0, 0, 0, 600, 600)).off()).toBe(0);
    expect((await measured(machineOff, 0, 0, 0, -600, -600, -600)).off()).toBe(-600);
  }
});

test.each([TEN_YEARS, 3600, -3600, -TEN_YEARS])('no single response that is %d s off moves it', async (off) => {
  for (const wrong of [2, 3, 4, 5, 6]) {
    const seconds = Array.from({ length: 7 }, (_, index) => (index === wrong ? off : 0));
    for (let until = wrong + 1; until <= 7; until += 1)
      expect((await measured(0, ...seconds.slice(0, until))).off()).toBe(0);
  }
});

test('until the third response this machine’s clock counts as one, and of two the earlier is used', async () => {
  expect((await measured(3600)).off()).toBe(3600);
  expect((await measured(3600, 0)).off()).toBe(0);
  expect((await measured(0, TEN_YEARS)).off()).toBe(0);
  expect((await measured(-3600, 0, 0)).off()).toBe(0);
  // In 1970 it cannot be right.
  expect((await measured(-NOON / 1000, 0)).off()).toBe(0);
});

test('setting the clock of this machine changes the difference and not the time of the service', async () => {
  const { clock, machine, off } = await measured(0, 0, 0, 0);
  machine.step(-3_600_000);
  expect([off(), clock.skewMs]).toEqual([0, 3_600_000]);
});

test('the difference is known from the third response on, large from the fifth, and around the threshold the verdict stays', async () => {
  expect((await measured(0, 600, 600)).clock.skewMs).toBeUndefined();
  const isSkewed = async (...seconds: readonly number[]) => (await measured(0, ...seconds)).clock.isSkewed;
  expect(await isSkewed(61, 61, 61, 61)).toBe(false);
  expect(await isSkewed(61, 61, 61, 61, 61, 59, 59, 59)).toBe(true);
  expect(await isSkewed(61, 61, 61, 61, 61, 29, 29, 29)).toBe(false);
});

test('responses that arrive together, as after a pause of the process, count as one', async () => {
  const { clock, off } = await measured(0, 0, 0, 0);
  for (let response = 0; response < 8; response += 1) clock.addSample(NOON - 100_000);
  expect([off(), clock.isSkewed]).toEqual([0, false]);
});

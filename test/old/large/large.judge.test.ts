import { expect, test } from 'vitest';
import { writeRequest } from '../../src/history/write-request.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { going } from '../support/mock-api.ts';
import { HOUR, heapNow, Large } from './large.ts';

/* Each rule of the model of large fleets, broken once. */

async function lived(hours: number) {
  const large = await Large.begin({ appliances: 5, intervalMinutes: 5 });
  await large.passes(hours * HOUR);
  return large;
}

test('a minute that neither arrived nor was reported is found', async () => {
  const large = await lived(3);
  expect(await large.expectMinutes()).toBe(0);
  await large.passes(HOUR);
  large.receiver.lose(180);
  await expect(large.expectMinutes()).rejects.toThrow('neither delivered nor reported');
});

test('a minute that arrived twice is found', async () => {
  const large = await lived(3);
  const [{ serial } = { serial: '' }] = large.fleet.appliances;
  const again = { labels: [['serial', serial] as const], times: [large.clock.now() - HOUR], values: [1] };
  await large.receiver.send({}, runToEnd(writeRequest([again])), going);
  await expect(large.expectMinutes()).rejects.toThrow('minutes that arrived twice');
});

test('whatever an hour takes more of than before is found, and a poll that is missing', async () => {
  const large = await lived(1);
  const before = await large.steady();
  for (const what of Object.keys(before)) {
    const more = { ...before, [what]: 1e12 };
    expect(() => large.expectSame(before, more), what).toThrow('to deeply equal');
  }
  expect(() => large.expectSame(before, { ...before, polls: 0 })).toThrow();
});

test('what is kept for good is found in the memory', async () => {
  const large = await lived(1);
  const before = { ...(await large.steady()), heapBytes: heapNow() };
  const kept = Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
  expect(() => large.expectSame(before, { ...before, heapBytes: heapNow() })).toThrow('heapBytes');
  expect(kept).toHaveLength(1_000_000);
});

test('an appliance that goes down and up has changed twice', async () => {
  const large = await lived(1);
  await large.steady();
  const on = large.fleet.off(large.fleet.appliances.slice(0, 1));
  await large.passes(HOUR);
  on();
  await large.passes(HOUR);
  expect(large.mostChanges()).toBe(2);
});

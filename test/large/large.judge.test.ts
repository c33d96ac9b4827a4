import { expect, test } from 'vitest';
import { HOUR, Large } from './large.ts';

/* Each rule of the model of large fleets, broken once. */

async function threeHours() {
  const large = await Large.begin({ appliances: 5, intervalMinutes: 5 });
  await large.passes(3 * HOUR);
  expect(await large.expectMinutes()).toBe(0);
  const [[, held] = [undefined, undefined]] = large.receiver.series;
  if (held === undefined) throw new Error('nothing arrived');
  return { large, held };
}

test('a minute that neither arrived nor was reported is found', async () => {
  const { large, held } = await threeHours();
  for (const [, { times }] of large.receiver.series)
    for (const time of [...times.keys()].slice(10, 12)) times.delete(time);
  expect(held.times.size).toBeGreaterThan(100);
  await expect(large.expectMinutes()).rejects.toThrow('neither delivered nor reported');
});

test('a minute that arrived twice is found', async () => {
  const { large } = await threeHours();
  large.receiver.repeated += 1;
  await expect(large.expectMinutes()).rejects.toThrow('minutes that arrived twice');
});

test('more polls, a longer page and a longer queue than before are found', async () => {
  const large = await Large.begin({ appliances: 5, intervalMinutes: 5 });
  await large.passes(HOUR);
  const before = await large.steady();
  for (const what of Object.keys(before)) {
    expect(() => large.expectSame(before, { ...before, [what]: 1e9 }), what).toThrow(what);
  }
  expect(() => large.expectSame(before, { ...before, polls: 0 })).toThrow();
});

test('an appliance that goes down and up has changed twice', async () => {
  const large = await Large.begin({ appliances: 5, intervalMinutes: 5 });
  await large.passes(HOUR);
  await large.steady();
  const on = large.fleet.off(large.fleet.appliances.slice(0, 1));
  await large.passes(HOUR);
  on();
  await large.passes(HOUR);
  expect(large.mostChanges).toBe(2);
});

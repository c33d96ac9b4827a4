import { expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { HOUR_MS, MINUTE_MS, rfc3339 } from '../../src/demo/world/waveforms.ts';
import { type Fields, get, items, start } from './ask.ts';

test('new ones appear, and old ones stay what they were', async () => {
  const { mocks, clock } = await start();
  const since = `?start_date=${rfc3339(clock.now() - HOUR_MS)}&limit=500`;
  const before = items(await get(mocks, `/notifications${since}`));
  await clock.advance(20 * MINUTE_MS);
  const after = items(await get(mocks, `/notifications${since}`));
  expect(after).toEqual(expect.arrayContaining([...before]));
  expect(after.length).toBeGreaterThan(before.length);
  expect(new Set(after.map(({ id }) => id)).size).toBe(after.length);
});

test('pages follow each other by the cursor, each notification once, and the last has none', async () => {
  const { mocks, clock } = await start();
  const since = `?start_date=${rfc3339(clock.now() - 3 * HOUR_MS)}`;
  const query = `${since}&limit=20`;
  const whole = items(await get(mocks, `/notifications${since}&limit=500`));
  const seen: Fields[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const heard = await get(mocks, `/notifications${query}${cursor === '' ? '' : `&iterator_id=${cursor}`}`);
    seen.push(...items(heard));
    const { metadata } = heard.json as { metadata: { iterator_id: string | null } };
    expect(metadata).toMatchObject({ page_size: 20, total_items: whole.length });
    cursor = metadata.iterator_id;
    // What comes in meanwhile belongs to no page of this list.
    await clock.advance(MINUTE_MS);
  }
  expect(seen.length).toBeGreaterThan(40);
  expect(seen).toEqual(whole);
});

test('a cursor is good for the query that it came from and no other', async () => {
  const { mocks, clock } = await start();
  const query = `?start_date=${rfc3339(clock.now() - 3 * HOUR_MS)}&limit=5`;
  const cursor = await cursorOf(mocks, query);
  expect((await get(mocks, `/notifications${query}&iterator_id=${cursor}`)).status).toBe(200);
  expect((await get(mocks, `/notifications${query}&severity=INFO&iterator_id=${cursor}`)).status).toBe(400);
});

async function cursorOf(mocks: MockServices, query: string): Promise<string> {
  const { json } = await get(mocks, `/notifications${query}`);
  return (json as { metadata: { iterator_id: string } }).metadata.iterator_id;
}

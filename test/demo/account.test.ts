import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/demo/world/signals.ts';
import { type Fields, get, items, start } from './ask.ts';

test('jobs run, and are done or fail; a failure is acknowledged in time', async () => {
  const { standIn, clock } = await start();
  const before = items(await get(standIn, '/jobs'));
  expect(new Set(before.map(({ state }) => state))).toEqual(new Set(['in_progress', 'completed', 'failed']));
  expect(before.some((job) => job.state === 'failed' && job.user_acknowledged_at === null)).toBe(true);
  expect(before.some((job) => job.user_acknowledged_at !== null)).toBe(true);
  const running = before.filter(({ state }) => state === 'in_progress').map(({ id }) => id);
  await clock.advance(5 * HOUR_MS);
  const after = items(await get(standIn, '/jobs'));
  expect(after.filter(({ id }) => running.includes(id)).every(({ state }) => state !== 'in_progress')).toBe(true);
  const [newest] = after;
  expect(before.map(({ id }) => id)).not.toContain(newest?.id);
  expect((await get(standIn, `/jobs/${newest?.id}`)).json).toEqual(newest);
});

test('jobs can be filtered by resource and action', async () => {
  const { standIn } = await start();
  const volumes = items(await get(standIn, '/jobs?resource=volume'));
  expect(new Set(volumes.map(({ action }) => action))).toEqual(new Set(['rename_volume']));
  expect(items(await get(standIn, '/jobs?resource=volume&action=refresh_license'))).toEqual([]);
  expect((await get(standIn, '/jobs?resource=toaster')).status).toBe(422);
});

test('there is a credential for each cloud and each edge; some fail, and one cloud is not in use', async () => {
  const { standIn } = await start({ appliances: 40 });
  const all = items(await get(standIn, '/cloud-credentials?limit=200'));
  const edges = standIn.fleet.appliances.filter(({ kind }) => kind === 'edge');
  expect(all).toHaveLength(3 * edges.length);
  expect(new Set(all.map(({ status }) => status))).toEqual(expect.objectContaining(new Set(['synced', 'failed'])));
  for (const one of all) expect(one.error === null).toBe(one.status !== 'failed');
  const unused = new Set(all.filter((one) => (one.volumes as unknown[]).length === 0).map(({ name }) => name));
  expect(unused).toContain('former-objects');
  expect(
    all.filter(({ name }) => name === 'former-objects').every((one) => (one.volumes as unknown[]).length === 0),
  ).toBe(true);
  const [first] = all;
  const serial = `appliance_serials=${first?.appliance_serial}`;
  expect(items(await get(standIn, `/cloud-credentials?${serial}`))).toHaveLength(3);
  expect(items(await get(standIn, `/cloud-credentials?${serial}&providers=azure`))).toHaveLength(1);
  expect((await get(standIn, `/cloud-credentials/${first?.id}`)).json).toEqual(first);
});

test('credentials come fifty a page, by cursor', async () => {
  const { standIn } = await start({ appliances: 40 });
  const first = await get(standIn, '/cloud-credentials');
  const { iterator_id, total_items } = (first.json as { metadata: Record<string, unknown> }).metadata;
  expect(items(first)).toHaveLength(50);
  const second = await get(standIn, `/cloud-credentials?iterator_id=${iterator_id}`);
  expect(items(second)).toHaveLength(Math.min(50, Number(total_items) - 50));
  expect(items(second)[0]).not.toEqual(items(first)[0]);
  for (const query of ['limit=0', 'page=0', 'providers=nobody', 'sort_direction=asc']) {
    expect((await get(standIn, `/cloud-credentials?${query}`)).status, query).toBe(422);
  }
});

test('the account has more and more files indexed, until the limit is passed', async () => {
  const { standIn, clock } = await start();
  const counts = async () => ((await get(standIn, '/account/ai_activate')).json as { mcp: Record<string, number> }).mcp;
  const before = await counts();
  expect(before.remaining).toBe(Number(before.subscribed_limit) - Number(before.consumed));
  await clock.advance(5 * 24 * HOUR_MS);
  expect((await counts()).remaining).toBeLessThan(0);
});

test('indexing goes through its states, one volume fails, and one is not indexed at all', async () => {
  const { standIn, clock } = await start();
  const states = new Set<unknown>();
  for (let step = 0; step < 20; step += 1) {
    for (const { status } of items(await get(standIn, '/ai_activate/inventories'))) states.add(status);
    await clock.advance(MINUTE_MS);
  }
  expect(states).toEqual(
    new Set([
      ...['Full Content Index Complete', 'Incremental Content Index in progress'],
      ...['Incremental Content Index failed', 'Metadata Index Complete'],
    ]),
  );
  const named = items(await get(standIn, '/ai_activate/inventories')).map(({ volume_name }) => volume_name);
  expect(named).not.toContain('home');
  expect(items(await get(standIn, '/ai_activate/indexes')).map(({ volume_name }) => volume_name)).not.toContain(
    'media',
  );
  expect((await get(standIn, '/ai_activate/inventories?status=Not%20Indexed')).status).toBe(422);
});

test('the licence says when it ends, or that it never does', async () => {
  const { standIn } = await start({ variations: { licenceExpiresAt: Date.UTC(2026, 5, 30) } });
  const license = async () => (await get(standIn, '/account/license')).json;
  expect(await license()).toMatchObject({
    subscription_expiration: '2026-06-30T00:00:00Z',
    subscription_status: 'active',
  });
  standIn.vary({ licenceExpiresAt: null });
  expect(await license()).toMatchObject({ subscription_expiration: null });
});

test('an appliance is out of reach for the last five minutes of each half hour', async () => {
  const { standIn, clock } = await start();
  const lost = async () =>
    items(await get(standIn, '/edges'))
      .filter((edge) => edge.is_reachable === false)
      .map(({ description }) => description);
  expect(await lost()).toEqual(['edge-lima']);
  await clock.advance(27 * MINUTE_MS);
  expect(await lost()).toEqual(['edge-lima', 'edge-perth']);
  await clock.advance(5 * MINUTE_MS);
  expect(await lost()).toEqual(['edge-lima']);
});

test('what the portal tells of people and secrets is all on the list of what must never leave', async () => {
  const { standIn } = await start();
  const told = await Promise.all(
    [
      ...['/account', '/iam/users', '/iam/service_keys', '/iam/user_keys', '/gfa/api_keys', '/cloud-credentials'],
      ...['/configuration/sso', '/configuration/s3_edge', '/uaas/analytics_connector'],
    ].map(async (path) => (await get(standIn, path)).json),
  );
  const secretive = /^(email|first_name|last_name|phone|username|key|access_key|secret)$/;
  const values = found(told, secretive).filter((value) => value !== 'public');
  expect(values.length).toBeGreaterThan(20);
  expect([...new Set(values)].filter((value) => !standIn.confidential.includes(value))).toEqual([]);
});

/** The texts of every field of a name, however deep. */
function found(value: unknown, name: RegExp): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as Fields).flatMap(([field, inner]) =>
    typeof inner === 'string' ? (name.test(field) ? [inner] : []) : found(inner, name),
  );
}

import { expect, test } from 'vitest';
import type { StandIn } from '../../src/demo/stand-in.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/demo/world/signals.ts';
import { ask, type Fields, get, type Heard, items, signIn, start } from './ask.ts';

test('each snapshot has a version one above the last, and its phases in order', async () => {
  const { standIn } = await start();
  const details = items(await told(standIn, 'projects', 'snapshot_details'));
  expect(details.length).toBeGreaterThanOrEqual(19);
  const versions = details.map((one) => Number(one.volume_version));
  expect(versions).toEqual(versions.map((_, place) => Number(versions[0]) + place));
  for (const one of details) {
    expect(one.time).toBe(one.metadata_snapshot_end);
    expect(one.metadata_snapshot_end).toBeGreaterThan(Number(one.metadata_snapshot_start));
    if (one.data_snapshot_start === null) expect(one).toMatchObject({ protect_mean: null, oud: null });
    else expect(one.metadata_snapshot_start).toBeGreaterThan(Number(one.data_snapshot_end));
  }
  expect(details.some((one) => one.data_snapshot_start === null)).toBe(true);
});

test('snapshots go on as time does, and what was said of one is said of it again', async () => {
  const { standIn, clock } = await start();
  const before = items(await told(standIn, 'design', 'snapshot_details'));
  await clock.advance(10 * MINUTE_MS);
  const after = items(await told(standIn, 'design', 'snapshot_details', { period: 'PT2H' }));
  expect(after).toEqual(expect.arrayContaining([...before]));
  expect(Number(after.at(-1)?.volume_version)).toBeGreaterThan(Number(before.at(-1)?.volume_version));
});

test('the timeline, the content and the times to protect are of the same snapshots', async () => {
  const { standIn } = await start();
  const details = items(await told(standIn, 'archive', 'snapshot_details'));
  const timeline = (await told(standIn, 'archive', 'snapshot_timeline')).json as Record<string, readonly Fields[]>;
  const finished = timeline.metadata_events?.filter(({ phase }) => phase === 'metadata_snapshot') ?? [];
  const failed = timeline.metadata_events?.filter(({ phase }) => phase === 'metadata_snapshot_failed') ?? [];
  expect(finished.map(({ volume_version }) => volume_version)).toEqual(details.map((one) => one.volume_version));
  expect(failed.length).toBeGreaterThan(0);
  expect(timeline.data_events).toHaveLength(details.filter((one) => one.data_snapshot_start !== null).length);
  const contents = items(await told(standIn, 'archive', 'snapshot_content'));
  expect(contents.map((one) => one.directory_count)).toEqual(details.map((one) => one.dir_count));
  const means = items(await told(standIn, 'archive', 'average_time_to_protect')).flatMap(
    (one) => one.snapshots as readonly Fields[],
  );
  expect(means.map(({ protect_mean }) => protect_mean).sort()).toEqual(
    details.flatMap(({ protect_mean }) => (protect_mean === null ? [] : [protect_mean])).sort(),
  );
});

test('a snapshot reaches the other appliances later, each by its own way from the mean', async () => {
  const { standIn } = await start();
  const heard = await told(standIn, 'projects', 'snapshot_propagation_by_appliance');
  const [first] = items(heard);
  expect(first).toBeDefined();
  for (const one of items(heard)) {
    expect(one.snapshot_serial_number).not.toBe(one.sync_serial_number);
    expect(Number(one.sync_time)).toBe(Number(one.snapshot_time) + Number(one.propagation_duration));
    expect(one.deviation).toBe(Number(one.propagation_duration) - Number(one.average_propagation_duration));
  }
  expect(heard.json).toMatchObject({ sync_appliances: expect.arrayContaining([first?.sync_appliance]) });
});

test('only the appliances asked about are told of', async () => {
  const { standIn } = await start();
  const [all] = [items(await told(standIn, 'projects', 'snapshot_details'))];
  const serial = String(all[0]?.serial_number);
  const one = items(await told(standIn, 'projects', 'snapshot_details', { serial_numbers: [serial.toUpperCase()] }));
  expect(one).toEqual(all.filter((record) => record.serial_number === serial));
});

test.each([
  ['no list of serials', { serial_numbers: undefined }],
  ['an empty list', { serial_numbers: [] }],
  ['a serial that is no UUID', { serial_numbers: ['edge-lyon'] }],
  ['a period below six minutes', { period: 'PT5M' }],
  ['a width out of range', { chart_width: 20 }],
  ['a sampling that is no boolean', { smart_sampling: 'yes' }],
  ['a field of the other telemetry', { bin_size: 60 }],
])('%s is 422', async (_, change) => {
  const { standIn } = await start();
  expect(await told(standIn, 'projects', 'snapshot_details', change)).toMatchObject({
    status: 422,
    json: { message: expect.any(String), detail: [{ loc: ['body', expect.any(String)] }] },
  });
});

test('without the licence it is 403, and whole numbers, decimals and nulls vary as the others', async () => {
  const { standIn } = await start({ variations: { opsIqPremium: false } });
  expect((await told(standIn, 'projects', 'snapshot_details')).status).toBe(403);
  standIn.vary({ opsIqPremium: true, integers: 'string', decimals: 'number' });
  const [first] = items(await told(standIn, 'archive', 'snapshot_details'));
  expect(first).toMatchObject({ volume_version: expect.stringMatching(/^\d+$/), dir_count: expect.any(String) });
  standIn.vary({ nulls: 1 });
  const [empty] = items(await told(standIn, 'archive', 'snapshot_details'));
  expect(empty).toMatchObject({ oud: null, protect_max: null, file_count_total: null });
});

test('unprotected bytes grow, and shrink when the appliance has taken its snapshot', async () => {
  const { standIn, clock } = await start({ appliances: 4, volumes: 1 });
  const levels: number[] = [];
  const statuses = new Set<unknown>();
  for (let step = 0; step < 90; step += 1) {
    const [row] = items(await get(standIn, '/volume_connections'));
    levels.push(Number(row?.unprotected_data));
    statuses.add(row?.current_snapshot_status);
    await clock.advance(MINUTE_MS / 3);
  }
  const steps = levels.slice(1).map((level, place) => level - Number(levels[place]));
  expect(steps.filter((step) => step > 0).length).toBeGreaterThan(60);
  expect(steps.filter((step) => step < -1e6).length).toBeGreaterThanOrEqual(1);
  expect([...statuses]).toEqual(expect.arrayContaining(['in_progress', 'succeeded']));
});

test('the silent appliance takes no snapshots, and what it holds piles up', async () => {
  const { standIn, clock } = await start();
  const held = async () => {
    const rows = items(await get(standIn, '/volume_connections?appliance_names=edge-lima'));
    return rows.map((row) => Number(row.unprotected_data));
  };
  await clock.advance(3 * HOUR_MS);
  const before = await held();
  await clock.advance(24 * HOUR_MS);
  const after = await held();
  expect(before.length).toBeGreaterThan(0);
  for (const [place, level] of after.entries()) expect(level).toBeGreaterThan(3 * Number(before[place]));
});

async function told(standIn: StandIn, title: string, segment: string, change: Fields = {}): Promise<Heard> {
  const { access } = await signIn(standIn);
  const id = standIn.fleet.volumes.find((volume) => volume.title === title)?.portalId;
  const serial_numbers = standIn.fleet.appliances.map(({ serial }) => serial);
  return ask('POST', `${standIn.portalUrl}/telemetry/volumes/${id}/${segment}`, {
    headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
    body: JSON.stringify({ period: 'PT1H', serial_numbers, ...change }),
  });
}

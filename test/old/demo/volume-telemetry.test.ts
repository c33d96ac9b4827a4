import { expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { ask, type Fields, type Heard, items, signIn, start } from './ask.ts';

test('each snapshot has a version one above the last, and its phases in order', async () => {
  const { mocks } = await start();
  const details = items(await told(mocks, 'projects', 'snapshot_details'));
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

test('the timeline and the details are of the same snapshots', async () => {
  const { mocks } = await start();
  const details = items(await told(mocks, 'archive', 'snapshot_details'));
  const timeline = (await told(mocks, 'archive', 'snapshot_timeline')).json as Record<string, readonly Fields[]>;
  const finished = timeline.metadata_events?.filter(({ phase }) => phase === 'metadata_snapshot') ?? [];
  const failed = timeline.metadata_events?.filter(({ phase }) => phase === 'metadata_snapshot_failed') ?? [];
  expect(finished.map(({ volume_version }) => volume_version)).toEqual(details.map((one) => one.volume_version));
  expect(failed.length).toBeGreaterThan(0);
  expect(timeline.data_events).toHaveLength(details.filter((one) => one.data_snapshot_start !== null).length);
});

test('only the appliances asked about are told of', async () => {
  const { mocks } = await start();
  const [all] = [items(await told(mocks, 'projects', 'snapshot_details'))];
  const serial = String(all[0]?.serial_number);
  const one = items(await told(mocks, 'projects', 'snapshot_details', { serial_numbers: [serial.toUpperCase()] }));
  expect(one).toEqual(all.filter((record) => record.serial_number === serial));
});

async function told(mocks: MockServices, title: string, segment: string, change: Fields = {}): Promise<Heard> {
  const { access } = await signIn(mocks);
  const id = mocks.fleet.volumes.find((volume) => volume.title === title)?.portalId;
  const serial_numbers = mocks.fleet.appliances.map(({ serial }) => serial);
  return ask('POST', `${mocks.portalUrl}/telemetry/volumes/${id}/${segment}`, {
    headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
    body: JSON.stringify({ period: 'PT1H', serial_numbers, ...change }),
  });
}

// Only here: a count that falls or jumps in the answers of an hour.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/metrics/family.ts';
import { ahead, oneByOne, parts, records, shortened } from '../harness/bodies.ts';
import { HOUR, MINUTE, World } from '../harness/world.ts';

const DATA = /\/gfa\/v1\/data/;

test('filers that are named one an answer keep their counts', async () => {
  const life = await World.begin({ gfa: true, portal: false, appliances: 5 });
  const one = oneByOne();
  life.edits({ path: DATA, change: (body) => records(body, 'filers', one) });
  const { scrape } = await life.passes(30 * MINUTE);
  expect(scrape.sum('filer_lock_events_total')).toBeGreaterThan(0);
});

test('an answer without volumes and filers for half an hour takes no count away', async () => {
  const life = await World.begin({ gfa: true, portal: false, variations: { delivery: 'overlapping' } });
  await life.passes(10 * MINUTE);
  const calm = life.edits({
    path: DATA,
    change: (body) => ({
      ...parts(body, (part) => ({ ...part, filers: [], volumes: [], locks: [], propagation: [] })),
      info: { ...((body as JsonObject).info as JsonObject), volumes: [] },
    }),
  });
  await life.passes(30 * MINUTE);
  calm();
  await life.passes(10 * MINUTE);
});

test('a record dated a day ahead is replaced by the next answer', async () => {
  const life = await World.begin({ gfa: true, portal: false });
  await life.passes(5 * MINUTE);
  const at = life.clock.now();
  const calm = life.edits({
    path: DATA,
    change: (body) => records(body, 'filers', (all) => all.map((one) => ({ ...ahead(one, 86_400), last_checkin: 42 }))),
  });
  await life.passes(2 * MINUTE);
  calm();
  life.edits({
    path: DATA,
    change: (body) => records(body, 'filers', (all) => all.map((one) => ({ ...one, last_checkin: 43_200 }))),
  });
  const { scrape } = await life.passes(3 * MINUTE);
  for (const { value } of scrape.all('filer_last_checkin_timestamp_seconds'))
    expect(value).toBeLessThan(at / 1000 - 40_000);
});

test('events dated eight hours ahead stop no count', async () => {
  const life = await World.begin({ gfa: true, portal: false });
  await life.passes(10 * MINUTE);
  const calm = life.edits({
    path: DATA,
    change: (body) => records(body, 'locks', (all) => all.map((one) => ahead(one, 28_800))),
  });
  await life.passes(5 * MINUTE);
  calm();
  const before = (await life.sees()).scrape.sum('filer_lock_events_total');
  const { scrape } = await life.passes(HOUR);
  expect(scrape.sum('filer_lock_events_total') - before).toBeGreaterThan(10);
});

test('a list of jobs that is half once adds nothing to the count of jobs', async () => {
  const life = await World.begin({ environment: { PORTAL_COLLECTORS: 'telemetry,jobs' } });
  const { scrape: first } = await life.passes(15 * MINUTE);
  const calm = life.edits({ path: /\/portal\/jobs/, change: (body) => shortened(body, 0.5) });
  await life.passes(6 * MINUTE);
  calm();
  const { scrape } = await life.passes(10 * MINUTE);
  const more = scrape.sum('filer_jobs_finished_total') - first.sum('filer_jobs_finished_total');
  expect(more).toBeLessThan(20);
});

test('a list of jobs that is empty first and full then makes no job of the past new', async () => {
  const life = await World.begin({ environment: { PORTAL_COLLECTORS: 'telemetry,jobs' }, later: true });
  const calm = life.edits({ path: /\/portal\/jobs/, change: (body) => shortened(body, 0) });
  await life.starts();
  await life.passes(6 * MINUTE);
  calm();
  const { scrape } = await life.passes(20 * MINUTE);
  expect(scrape.sum('filer_jobs_finished_total')).toBeLessThan(20);
});

test('a list of volume connections that is empty once counts no snapshot anew', async () => {
  const life = await World.begin({
    environment: { PORTAL_COLLECTORS: 'telemetry,volume_telemetry=5m', PORTAL_DISCOVERY_INTERVAL: '5m' },
  });
  await life.passes(30 * MINUTE);
  const calm = life.edits({ path: /volume_connections/, change: (body) => shortened(body, 0) });
  await life.passes(7 * MINUTE);
  calm();
  await life.passes(20 * MINUTE);
});

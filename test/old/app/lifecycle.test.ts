// Only here: a defect that ends a loop of the program.
import { expect, test } from 'vitest';
import { World } from '../harness/world.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { gfaEnvironment } from '../support/real-services.ts';

test('a defect that ends the polls is one line, and the program ends with its state saved', async () => {
  const world = await World.begin({ later: true });
  const disk = new MemoryStore();
  let isDefective = false;
  const random = () => {
    if (isDefective) throw new TypeError('a defect');
    return 0.5;
  };
  const environment = { ...gfaEnvironment(world.services), STATE_FILE: '/var/lib/filer-exporter/state' };
  const live = await world.exporter(environment, { random, openState: () => disk });
  await world.until('events', async () => (await live.scrape()).all('filer_lock_events_total').length > 0);
  const before = disk.written;
  isDefective = true;
  let failed: Error | undefined;
  void live.app.failed.then((defect) => {
    failed = defect;
  });
  await world.until('the end of the polls', () => failed !== undefined);
  await live.stop();
  const lines = live.log.filter(({ level }) => level === 'error');
  expect(lines).toMatchObject([{ msg: 'internal error; stopping; please report', err: { message: 'a defect' } }]);
  expect(disk.written).toBeGreaterThan(before);
});

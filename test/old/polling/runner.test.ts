import { describe, expect, test } from 'vitest';
import { settle } from '../support/manual-clock.ts';
import { answered, dataTask, fleet, inventory, minutes, nothing, records, task } from './fleet.ts';
import { broken, hanging, Stage } from './running.ts';

const suspendable = { suspendedIntervalMs: minutes(15) };

describe('polling', () => {
  test('every task is polled at once, and then once in each of its intervals', async () => {
    const stage = new Stage(fleet(3, 4)).run();
    await stage.clock.advance(1);
    expect(stage.started).toHaveLength(12);
    await stage.clock.advance(minutes(60));
    for (const each of stage.tasks) {
      const [first, ...pauses] = stage.pausesOf(each);
      expect(first).toBeGreaterThan(0.5);
      expect(first).toBeLessThan(1.5);
      for (const pause of pauses) expect(pause).toBeCloseTo(1, 3);
    }
    expect(stage.maxOfOne).toBe(1);
  });

  test('no more polls are under way than there are workers, and none of a task twice', async () => {
    const stage = new Stage(fleet(20, 2), 4);
    stage.manner = (_, nth) => ({ ms: 1_000 * nth });
    await stage.run().clock.advance(minutes(30));
    expect([stage.most, stage.maxOfOne]).toEqual([4, 1]);
  });

  test('a poll that never ends holds one worker and nothing else', async () => {
    const stage = new Stage(fleet(3, 1), 2);
    stage.manner = ({ id }) => (id === 'a0/s0' ? { ms: Number.POSITIVE_INFINITY } : {});
    await stage.run().clock.advance(minutes(60));
    expect(stage.startsOf('a0/s0')).toHaveLength(1);
    expect(stage.startsOf('a1/s0').length).toBeGreaterThanOrEqual(12);
  });

  test('a task that comes due between two looks at the clock is polled then', async () => {
    const stage = new Stage([{ ...dataTask, intervalMs: 1_000 }]);
    const { clock } = stage;
    const [time, sleep] = [clock.monotonic.bind(clock), clock.sleep.bind(clock)];
    const lookMs = 0.001;
    let looks = 0;
    clock.monotonic = () => {
      looks += 1;
      return time() + looks * lookMs;
    };
    // A timer of Node.js fires up to a millisecond early.
    clock.sleep = (ms, signal) => sleep(ms - 2.5 * lookMs, signal);
    await stage.run().clock.advance(30_000);
    expect(stage.started.length).toBeGreaterThanOrEqual(30);
  });

  test('goes on where what it brought cannot be taken by an output, which is a failure', async () => {
    const stage = new Stage([inventory, ...fleet(3, 1)], 2);
    const { accept } = stage.shelf;
    stage.shelf.accept = (origin, brought) => {
      if (origin.id === 'a0/s0') throw new TypeError('cannot take this');
      return accept.call(stage.shelf, origin, brought);
    };
    await stage.run().clock.advance(minutes(60));
    for (const { id } of fleet(3, 1)) expect(stage.startsOf(id).length).toBeGreaterThanOrEqual(6);
    expect(stage.poller.registry.get('a0/s0')?.facts.error?.message).toBe('cannot take this');
    expect([stage.shelf.up('a0'), stage.shelf.up('a1')]).toEqual(['a0 0', 'a1 1']);
    expect(stage.startsOf('inventory').length).toBeGreaterThanOrEqual(4);
  });

  test('ends with the error of a defect, so that the program can save its state and stop', async () => {
    const stage = new Stage(fleet(2, 1));
    stage.shelf.publishState = () => {
      throw new TypeError('a defect');
    };
    const ended = stage.poller.run(new AbortController().signal).catch((defect: unknown) => defect);
    expect(await stage.clock.through(ended, 1_000)).toMatchObject({ message: 'a defect' });
    expect(stage.clock.sleeping).toBe(0);
  });

  test('a stop ends every poll and every sleep at once', async () => {
    const stage = new Stage(fleet(10, 2), 8);
    stage.manner = () => hanging;
    stage.run();
    await stage.clock.advance(10);
    await stage.stop();
    await settle();
    expect([stage.clock.monotonic(), stage.clock.sleeping]).toEqual([10, 0]);
    expect(stage.shelf.held.size).toBe(0);
    const started = stage.started.length;
    await stage.clock.advance(minutes(60));
    expect(stage.started).toHaveLength(started);
  });

  test('of nothing waits quietly until it is stopped', async () => {
    const stage = new Stage([]).run();
    await stage.clock.advance(minutes(300));
    await stage.stop();
    expect(stage.clock.sleeping).toBe(0);
  });
});

describe('failures', () => {
  test('of one appliance delay it alone, to at most two intervals, until it responds', async () => {
    const stage = new Stage(fleet(5, 2));
    let corrected = false;
    stage.manner = ({ appliance }) => (appliance?.serial === 'a0' && !corrected ? broken : {});
    await stage.run().clock.advance(minutes(120));
    const [first, second] = fleet(5, 2);
    const pauses = stage.pausesOf(first ?? dataTask).slice(2);
    for (const pause of pauses) expect(pause).toBeCloseTo(1.9);
    expect(stage.startsOf('a1/s0').length).toBeGreaterThanOrEqual(23);
    corrected = true;
    const now = stage.clock.monotonic();
    await stage.clock.advance(minutes(60));
    // The second response has to confirm that the appliance is back, and follows a little earlier.
    for (const pause of stage.pausesOf(second ?? dataTask, now).slice(2)) expect(pause).toBeCloseTo(1, 3);
  });

  test('of the one task of an API do not delay it', async () => {
    const stage = new Stage([dataTask], 1);
    stage.manner = () => broken;
    await stage.run().clock.advance(minutes(60));
    for (const pause of stage.pausesOf(dataTask).slice(1)) expect(pause).toBeCloseTo(1, 3);
  });

  test('of the inventory are tried again soon, and later and later', async () => {
    const stage = new Stage([inventory, ...fleet(3, 1)]);
    stage.manner = ({ discoversTasks }) => (discoversTasks ? broken : {});
    await stage.run().clock.advance(minutes(120));
    const seconds = stage.pausesOf(inventory).map((pause) => Math.round((pause * inventory.intervalMs) / 1000));
    expect(seconds.slice(0, 8)).toEqual([14, 29, 57, 114, 228, 456, 855, 855]);
  });
});

describe('what is not to be had', () => {
  test.each([
    ['404', answered(404)],
    ['403', answered(403)],
    ['422', answered(422)],
  ])('after a %s is asked again at the pace of the discovery only, and noticed when it is there', async (_, comes) => {
    const series = task('a0/s0', suspendable);
    const stage = new Stage([series, task('a0/s1', suspendable)]);
    let there = false;
    stage.manner = ({ id }) => (id === series.id && !there ? { comes } : {});
    await stage.run().clock.advance(minutes(60));
    // Once more at its next slot, and then each time after a rest.
    const [slot = Number.NaN, ...rests] = stage.pausesOf(series);
    expect(slot).toBeLessThan(1.5);
    expect(rests.map((pause) => Math.round(pause * 10) / 10)).toEqual([2.9, 2.9, 2.9]);
    expect(stage.suspended).toBe(1);
    there = true;
    await stage.clock.advance(minutes(60));
    expect(stage.startsOf(series.id, minutes(60)).length).toBeGreaterThanOrEqual(9);
    expect(stage.suspended).toBe(0);
  });

  test('is had again within two intervals, however long a gateway has answered 404 to everything', async () => {
    for (const minutesLong of [1, 8, 11, 30]) {
      const stage = new Stage([inventory, ...fleet(20, 3, suspendable)], 8);
      const end = minutes(60 + minutesLong);
      const isOn = () => stage.clock.monotonic() >= minutes(60) && stage.clock.monotonic() < end;
      stage.manner = ({ discoversTasks }) => (isOn() && !discoversTasks ? { comes: answered(404) } : {});
      await stage.run().clock.advance(end + 2 * minutes(5));
      for (const { id } of fleet(20, 3)) expect(stage.startsOf(id, end), `${minutesLong} min: ${id}`).not.toEqual([]);
      await stage.stop();
    }
  });

  test('and comes and goes does not wake the others each time', async () => {
    const flapping = task('b/s0', suspendable);
    const lacking = fleet(20, 1, suspendable);
    const stage = new Stage([flapping, task('c/s0'), ...lacking]);
    stage.manner = ({ id }, nth) => ({
      comes: id === 'c/s0' || (id === flapping.id && nth % 3 === 0) ? records : answered(404),
    });
    await stage.run().clock.advance(minutes(600));
    // Ten hours at a rest of 13.5 to 15 minutes are 45 rounds of each; at worst they are woken once a rest.
    for (const { id } of lacking) expect(stage.startsOf(id).length).toBeLessThanOrEqual(90);
  });

  test('is a series that is asked slowly anyway with its first empty answer, as one that does not fit the build', async () => {
    const slow = task('a0/s0', { ...suspendable, intervalMs: minutes(15) });
    const stage = new Stage([slow, task('a0/s1')]);
    stage.manner = ({ id }) => (id === slow.id ? { ms: 10, comes: nothing } : {});
    await stage.run().clock.advance(minutes(1));
    expect(stage.poller.registry.get(slow.id)?.facts.suspended).toBe('empty');
  });

  test('is a series empty three times in a row while others of its appliance have records; once or twice is chance', async () => {
    const series = task('a0/s0', suspendable);
    const stage = new Stage([series, task('a0/s1', suspendable)]);
    stage.manner = ({ id }, nth) => ({ comes: id === series.id && nth < 3 ? nothing : records });
    await stage.run().clock.advance(minutes(60));
    expect(stage.suspended).toBe(0);
    const lacking = new Stage([series, task('a0/s1', suspendable)]);
    lacking.manner = ({ id }) => ({ comes: id === series.id ? nothing : records });
    await lacking.run().clock.advance(minutes(60));
    expect(lacking.suspended).toBe(1);
    expect(lacking.startsOf(series.id, minutes(20)).length).toBeLessThanOrEqual(3);
  });

  test('is not a series that ever had records, nor one of an appliance that has none: that is off', async () => {
    const stage = new Stage(fleet(2, 3, suspendable));
    let isOn = true;
    stage.manner = ({ appliance }) => ({ comes: isOn && appliance?.serial === 'a0' ? records : nothing });
    await stage.run().clock.advance(minutes(30));
    isOn = false;
    await stage.clock.advance(minutes(60));
    expect(stage.suspended).toBe(0);
    expect([stage.shelf.state('a0'), stage.shelf.state('a1'), stage.shelf.up('a0')]).toEqual([
      'no_records',
      'no_records',
      'a0 0',
    ]);
    for (const { id } of stage.tasks) expect(stage.startsOf(id, minutes(30)).length).toBeGreaterThanOrEqual(11);
  });

  test('rests no longer once it has left', async () => {
    const stage = new Stage([inventory, task('a0/s0', suspendable)]);
    stage.manner = ({ discoversTasks }) => (discoversTasks ? {} : { comes: answered(404) });
    await stage.run().clock.advance(minutes(10));
    expect(stage.suspended).toBe(1);
    stage.tasks = [inventory];
    await stage.clock.advance(minutes(30));
    expect(stage.suspended).toBe(0);
  });
});

describe('the inventory', () => {
  test('brings new appliances, which are polled at once, and takes gone ones away for good', async () => {
    const stage = new Stage([inventory, ...fleet(2, 1)]).run();
    await stage.clock.advance(minutes(5));
    stage.tasks = [inventory, task('a1/s0'), task('new/s0')];
    await stage.clock.advance(minutes(20));
    const [found = Number.NaN] = stage.startsOf('new/s0');
    expect(stage.startsOf('inventory').some((at) => found - at < 10)).toBe(true);
    const count = stage.startsOf('a0/s0').length;
    await stage.clock.advance(minutes(60));
    expect(stage.startsOf('a0/s0')).toHaveLength(count);
  });

  test('that takes one series of an appliance away keeps the appliance', async () => {
    const stage = new Stage([inventory, ...fleet(2, 2)]).run();
    await stage.clock.advance(minutes(5));
    stage.tasks = [inventory, ...fleet(2, 1)];
    await stage.clock.advance(minutes(15));
    expect([...stage.poller.registry.appliances.keys()]).toEqual(['a0', 'a1']);
    expect(stage.shelf.held.has('portal/a0/state')).toBe(true);
  });

  test('that takes an appliance away while it is polled shows nothing of that poll', async () => {
    const stage = new Stage([inventory, ...fleet(1, 1)]);
    stage.manner = ({ discoversTasks }) => ({ ms: discoversTasks ? 1_000 : 5_000 });
    stage.run();
    await stage.clock.advance(10);
    stage.tasks = [inventory];
    await stage.clock.advance(minutes(60));
    expect([...stage.shelf.held.keys()]).toEqual(['inventory']);
  });
});

import { describe, expect, test } from 'vitest';
import { answered, dataTask, fleet, inventory, minutes } from './fleet.ts';
import { broken, hanging, Stage } from './running.ts';

const suspendable = { suspendedIntervalMs: minutes(15) };

describe('an outage of the whole API', () => {
  test('is probed by one poll at a time, and over within an interval of two probes that succeed', async () => {
    const stage = new Stage(fleet(50, 2), 8);
    await stage.run().clock.advance(minutes(20));
    const before = stage.clock.monotonic();
    stage.manner = () => broken;
    await stage.clock.advance(minutes(30));
    expect(stage.turns).toEqual(['the API responds', 'the API cannot be polled']);
    // One cause, one line: hardly an appliance is down before the service is.
    expect(stage.lines.all.filter(({ text }) => text === 'the appliance does not respond').length).toBeLessThan(3);
    // Without probes it would be 600: those until the service is down, and then one every 30 s.
    expect(stage.started.filter(({ at }) => at > before).length).toBeLessThan(400);
    stage.manner = () => ({});
    const corrected = stage.clock.monotonic();
    await stage.clock.advance(minutes(6.5));
    const since = stage.started.filter(({ at }) => at >= corrected).map(({ id }) => id);
    expect(new Set(since).size).toBe(100);
    expect(since.length).toBeLessThan(200);
    expect(stage.turns.slice(2)).toEqual(['the API responds again']);
  });

  test('from which half of the appliances do not return logs at most twenty of them with one poll', async () => {
    const stage = new Stage(fleet(100, 1), 8);
    await stage.run().clock.advance(minutes(10));
    stage.manner = () => broken;
    await stage.clock.advance(minutes(30));
    stage.manner = ({ id }) => (Number(id.slice(1, -3)) < 50 ? {} : broken);
    await stage.clock.advance(minutes(30));
    const logged = stage.lines.all.filter(({ text }) => text === 'the appliance does not respond');
    expect(logged).toHaveLength(50);
    expect(Math.max(...logged.map(({ at }) => logged.filter((other) => other.at === at).length))).toBe(20);
  });

  test('in which what is under way hangs is waited out quietly', async () => {
    const stage = new Stage(fleet(3, 2), 4);
    // One poll of an appliance fails at once and its other one hangs: that is as much as suspects may have under way.
    stage.manner = ({ id }) => (id.endsWith('s0') ? broken : hanging);
    stage.run();
    let wakes = 0;
    const sleep = stage.clock.sleep.bind(stage.clock);
    stage.clock.sleep = (ms, signal) => {
      wakes += 1;
      if (wakes > 10_000) throw new Error('it never rests');
      return sleep(ms, signal);
    };
    await stage.clock.advance(minutes(30));
    expect(stage.turns).toEqual(['the API cannot be polled']);
    expect(wakes).toBeLessThan(2_000);
    stage.manner = () => ({});
    await stage.clock.advance(minutes(2));
    expect(stage.turns).toEqual(['the API cannot be polled', 'the API responds again']);
  });
});

test('the time of a cycle is the time in which every series was polled', async () => {
  const stage = new Stage(fleet(3, 1), 1);
  stage.manner = () => ({ ms: 20_000 });
  await stage.run().clock.advance(30_000);
  expect(stage.poller.registry.cycleSeconds).toBeUndefined();
  await stage.clock.advance(minutes(1.5));
  expect(stage.poller.registry.cycleSeconds).toBeCloseTo(60, 1);
});

test('a licence that every series lacks brings the service down; two probes find that it was bought, and all series are polled', async () => {
  const series = fleet(20, 3, suspendable);
  const stage = new Stage([inventory, ...series], 8);
  let isBought = false;
  stage.manner = ({ discoversTasks }) => (discoversTasks || isBought ? {} : { comes: answered(403) });
  await stage.run().clock.advance(minutes(60));
  expect(stage.turns).toEqual(['the API cannot be polled']);
  isBought = true;
  await stage.clock.advance(minutes(2));
  expect(stage.turns).toEqual(['the API cannot be polled', 'the API responds again']);
  await stage.clock.advance(minutes(1));
  for (const { id } of series) expect(stage.startsOf(id, minutes(60)), id).not.toEqual([]);
});

describe('polling once', () => {
  /** Runs until it ends by itself; for so many minutes at most. */
  async function ended(stage: Stage, atMost = 10): Promise<boolean> {
    let over = false;
    void stage.runOnce().then(() => {
      over = true;
    });
    for (let step = 0; step < atMost * 6 && !over; step += 1) await stage.clock.advance(10_000);
    await stage.stop();
    return over;
  }

  test('polls each task once, those that come to light meanwhile too, and ends', async () => {
    const stage = new Stage([inventory]);
    stage.manner = ({ discoversTasks }) => {
      if (discoversTasks) stage.tasks = [inventory, ...fleet(20, 3)];
      return { ms: 100 };
    };
    expect(await ended(stage)).toBe(true);
    expect(stage.started).toHaveLength(61);
    expect(new Set(stage.started.map(({ id }) => id)).size).toBe(61);
    expect(stage.clock.sleeping).toBe(0);
  });

  test('ends although some of it fails or is not to be had', async () => {
    const stage = new Stage([inventory, ...fleet(4, 3, suspendable)]);
    stage.manner = ({ id }) => (id.startsWith('a0') ? broken : id.startsWith('a1') ? { comes: answered(404) } : {});
    expect(await ended(stage)).toBe(true);
    expect(new Set(stage.started.map(({ id }) => id)).size).toBe(13);
  });

  test('ends when the API is down, however much has not been asked', async () => {
    const stage = new Stage([inventory]);
    stage.manner = ({ discoversTasks }) => {
      if (discoversTasks) stage.tasks = [inventory, ...fleet(500, 15)];
      return discoversTasks ? {} : broken;
    };
    expect(await ended(stage)).toBe(true);
    expect(stage.started.length).toBeLessThan(50);
  });

  test.each([
    ['the inventory', [inventory]],
    ['the one task', [dataTask]],
  ])('ends when %s is all there is and fails', async (_, tasks) => {
    const stage = new Stage(tasks);
    stage.manner = () => broken;
    expect(await ended(stage)).toBe(true);
    expect(stage.started).toHaveLength(1);
  });

  test('ends at once when it is stopped', async () => {
    const stage = new Stage(fleet(5, 2));
    stage.manner = () => hanging;
    const run = stage.runOnce();
    await stage.clock.advance(5);
    await stage.stop();
    await run;
    expect([stage.clock.monotonic(), stage.clock.sleeping]).toEqual([5, 0]);
  });
});

import { expect, test } from 'vitest';
import { serviceWarning } from '../../../src/contract/service-warning.ts';
import type { Task } from '../../../src/contract/task.ts';
import { CredentialError, PostponedError } from '../../../src/runtime/errors.ts';
import {
  type Behaviour,
  fails,
  hangs,
  inventory,
  isEmpty,
  minutes,
  PollingRun,
  recordAt,
  records,
  returns,
  seriesOf,
  status,
  task,
  works,
} from './polling-run.ts';

/** Tasks whose id begins so behave so, the others work. */
const only = (start: string, behaviour: Behaviour) => (each: Task) => (each.id.startsWith(start) ? behaviour : works);
const allSeries = (behaviour: Behaviour) => (each: Task) => (each.appliance ? behaviour : works);

test('every task is polled at once, and then once in each interval on its own phase', async () => {
  const run = new PollingRun(seriesOf(3, 4), {}, 0);
  run.behaviour = () => ({ ms: 1_900 });
  await run.passes(0.1);
  expect(run.polls).toBe(12);
  await run.passes(30);
  for (const { id } of run.tasks) {
    const [first = 0, ...pauses] = run.pausesOf(id);
    expect(Math.abs(first - 5)).toBeLessThan(2.5);
    for (const pause of pauses) expect(pause).toBeCloseTo(5, 2);
  }
});

test('a single worker polls one task at a time, and spends a quarter of its time on series that hang', async () => {
  const run = new PollingRun(seriesOf(8, 2), { workers: 1 });
  const isWell = ({ id }: Task) => /^a[67]/.test(id);
  run.behaviour = (each) => (isWell(each) ? works : hangs);
  await run.passes(60);
  const hanging = run.tasks.filter((each) => !isWell(each)).flatMap(({ id }) => run.startsOf(id, minutes(20)));
  expect(hanging.length).toBe(40 / 2);
  expect([run.maxInFlight, run.polledTwiceAtOnce]).toEqual([1, []]);
});

test('a poll that is postponed is no failure, and is repeated at the time that it names', async () => {
  const run = new PollingRun(seriesOf(2, 1), {}, 0);
  await run.passes(2);
  run.behaviour = only('a0', { result: new PostponedError('later', minutes(7)) });
  await run.passes(4.5);
  run.behaviour = () => works;
  await run.passes(1);
  expect(run.startsOf('a0/s0').at(-1)).toBeCloseTo(minutes(7), -1);
  expect(run.poller.fleet.find('a0/s0')?.state.responses.misses).toBe(0);
});

test('a result that an output cannot take is a failure of its task, and the debug log has it', async () => {
  const run = new PollingRun(seriesOf(2, 1), {}, 0, 'debug');
  run.accept = () => Promise.reject(new TypeError('cannot take this'));
  await run.passes(1);
  expect(run.poller.fleet.find('a0/s0')?.state.error?.message).toBe('cannot take this');
  const line = { task: 'a0/s0', error: 'cannot take this' };
  expect(run.log('A poll failed.')).toContainEqual(expect.objectContaining(line));
});

test('a defect ends polling with its error', async () => {
  const run = new PollingRun(seriesOf(2, 1));
  run.publishState = () => {
    throw new TypeError('a defect');
  };
  const ended = run.poller.run(new AbortController().signal).catch((defect: unknown) => defect);
  expect(await run.clock.through(ended, 1_000)).toMatchObject({ message: 'a defect' });
});

test.each([
  ['the service is down', [inventory, ...seriesOf(50, 15)], allSeries(fails), 12],
  ['everything was polled, although some is missing', [inventory, ...seriesOf(4, 3)], only('a0', returns(404)), 13],
  ['the inventory is all there is, and fails', [inventory], () => fails, 1],
])('polling once ends when %s', async (_, tasks, behaviour, polls) => {
  const run = new PollingRun(tasks);
  run.behaviour = behaviour;
  await run.clock.through(run.poller.runOnce(new AbortController().signal), 1_000);
  expect(run.polls).toBe(polls);
});

test.each([
  ['fails', fails, 'server_error'],
  ['hangs', hangs, 'timeout'],
])(
  'an outage of the service in which it %s is known in four intervals, shows no appliance down, and ends soon',
  async (_, outage, reason) => {
    const run = new PollingRun(seriesOf(20, 2), { workers: 8 });
    const shown = new Set<unknown>();
    const passes = async (count: number) => {
      for (let passed = 0; passed < count; passed += 0.5) {
        await run.passes(0.5);
        for (const [serial] of run.poller.fleet.appliances) shown.add(run.up(serial));
      }
    };
    await passes(20);
    run.behaviour = () => outage;
    await passes(20.5);
    expect([run.isUp, run.poller.health.downReason, run.state('a0')]).toEqual([false, reason, undefined]);
    const before = run.polls;
    await passes(20);
    expect(run.polls - before).toBeLessThanOrEqual(80);
    run.behaviour = () => works;
    await passes(2);
    expect([run.isUp, run.up('a0'), run.up('a19')]).toEqual([true, 1, 1]);
    await passes(15);
    expect([...shown]).toEqual([1, undefined]);
    const ofService = run.log('The service').map(({ msg }) => msg);
    expect(ofService).toEqual(['The service came up.', 'The service went down.', 'The service came up again.']);
  },
);

test.each([
  ['the credentials are rejected, at once', new CredentialError('rejected'), 2, 'credentials'],
  ['every request waits, after four intervals', new PostponedError('later', minutes(500)), 20.1, 'overdue'],
])('an outage of the service begins when %s', async (_, result, passed, reason) => {
  const run = new PollingRun(seriesOf(12, 1));
  await run.passes(20);
  run.behaviour = () => ({ result });
  await run.passes(passed);
  expect([run.isUp, run.poller.health.downReason]).toEqual([false, reason]);
});

test('an outage of the service is not concluded from a time in which the process was paused', async () => {
  const run = new PollingRun(seriesOf(12, 1));
  await run.passes(20);
  run.pausedMs = minutes(60);
  run.poller.review();
  expect([run.isUp, run.up('a0')]).toEqual([true, 1]);
});

test('rejected series are polled at the discovery interval, and all are back soon after one of them has records', async () => {
  const run = new PollingRun(seriesOf(10, 2));
  run.behaviour = (each) => (each.id.endsWith('s0') ? returns(404) : works);
  await run.passes(60);
  expect([run.pausesOf('a0/s0').map(Math.round).slice(1), run.suspended()]).toEqual([[15, 15, 15], 10]);
  // Half is not most.
  expect(run.poller.fleet.isMostlyFailing('not_found')).toBe(false);
  run.behaviour = () => works;
  await run.passes(5);
  expect(run.suspended()).toBe(0);
  await run.passes(25);
  expect(run.startsOf('a0/s0', minutes(60)).length).toBeGreaterThanOrEqual(5);
});

test('rejections request the licence once in a discovery interval', async () => {
  const licence = task('licence', { intervalMs: minutes(600) });
  const run = new PollingRun([licence, ...seriesOf(6, 1, { pollAlso: 'licence' })]);
  await run.passes(20);
  run.behaviour = ({ id }) => (/^a[0-2]/.test(id) ? returns(403) : works);
  await run.passes(10);
  expect(run.startsOf('licence', minutes(20))).toHaveLength(1);
});

test.each([
  ['a warning about something else', serviceWarning('late_data', 'data comes late'), 1],
  ['the warning that explains it', serviceWarning('forbidden', 'series are rejected', 'forbidden'), 0],
])('forbidden series and %s: so many lines about series are logged', async (_, warning, lines) => {
  const run = new PollingRun(seriesOf(4, 2), { warnings: () => [warning] });
  await run.passes(20);
  run.behaviour = only('a0/s0', returns(403));
  await run.passes(20);
  expect(run.log('The service rejected requests for series.')).toHaveLength(lines);
});

test('where series have longer intervals than the inventory, the service is down soon after the first 403', async () => {
  const run = new PollingRun([inventory, ...seriesOf(5, 3, { intervalMs: minutes(20) })]);
  await run.passes(25);
  expect(run.poller.fleet.shortestMs).toBe(minutes(20));
  run.behaviour = allSeries(returns(403));
  await run.passes(10);
  expect([run.suspended(), run.isUp]).toEqual([15, false]);
  expect(run.log('The service went down.')).toMatchObject([{ reason: 'forbidden', advice: expect.any(String) }]);
});

test('an appliance that is off is down for this reason, logged once, and up with its second record', async () => {
  const run = new PollingRun(seriesOf(3, 3));
  const stateOf = (serial: string) => [run.up(serial), run.state(serial)];
  await run.passes(20);
  run.behaviour = only('a0', isEmpty);
  await run.passes(14);
  expect(stateOf('a0')).toEqual([1, 'reporting']);
  await run.passes(7);
  expect([stateOf('a0'), stateOf('a1')]).toEqual([
    [0, 'no_records'],
    [1, 'reporting'],
  ]);
  run.behaviour = () => works;
  await run.passes(10);
  expect([run.up('a0'), run.suspended()]).toEqual([1, 0]);
  const lines = run.log('The appliance').map(({ msg, reason }) => [msg, reason]);
  expect(lines).toEqual([
    ['The appliance went down.', 'no_records'],
    ['The appliance came up again.', undefined],
  ]);
});

test('the newest record of an appliance is exposed with its time, if it has one', async () => {
  const run = new PollingRun(seriesOf(2, 2));
  run.behaviour = ({ id }, nth) => (id.startsWith('a1') ? { result: recordAt(minutes(nth)) } : works);
  const lastRecords = () => [run.newestRecord('a0'), run.newestRecord('a1')];
  await run.passes(1);
  expect(lastRecords()).toEqual([undefined, 60]);
  await run.passes(7);
  expect(lastRecords()).toEqual([undefined, 120]);
});

test('an appliance that does not respond is logged although another one waits', async () => {
  const run = new PollingRun(seriesOf(3, 2));
  await run.passes(20);
  const waits = { result: new PostponedError('later', minutes(500)) };
  run.behaviour = (each) => (each.id.startsWith('a0') ? waits : only('a1', fails)(each));
  await run.passes(19);
  run.behaviour = () => fails;
  await run.passes(40);
  // The outage explains what follows.
  const lines = run.log('The appliance').filter(({ serial }) => serial !== 'a0');
  expect(lines).toMatchObject([{ serial: 'a1', reason: 'unavailable', failing: 2, series: 2 }]);
});

test('an operation that fails for one appliance is logged from its second failure to its second success', async () => {
  const run = new PollingRun(seriesOf(3, 2));
  run.behaviour = (each, nth) => only('a0/s0', nth % 4 === 0 ? works : fails)(each);
  await run.passes(120);
  // After the third failure in a row an interval is left out.
  expect(run.pausesOf('a0/s0').map(Math.round).slice(1, 9)).toEqual([5, 10, 5, 5, 5, 10, 5, 5]);
  run.behaviour = () => works;
  await run.passes(30);
  const [begin, end] = ['The operation failed repeatedly.', 'The operation succeeded again.'];
  expect(run.log('The operation')).toMatchObject([
    { msg: begin, operation: 's0', reason: 'server_error' },
    { msg: end },
  ]);
});

test('values leave after STALE_AFTER intervals as the limits allow them, and counters after FORGET_AFTER', async () => {
  const run = new PollingRun(seriesOf(2, 1), { allowedPerSecond: () => 1 / 300, forgetAfterMs: minutes(60) });
  await run.passes(1);
  run.behaviour = only('a0', fails);
  await run.passes(28.9);
  expect([run.poller.fleet.intervalFactor, run.exposed.get('a0/s0')]).toMatchObject([2, [{ value: 1 }]]);
  await run.passes(0.2);
  expect([run.exposed.get('a0/s0'), run.exposed.get('a1/s0')]).toMatchObject([[], [{ value: 1 }]]);
  await run.passes(29.8);
  expect(run.exposed.has('a0/s0')).toBe(true);
  await run.passes(0.2);
  expect(run.exposed.has('a0/s0')).toBe(false);
});

test('a cycle lasts until every series was polled, except those with longer intervals and suspended ones', async () => {
  const run = new PollingRun([...seriesOf(4, 1), task('a0/hourly', { intervalMs: minutes(60) })], { workers: 1 }, 0);
  run.behaviour = ({ id }) => ({ ms: 20_000, result: id === 'a3/s0' ? status(404) : records });
  await run.passes(0.5);
  expect(run.poller.fleet.cycleSeconds).toBeUndefined();
  await run.passes(1.5);
  expect(run.poller.fleet.cycleSeconds).toBeCloseTo(80, 1);
  await run.passes(13);
  expect(run.poller.fleet.cycleSeconds).toBeCloseTo(300, 1);
});

test('an inventory that fails is read again soon, and later and later', async () => {
  const run = new PollingRun([inventory, ...seriesOf(3, 1)], {}, 0);
  run.behaviour = only('inventory', fails);
  await run.passes(60);
  const seconds = run.pausesOf('inventory').map((pause) => Math.round(pause * 60));
  expect(seconds).toEqual([15, 30, 60, 120, 240, 480, 900, 900]);
});

test('the inventory adds appliances, which are polled at once; what it removes is withdrawn, also if it is in flight', async () => {
  const run = new PollingRun([inventory, ...seriesOf(2, 1)], {}, 0);
  run.behaviour = (each) => ({ ms: each.appliance ? 5_000 : 1_000 });
  await run.passes(0.01);
  run.tasks = [inventory, task('a1/s0'), task('new/s0')];
  await run.passes(20);
  expect(run.startsOf('new/s0')[0]).toBeLessThan(2_000);
  expect([run.startsOf('a0/s0').length, run.exposed.has('a0/s0'), run.up('a0')]).toEqual([1, false, undefined]);
});

test('an inventory that renames an appliance has its series polled at once, also one that was in flight', async () => {
  const run = new PollingRun([inventory, ...seriesOf(1, 3)], {}, 0);
  run.behaviour = (each) => ({ ms: each.id === 'a0/s0' ? 2_000 : each.appliance ? 10 : 1_000 });
  await run.passes(0.01);
  run.tasks = [inventory, ...seriesOf(1, 3, { appliance: { serial: 'a0', name: 'new' }, names: 'new' })];
  await run.passes(1);
  expect(['a0/s0', 'a0/s1', 'a0/s2'].map((id) => run.startsOf(id).length)).toEqual([2, 2, 2]);
  expect(run.exposed.get('portal/a0/state')?.[0]?.labels.filer).toBe('new');
});

test('an inventory that renames an appliance of an overloaded fleet has its series polled next', async () => {
  const run = new PollingRun([inventory, ...seriesOf(60, 1)], { workers: 1, allowedPerSecond: () => 1 / 30 });
  run.behaviour = (each) => ({ ms: each.appliance ? 30_000 : 1_000 });
  await run.passes(44);
  const cycles = run.startsOf('inventory').length;
  run.tasks = [inventory, ...seriesOf(59, 1), task('a59/s0', { names: 'new' })];
  const before = run.startsOf('a59/s0').length;
  while (run.startsOf('inventory').length === cycles) await run.passes(0.5);
  await run.passes(1);
  expect(run.startsOf('a59/s0').length).toBe(before + 1);
});

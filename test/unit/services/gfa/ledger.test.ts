import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/metrics/family.ts';
import { FilerNames } from '../../../../src/services/filer-names.ts';
import type { GfaLedger } from '../../../../src/services/gfa/ledger.ts';
import fc from '../../../harness/fast-check.ts';
import {
  dataResponse,
  filer,
  ledgerOf,
  lock,
  newLedger,
  propagation,
  released,
  restarted,
  shown,
  take,
  timestamp,
  volume,
} from '../../../harness/gfa-responses.ts';
import { valuesOf } from '../../../harness/sample-values.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

const LOCK = 'lock_phase="p2",lock_state=';

test('an event that differs in phase, duration, fraction of a second, filer or kind is another one, and each counts once', async () => {
  const fraction = { timestamp: timestamp(1.5) };
  const other = { filer_guid: 'f2', filer_title: 'two' };
  const locks = [{}, { lock_phase: 'P1' }, { lock_duration: 7 }, fraction, other].map((more) => released(1, 5, more));
  const propagations = [propagation(1, 5), propagation(1, 5, { kind: 'metadata' })];
  const ledger = newLedger();
  const response = dataResponse({ locks: [...locks, ...locks], propagation: [...propagations, ...propagations] });
  expect([(await take(ledger, response)).events, (await take(ledger, response)).events]).toEqual([7, 0]);
});

test('an event with another title, field, case of its guids or spelling of its values is the same one', async () => {
  const ledger = await ledgerOf({ locks: [released(0, 5)] });
  const again = released(0, 5, {
    filer_guid: 'F1',
    filer_title: 'new',
    version: 2,
    timestamp: '2026-03-02T01:00:00.000+01:00',
    lock_duration: '5',
  });
  expect((await take(ledger, dataResponse({ locks: [again] }))).events).toBe(0);
  expect(shown(ledger, 'filer_lock_events_total')).toEqual({
    'filer_guid="f1",filer="new",volume_guid="v1",volume="projects",lock_phase="p2",lock_state="released"': 1,
  });
});

test('an event is forgotten a day after it was delivered last, so that the memory does not grow', async () => {
  const ledger = newLedger();
  for (const hour of [0, 23, 46, 70.5]) {
    const at = hour * HOUR;
    await take(ledger, dataResponse({ locks: [released(at, 5)] }, { request_time: timestamp(at) }), at * 1000);
    expect(ledger.memory.size).toBe(hour === 0 ? 1 : hour === 70.5 ? 1 : 2);
  }
});

test('an event that arrives more than a day after its own time is dropped as late each time, and may be the newest', async () => {
  const ledger = newLedger();
  for (const hour of [25, 26]) {
    const response = dataResponse({ locks: [released(0, 5)] }, { request_time: timestamp(hour * HOUR) });
    expect(await take(ledger, response, hour * HOUR * 1000)).toEqual({ events: 0, drops: ['late locks.timestamp'] });
  }
  expect(Object.values(shown(ledger, 'filer_lock_state'))).toEqual([1]);
});

test('an event for which the memory has no room is dropped as full, and never counted twice', async () => {
  const ledger = newLedger({ maxEvents: 100 });
  const response = dataResponse({ locks: Array.from({ length: 500 }, (_, index) => lock(index)) });
  expect((await take(ledger, response, 0)).events).toBe(100);
  const { events, drops } = await take(ledger, response, 1);
  expect([events, drops.length, drops[0]]).toEqual([0, 400, 'full locks.timestamp']);
  expect(shown(ledger, 'filer_lock_events_total')).toEqual({ [`${LOCK}"acquired"`]: 100 });
});

/** One event: where, what, and its own time from when the service first has it: late by up to 20 h, ahead by up to a day. */
const drawnEvent = fc.record({
  filer: fc.constantFrom('f1', 'f2'),
  volume: fc.constantFrom('v1', 'v2'),
  kind: fc.constantFrom('ACQUIRED', 'RELEASED', 'data'),
  seconds: fc.nat(100),
  offset: fc.oneof(fc.constantFrom(0, DAY), fc.integer({ min: -20 * HOUR, max: DAY })),
});

/** One poll: time passes, events happen, and a response arrives or is lost. The state may be saved, and the process may end. */
const drawnPoll = fc.record({
  pause: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.constantFrom(HOUR, 5 * HOUR, 12 * HOUR, 20 * HOUR)),
  events: fc.array(drawnEvent, { maxLength: 5 }),
  delivery: fc.constantFrom('new', 'new', 'new', 'overlapping', 'everything'),
  overlap: fc.nat(5),
  isRepeated: fc.boolean(),
  isReversed: fc.boolean(),
  isLost: fc.boolean(),
  isSaved: fc.boolean(),
  end: fc.constantFrom('none', 'none', 'none', 'stop', 'kill', 'without file'),
});

interface Happened {
  readonly at: number;
  readonly record: JsonObject;
}

/** What the counters must show after these events, zeros left out. */
function countersOf(events: Iterable<JsonObject>): Readonly<Record<string, number>> {
  const values: Record<string, number> = {};
  const add = (series: string, by = 1) => {
    if (by !== 0) values[series] = (values[series] ?? 0) + by;
  };
  const observe = (name: string, labels: string, seconds: number) => {
    if (seconds <= 10) add(`${name}_bucket{${labels},le="10.0"}`);
    if (seconds <= 60) add(`${name}_bucket{${labels},le="60.0"}`);
    add(`${name}_bucket{${labels},le="+Inf"}`);
    add(`${name}_sum{${labels}}`, seconds);
    add(`${name}_count{${labels}}`);
  };
  for (const { filer_guid, volume_guid, kind, prop_seconds, lock_state, lock_duration } of events) {
    const pair = `filer_guid="${filer_guid}",filer="${filer_guid}",volume_guid="${volume_guid}",volume="${volume_guid}"`;
    if (kind !== undefined) {
      observe('filer_propagation_duration_seconds', `${pair},kind="data"`, Number(prop_seconds));
      add(`filer_data_protected_events_total{${pair},kind="data"}`, Number(prop_seconds));
      continue;
    }
    add(`filer_lock_events_total{${pair},${LOCK}"${String(lock_state).toLowerCase()}"}`);
    if (lock_duration !== undefined)
      observe('filer_lock_duration_seconds', `${pair},lock_phase="p2"`, Number(lock_duration));
  }
  return values;
}

function counters(ledger: GfaLedger): Readonly<Record<string, number>> {
  return valuesOf([...ledger.samples()].filter(({ name }) => /_(?:total|bucket|sum|count)$/.test(name)));
}

const nonZero = (values: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== 0));

const everyPair = (now: number) =>
  ['f1', 'f2'].flatMap((guid) =>
    ['v1', 'v2'].map((volume_guid) =>
      filer(now, 0, { filer_guid: guid, filer_title: guid, volume_guid, volume_title: volume_guid }),
    ),
  );

test('property: every counter is the set of events that were delivered since the start and not saved as counted before', async () => {
  const lives = fc.array(drawnPoll, { minLength: 1, maxLength: 30 });
  const check = async (polls: readonly (typeof drawnPoll extends fc.Arbitrary<infer Poll> ? Poll : never)[]) => {
    const history: Happened[] = [];
    let [ledger, saved] = [newLedger(), newLedger()];
    // What must be known, by identity; what must be known after a kill; and what this process must have counted.
    let [known, savedKnown, counted] = [new Set<string>(), new Set<string>(), new Map<string, JsonObject>()];
    let [now, newest] = [0, 0];
    for (const { pause, events, delivery, overlap, isRepeated, isReversed, isLost, isSaved, end } of polls) {
      now += pause;
      for (const { filer: guid, volume: volume_guid, kind, seconds, offset } of events) {
        const at = now + offset;
        const where = { filer_guid: guid, filer_title: guid, volume_guid, volume_title: volume_guid };
        if (kind === 'ACQUIRED') history.push({ at, record: lock(at, where) });
        else if (kind === 'RELEASED') history.push({ at, record: released(at, seconds, where) });
        else history.push({ at, record: propagation(at, seconds, { ...where, data_protected: seconds }) });
      }
      const from = { new: newest, overlapping: Math.max(0, newest - overlap), everything: 0 }[delivery];
      newest = history.length;
      let delivered = isReversed ? history.slice(from).reverse() : history.slice(from);
      if (isRepeated) delivered = [...delivered, ...delivered];
      if (!isLost) {
        const records = delivered.map(({ record }) => record);
        const locks = records.filter((record) => record.kind === undefined);
        const propagations = records.filter((record) => record.kind !== undefined);
        const groups = { filers: everyPair(now), locks, propagation: propagations };
        await take(ledger, dataResponse(groups, { request_time: timestamp(now) }), now * 1000);
        for (const { at, record } of delivered) {
          const identity = JSON.stringify(record);
          if (known.has(identity) || at < now - DAY) continue;
          known.add(identity);
          counted.set(identity, record);
        }
      }
      if (isSaved || end === 'stop') [saved, savedKnown] = [restarted(ledger, { now: now * 1000 }), new Set(known)];
      if (end !== 'none') {
        if (end === 'without file') [saved, savedKnown] = [newLedger(), new Set()];
        [ledger, known, counted] = [restarted(saved, { now: now * 1000 }), new Set(savedKnown), new Map()];
        expect(nonZero(counters(ledger))).toEqual({});
        expect(Object.keys(counters(ledger))).toEqual(Object.keys(counters(saved)));
      }
      expect(nonZero(counters(ledger))).toEqual(countersOf(counted.values()));
    }
  };
  await fc.assert(fc.asyncProperty(lives, check), { numRuns: 60 });
});

const everything = {
  filers: [filer(1, 5), { ...filer(1, 6), timestamp: undefined, filer_guid: 'f2', volume_guid: undefined }],
  volumes: [volume(1), volume(1, { volume_guid: 'v2', volume_title: null, mode: 'Odd' })],
  locks: [lock(1), released(2, 30), lock(3, { lock_phase: 'P1', lock_state: '' })],
  propagation: [propagation(1, 5, { data_protected: 3 }), propagation(2, 500.5, { kind: '' })],
};

test('a restart shows every value that it showed before, counters and histograms at 0', async () => {
  const before = await ledgerOf(everything);
  const after = restarted(before);
  const zeroed = Object.keys(counters(before)).map((series) => [series, 0]);
  expect(valuesOf(after.samples())).toEqual({ ...valuesOf(before.samples()), ...Object.fromEntries(zeroed) });
  expect(zeroed.length).toBeGreaterThan(10);
  expect([after.memory, after.account]).toEqual([before.memory, 'acc']);
  expect((await take(after, dataResponse(everything))).events).toBe(0);
});

test('a restart takes no state for fresher than it is', async () => {
  const before = newLedger();
  await take(before, dataResponse(everything), 1_000_000);
  expect(restarted(before, { shiftMs: -1_030_000 }).respondedAt).toBe(-30_000);
  const late = restarted(before, { shiftMs: -1_000_000 - 180_001 });
  expect(shown(late, 'filer_volume')).toEqual({});
  expect(shown(late, 'filer_lock_state')).toEqual(shown(before, 'filer_lock_state'));
});

test('a restart keeps the name of a filer until the inventory was read', async () => {
  const names = new FilerNames([]);
  names.setInventory(new Map([['f1', 'leeds']]));
  const before = await ledgerOf({ locks: [lock(1)] }, { names });
  const later = new FilerNames([]);
  later.isInventoryRead = false;
  const after = restarted(before, { names: later });
  const name = () => [...after.samples()].find(({ name }) => name === 'filer_lock_events_total')?.labels.filer;
  expect(name()).toBe('leeds');
  later.isInventoryRead = true;
  expect(name()).toBe('one');
});

test('an event carries its series to a new title, and never brings back an old title', async () => {
  const ledger = await ledgerOf({ filers: [filer(1, 5)], locks: [released(1, 5)], propagation: [propagation(1, 5)] });
  await take(ledger, dataResponse({ filers: [filer(2, 5, { filer_title: 'two', volume_title: 'plans' })] }));
  await take(ledger, dataResponse({ locks: [lock(3, { filer_title: 'old', volume_title: '' })] }));
  const series = Object.keys(valuesOf(ledger.samples())).filter((name) => name.includes('f1'));
  expect(series.length).toBeGreaterThan(10);
  for (const name of series) expect(name).toMatch(/filer="two"/);
  expect(series.filter((name) => /volume="(?!plans)/.test(name))).toEqual([]);
});

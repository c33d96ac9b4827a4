import { describe, expect, test } from 'vitest';
import type { Fields } from '../../../src/metrics/family.ts';
import type { Ledger } from '../../../src/sources/gfa/ledger.ts';
import { valuesOf } from '../../support/exposition-lines.ts';
import fc from '../../support/fast-check.ts';
import {
  dataAnswer,
  lock,
  newLedger,
  propagation,
  released,
  take,
  timestamp,
  told,
} from '../../support/gfa-answers.ts';

const HOUR = 3600;

/** One event of the history: how long after the one before, where, and what. */
const event = fc.record({
  gap: fc.oneof(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 1, max: 14_000 })),
  filer: fc.constantFrom('f1', 'f2'),
  volume: fc.constantFrom('v1', 'v2'),
  word: fc.constantFrom('ACQUIRED', 'RELEASED', 'data', 'metadata'),
  phase: fc.constantFrom('P1', 'P2'),
  seconds: fc.nat(100),
});

/** One poll: how many more events have happened by then, and how the service delivers. */
const delivery = fc.record({
  more: fc.integer({ min: 0, max: 6 }),
  mode: fc.constantFrom('incremental', 'overlapping', 'full'),
  overlap: fc.nat(20),
  repeats: fc.nat(2),
  shape: fc.constantFrom('array', 'object', 'split'),
  order: fc.integer(),
});

interface Happened {
  readonly group: 'locks' | 'propagation';
  readonly record: Fields;
  readonly at: number;
}

type Drawn = typeof event extends fc.Arbitrary<infer One> ? One : never;
type Poll = typeof delivery extends fc.Arbitrary<infer One> ? One : never;

/** The history: in order of time, no two events in one second unless `step` is none. */
function happened(drawn: readonly Drawn[], isStep = true): readonly Happened[] {
  let at = 0;
  return drawn.map(({ gap, filer, volume, word, phase, seconds }): Happened => {
    at += isStep ? gap : gap % 2;
    const where = { filer_guid: filer, filer_title: filer, volume_guid: volume, volume_title: volume };
    if (word === 'ACQUIRED') return { group: 'locks', at, record: lock(at, { ...where, lock_phase: phase }) };
    if (word === 'RELEASED')
      return { group: 'locks', at, record: released(at, seconds, { ...where, lock_phase: phase }) };
    return {
      group: 'propagation',
      at,
      record: propagation(at, seconds, { ...where, kind: word, data_protected: 2 * seconds }),
    };
  });
}

/** What the series must say after these events: each counted once, the latest by time. */
function expected(events: readonly Happened[]): Readonly<Record<string, number>> {
  const values: Record<string, number> = {};
  const count = (series: string, by = 1) => {
    values[series] = (values[series] ?? 0) + by;
  };
  const observe = (name: string, labels: string, seconds: number) => {
    for (const [le, bound] of [
      ['10.0', 10],
      ['60.0', 60],
      ['+Inf', Number.POSITIVE_INFINITY],
    ] as const) {
      count(`${name}_bucket{${labels},le="${le}"}`, seconds <= bound ? 1 : 0);
    }
    count(`${name}_sum{${labels}}`, seconds);
    count(`${name}_count{${labels}}`);
  };
  const states = new Map<string, string>();
  for (const { group, at, record } of events) {
    const { filer_guid, volume_guid, lock_phase, lock_state, lock_duration, kind, prop_seconds, data_protected } =
      record;
    const pair = `filer_guid="${filer_guid}",filer="${filer_guid}",volume_guid="${volume_guid}",volume="${volume_guid}"`;
    if (group === 'locks') {
      const phase = `${pair},lock_phase="${String(lock_phase).toLowerCase()}"`;
      const labels = `${phase},lock_state="${String(lock_state).toLowerCase()}"`;
      count(`filer_lock_events_total{${labels}}`);
      states.set(phase, labels);
      values[`filer_lock_latest_timestamp_seconds{${labels}}`] = Date.parse(timestamp(at)) / 1000;
      if (lock_duration === undefined) continue;
      values[`filer_lock_latest_duration_seconds{${labels}}`] = Number(lock_duration);
      observe('filer_lock_duration_seconds', phase, Number(lock_duration));
    } else {
      const labels = `${pair},kind="${kind}"`;
      values[`filer_propagation_latest_seconds{${labels}}`] = Number(prop_seconds);
      observe('filer_propagation_duration_seconds', labels, Number(prop_seconds));
      count(`filer_data_protected_events_total{${labels}}`, Number(data_protected));
    }
  }
  for (const labels of states.values()) values[`filer_lock_state{${labels}}`] = 1;
  return values;
}

/** The event series of a ledger. */
function eventSeries(ledger: Ledger): Readonly<Record<string, number>> {
  const events = /^filer_(?:lock|propagation|data_protected)_/;
  return valuesOf([...ledger.samples()].filter(({ name }) => events.test(name)));
}

/** The same things in an order that `seed` decides. */
function reordered<Thing>(things: readonly Thing[], seed: number): readonly Thing[] {
  return fc.sample(fc.shuffledSubarray([...things], { minLength: things.length }), { seed, numRuns: 1 })[0] ?? things;
}

/** What the service sends of the history at a poll. */
function delivered(history: readonly Happened[], before: number, now: number, poll: Poll): unknown {
  const first = { incremental: before, overlapping: Math.max(0, before - poll.overlap), full: 0 }[poll.mode];
  const once = history.slice(first, now);
  const events = reordered([...once, ...Array.from({ length: poll.repeats }, () => once).flat()], poll.order);
  const of = (group: Happened['group'], part: readonly Happened[]) =>
    part.filter((each) => each.group === group).map(({ record }) => record);
  const records = (part: readonly Happened[]) => ({ locks: of('locks', part), propagation: of('propagation', part) });
  const at = timestamp(history[now - 1]?.at ?? 0);
  const answer = dataAnswer({}, { last_lock_event: at, last_propagation: at, request_time: at });
  const half = Math.floor(events.length / 2);
  const split = [records(events.slice(0, half)), { filers: [], locks: null }, records(events.slice(half))];
  return { ...answer, metrics: { array: [records(events)], object: records(events), split }[poll.shape] };
}

describe('whatever the service delivers, each event counts once', () => {
  test('through any mixture of news, overlaps and everything, repeated and out of order', () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 60 }),
        fc.array(delivery, { minLength: 1, maxLength: 25 }),
        (drawn, polls) => {
          const history = happened(drawn);
          const ledger = newLedger();
          let happenedSo = 0;
          for (const poll of polls) {
            const now = Math.min(history.length, happenedSo + poll.more);
            const { fresh } = take(ledger, delivered(history, happenedSo, now, poll));
            expect(fresh).toBe(now - happenedSo);
            happenedSo = now;
            expect(eventSeries(ledger)).toEqual(expected(history.slice(0, now)));
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test('and any order of arrival comes to the same, many events in one second included', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), fc.integer(), (drawn, seed) => {
        const history = happened(drawn, false);
        const [inOrder, shuffled] = [newLedger(), newLedger()];
        const whole = { more: 0, mode: 'full', overlap: 0, repeats: 0, shape: 'array', order: 0 } as const;
        for (let now = 1; now <= history.length; now += 1) {
          take(inOrder, delivered(history, now - 1, now, { ...whole, mode: 'incremental' }));
        }
        take(shuffled, delivered(history, 0, history.length, { ...whole, order: seed, repeats: 1 }));
        expect(eventSeries(shuffled)).toEqual(eventSeries(inOrder));
      }),
      { numRuns: 300 },
    );
  });
});

test.each([
  ['filer', released(1, 5), released(1, 5, { filer_guid: 'f2' })],
  ['volume', released(1, 5), released(1, 5, { volume_guid: 'v2' })],
  ['phase', released(1, 5), released(1, 5, { lock_phase: 'P1' })],
  ['state', released(1, 5), released(1, 5, { lock_state: 'ABORTED' })],
  ['lock duration', released(1, 5), released(1, 7)],
  ['time', released(1, 5), released(2, 5)],
  ['fraction of a second', released(1, 5), released(1, 5, { timestamp: timestamp(1.5) })],
  ['kind', propagation(1, 5), propagation(1, 5, { kind: 'metadata' })],
  ['propagation time', propagation(1, 5), propagation(1, 7)],
])('two events that differ in their %s are two, and each counts once', (_, one, other) => {
  const ledger = newLedger();
  const [group, family] =
    'kind' in one
      ? (['propagation', 'filer_propagation_duration_seconds_count'] as const)
      : (['locks', 'filer_lock_events_total'] as const);
  const answer = dataAnswer({ [group]: [one, other, other, one] });
  expect([take(ledger, answer).fresh, take(ledger, answer).fresh]).toEqual([2, 0]);
  const counts = Object.values(told(ledger, family));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2);
});

test('an event told with another title, field or spelling of its time is the same event', () => {
  const ledger = newLedger();
  take(ledger, dataAnswer({ locks: [released(0, 5)] }));
  const again = { filer_title: 'new', version: 2, timestamp: '2026-03-02T01:00:00.000+01:00', lock_duration: '5' };
  expect(take(ledger, dataAnswer({ locks: [released(0, 5, again)] })).fresh).toBe(0);
});

describe('memory', () => {
  test('that is full counts no event that it cannot remember, and tells each', () => {
    const ledger = newLedger({ mostEvents: 100 });
    const answer = dataAnswer({ locks: Array.from({ length: 500 }, (_, index) => lock(index)) });
    expect(take(ledger, answer, 0).fresh).toBe(100);
    const { fresh, notes } = take(ledger, answer, 1);
    expect([fresh, notes.length, notes[0]]).toEqual([0, 400, 'full locks.timestamp']);
    expect(told(ledger, 'filer_lock_events_total')).toEqual({ 'lock_phase="p2",lock_state="acquired"': 100 });
  });

  test('holds the events of the last day', () => {
    const ledger = newLedger({ forgetAfterMs: 7 * 24 * HOUR * 1000 });
    for (let at = 0; at < 3 * 24 * HOUR; at += 300) {
      take(ledger, dataAnswer({ locks: [lock(at)] }, { request_time: timestamp(at) }), at * 1000);
    }
    expect(ledger.memory).toEqual({ size: 289, evicted: 0 });
    expect(told(ledger, 'filer_lock_events_total')).toEqual({ 'lock_phase="p2",lock_state="acquired"': 864 });
  });
});

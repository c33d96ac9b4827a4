import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/metrics/family.ts';
import { GfaLedger } from '../../../src/services/gfa/ledger.ts';
import type { Piece } from '../../../src/services/gfa/saved-ledger.ts';
import { valuesOf } from '../../support/exposition-lines.ts';
import fc from '../../support/fast-check.ts';
import {
  dataAnswer,
  filer,
  ledgerSettings,
  lock,
  propagation,
  released,
  take,
  timestamp,
} from '../../support/gfa-answers.ts';
import { readAgain } from '../../support/kept.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** One event: where, what, and its own time from when the service first has it: late by up to 20 h, ahead by up to a day. */
const event = fc.record({
  filer: fc.constantFrom('f1', 'f2'),
  volume: fc.constantFrom('v1', 'v2'),
  word: fc.constantFrom('ACQUIRED', 'RELEASED', 'data'),
  seconds: fc.nat(100),
  offset: fc.oneof(
    fc.constant(0),
    fc.integer({ min: -20 * HOUR, max: 0 }),
    fc.integer({ min: 0, max: DAY }),
    fc.constant(DAY),
  ),
});

/** One step: time passes, events happen, and an answer is read or gets lost; then perhaps a restart. */
const step = fc.record({
  pause: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.constantFrom(HOUR, 5 * HOUR, 12 * HOUR, 20 * HOUR)),
  mode: fc.constantFrom('incremental', 'incremental', 'incremental', 'overlapping', 'from the start'),
  overlap: fc.nat(5),
  repeats: fc.nat(2),
  order: fc.integer(),
  isLost: fc.boolean(),
  next: fc.constantFrom('on', 'on', 'restart with the file', 'restart without it'),
});

type Drawn = typeof event extends fc.Arbitrary<infer One> ? One : never;
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

interface Happened {
  readonly group: 'locks' | 'propagation';
  readonly at: number;
  readonly record: JsonObject;
}

function happened({ filer, volume, word, seconds, offset }: Drawn, now: number): Happened {
  const at = now + offset;
  const where = { filer_guid: filer, filer_title: filer, volume_guid: volume, volume_title: volume };
  if (word === 'ACQUIRED') return { group: 'locks', at, record: lock(at, where) };
  if (word === 'RELEASED') return { group: 'locks', at, record: released(at, seconds, where) };
  return { group: 'propagation', at, record: propagation(at, seconds, { ...where, data_protected: seconds }) };
}

/** What every counter must say after these events. */
function counters(events: Iterable<Happened>): Readonly<Record<string, number>> {
  const values: Record<string, number> = {};
  const count = (series: string, by = 1) => {
    values[series] = (values[series] ?? 0) + by;
  };
  const observe = (name: string, labels: string, seconds: number) => {
    for (const [le, bound] of [
      ['10.0', 10],
      ['60.0', 60],
      ['+Inf', 100],
    ] as const) {
      count(`${name}_bucket{${labels},le="${le}"}`, seconds <= bound ? 1 : 0);
    }
    count(`${name}_sum{${labels}}`, seconds);
    count(`${name}_count{${labels}}`);
  };
  for (const { record } of events) {
    const { filer_guid: filer, volume_guid: volume } = record;
    const pair = `filer_guid="${filer}",filer="${filer}",volume_guid="${volume}",volume="${volume}"`;
    if (record.kind !== undefined) {
      observe('filer_propagation_duration_seconds', `${pair},kind="data"`, Number(record.prop_seconds));
      count(`filer_data_protected_events_total{${pair},kind="data"}`, Number(record.data_protected));
      continue;
    }
    count(`filer_lock_events_total{${pair},lock_phase="p2",lock_state="${String(record.lock_state).toLowerCase()}"}`);
    if (record.lock_duration === undefined) continue;
    observe('filer_lock_duration_seconds', `${pair},lock_phase="p2"`, Number(record.lock_duration));
  }
  return values;
}

/** Every counter that a ledger has. */
function counted(ledger: GfaLedger): Readonly<Record<string, number>> {
  return valuesOf([...ledger.samples()].filter(({ name }) => /_(?:total|bucket|sum|count)$/.test(name)));
}

/** Which events an answer holds, in some order and some of them more than once. */
function delivered(history: readonly Happened[], before: number, { mode, overlap, repeats, order }: Step) {
  const from = { incremental: before, overlapping: Math.max(0, before - overlap), 'from the start': 0 }[mode];
  const events = history.slice(from);
  const told = [events, ...Array.from({ length: repeats }, () => events)].flat();
  return fc.sample(fc.shuffledSubarray(told, { minLength: told.length }), { seed: order, numRuns: 1 })[0] ?? [];
}

const everyPair = (now: number) =>
  ['f1', 'f2'].flatMap((guid) =>
    ['v1', 'v2'].map((volume_guid) =>
      filer(now, 0, { filer_guid: guid, filer_title: guid, volume_guid, volume_title: volume_guid }),
    ),
  );

const newLedger = () => new GfaLedger(ledgerSettings());

test('every counter is the set of delivered events, however they come, late or dated ahead, through restarts', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(step, fc.array(event, { maxLength: 5 })), { minLength: 1, maxLength: 30 }),
      (steps) => {
        const history: Happened[] = [];
        let ledger = newLedger();
        /** What the state file holds: the state at some moment, and the changes since. */
        let file: unknown[] = [];
        // The model: what was delivered since counting began, and which of it was no older than a day then.
        const known = new Map<string, Happened | undefined>();
        let [now, before] = [0, 0];
        for (const [each, drawn] of steps) {
          now += each.pause;
          history.push(...drawn.map((one) => happened(one, now)));
          const events = delivered(history, before, each);
          before = history.length;
          if (!each.isLost) {
            const of = (group: Happened['group']) =>
              events.filter((one) => one.group === group).map(({ record }) => record);
            const records = { filers: everyPair(now), locks: of('locks'), propagation: of('propagation') };
            const { fresh } = take(ledger, dataAnswer(records, { request_time: timestamp(now) }), now * 1000);
            const counted = known.size;
            for (const one of events) {
              const identity = JSON.stringify(one.record);
              if (!known.has(identity)) known.set(identity, one.at < now - DAY ? undefined : one);
            }
            expect(fresh).toBe([...known.values()].slice(counted).filter((one) => one !== undefined).length);
          }
          file.push(...readAgain(ledger.changes()));
          if (each.next === 'restart with the file') {
            ledger = newLedger();
            for (const piece of file) ledger.put(piece as Piece, 0);
            ledger.finishRestoring(now * 1000);
            file = each.order % 2 === 0 ? [...readAgain(ledger.all())] : file;
          }
          if (each.next === 'restart without it') {
            ledger = newLedger();
            file = [];
            known.clear();
          }
          expect(counted(ledger)).toEqual(counters([...known.values()].filter((one) => one !== undefined)));
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('an event that first arrives more than a day after its own time is dropped as late, each time', () => {
  const ledger = newLedger();
  const heard = [25, 26, 27].map((hour) =>
    take(ledger, dataAnswer({ locks: [released(0, 5)] }, { request_time: timestamp(hour * HOUR) }), hour * HOUR * 1000),
  );
  expect(heard).toEqual(Array(3).fill({ fresh: 0, notes: ['late locks.timestamp'] }));
  // It is the newest event all the same.
  const state = [...ledger.samples()].filter(({ name }) => name === 'filer_lock_state');
  expect(state.map(({ labels }) => labels.lock_state)).toEqual(['released']);
});

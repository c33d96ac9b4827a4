import { describe, expect, test } from 'vitest';
import type { Fields } from '../../../src/metrics/family.ts';
import { atOnce } from '../../../src/runtime/slices.ts';
import type { Ledger } from '../../../src/sources/gfa/ledger.ts';
import { decode, encode } from '../../../src/state/format.ts';
import { valuesOf } from '../../support/exposition-lines.ts';
import fc from '../../support/fast-check.ts';
import { dataAnswer, lock, newLedger, propagation, released, take, timestamp } from '../../support/gfa-answers.ts';

/** One event: how long after the one before, and what. */
const event = (longestGap: number) =>
  fc.record({
    gap: fc.integer({ min: 1, max: longestGap }),
    filer: fc.constantFrom('f1', 'f2'),
    volume: fc.constantFrom('v1', 'v2'),
    word: fc.constantFrom('ACQUIRED', 'RELEASED', 'data'),
    seconds: fc.nat(100),
  });

/** One step: events happen, then an answer is read, or gets lost after the bookmark has moved; then perhaps a restart. */
const step = fc.record({
  more: fc.integer({ min: 0, max: 5 }),
  mode: fc.constantFrom('incremental', 'incremental', 'overlapping', 'full'),
  overlap: fc.nat(15),
  repeats: fc.nat(2),
  order: fc.integer(),
  isLost: fc.boolean(),
  next: fc.constantFrom('on', 'on', 'restart with the file', 'restart without it'),
});

type Drawn = ReturnType<typeof event> extends fc.Arbitrary<infer One> ? One : never;
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

interface Happened {
  readonly group: 'locks' | 'propagation';
  readonly at: number;
  readonly record: Fields;
}

function happened(drawn: readonly Drawn[]): readonly Happened[] {
  let at = 0;
  return drawn.map(({ gap, filer, volume, word, seconds }) => {
    at += gap;
    const where = { filer_guid: filer, filer_title: filer, volume_guid: volume, volume_title: volume };
    if (word === 'ACQUIRED') return { group: 'locks', at, record: lock(at, where) };
    if (word === 'RELEASED') return { group: 'locks', at, record: released(at, seconds, where) };
    return { group: 'propagation', at, record: propagation(at, seconds, { ...where, data_protected: seconds }) };
  });
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
function counted(ledger: Ledger): Readonly<Record<string, number>> {
  return valuesOf([...ledger.samples()].filter(({ name }) => /_(?:total|bucket|sum|count)$/.test(name)));
}

/** Which events an answer holds, in some order and some of them more than once; and the answer. */
function delivery(history: readonly Happened[], before: number, now: number, { mode, overlap, repeats, order }: Step) {
  const from = { incremental: before, overlapping: Math.max(0, before - overlap), full: 0 }[mode];
  const events = history.slice(from, now);
  const told = [events, ...Array.from({ length: repeats }, () => events)].flat();
  const shuffled =
    fc.sample(fc.shuffledSubarray(told, { minLength: told.length }), { seed: order, numRuns: 1 })[0] ?? [];
  const of = (group: Happened['group']) => shuffled.filter((each) => each.group === group).map(({ record }) => record);
  const newest = timestamp(history[now - 1]?.at ?? 0);
  const bookmarks = { last_lock_event: newest, last_propagation: newest };
  return { events, answer: dataAnswer({ locks: of('locks'), propagation: of('propagation') }, bookmarks) };
}

/** Another process's ledger, with what the state file of this one holds. */
function reborn(ledger: Ledger): Ledger {
  const file = Buffer.concat([...atOnce(encode(ledger.state(0)))]);
  const after = newLedger();
  atOnce(after.restore(atOnce(decode(file)), 0, 0));
  return after;
}

/**
 * Plays a history through. `check` sees the ledger after every step, with the events it was given since it last began
 * from zero, and those of them that it was given when they were news.
 */
function play(
  drawn: readonly Drawn[],
  steps: readonly Step[],
  check: (ledger: Ledger, given: ReadonlySet<Happened>, asNews: ReadonlySet<Happened>) => void,
): void {
  const history = happened(drawn);
  let ledger = newLedger();
  const given = new Set<Happened>();
  const asNews = new Set<Happened>();
  let before = 0;
  for (const each of steps) {
    const now = Math.min(history.length, before + each.more);
    const { events, answer } = delivery(history, before, now, each);
    if (!each.isLost) {
      take(ledger, answer);
      for (const one of events) given.add(one);
      for (const one of history.slice(before, now)) asNews.add(one);
    }
    before = now;
    if (each.next === 'restart with the file') ledger = reborn(ledger);
    if (each.next === 'restart without it') {
      ledger = newLedger();
      given.clear();
      asNews.clear();
    }
    check(ledger, given, asNews);
  }
}

const steps = fc.array(step, { minLength: 1, maxLength: 30 });

describe('through lost answers and restarts, with and without the state file', () => {
  test('within the hour, every counter is the history that was delivered, each event once', () => {
    fc.assert(
      fc.property(fc.array(event(60), { maxLength: 60 }), steps, (drawn, played) => {
        play(drawn, played, (ledger, given) => expect(counted(ledger)).toEqual(counters(given)));
      }),
      { numRuns: 500 },
    );
  });

  test('over days, no event counts twice, and every one that came as news counts', () => {
    fc.assert(
      fc.property(fc.array(event(20_000), { maxLength: 60 }), steps, (drawn, played) => {
        play(drawn, played, (ledger, given, asNews) => {
          const [values, most] = [counted(ledger), counters(given)];
          for (const [series, value] of Object.entries(values)) expect(value).toBeLessThanOrEqual(most[series] ?? 0);
          for (const [series, least] of Object.entries(counters(asNews))) {
            expect(values[series]).toBeGreaterThanOrEqual(least);
          }
        });
      }),
      { numRuns: 300 },
    );
  });
});

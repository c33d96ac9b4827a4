import { describe, expect, test } from 'vitest';
import { BookmarkWatch, isKeyShared } from '../../../src/services/gfa/bookmark-watch.ts';
import { GROUPS } from '../../../src/services/gfa/families.ts';
import { newLedger, take } from '../../support/gfa-answers.ts';
import { gfaService } from '../../support/gfa-service.ts';

/** Later than every bookmark of these tests, in Unix seconds. */
const NOW = 10_000;

const MINUTE_MS = 60_000;
const BEGUN = Date.UTC(2026, 2, 2, 10);

/** A watch that has seen an event come as it was told. */
function trusting(): BookmarkWatch {
  const watch = new BookmarkWatch();
  watch.addResponse(100, [90, 100], false, NOW);
  return watch;
}

describe('a bookmark that moves', () => {
  test('to an event of the same answer, of one before or of the next two is as it should be', () => {
    const watch = trusting();
    watch.addResponse(110, [110], false, NOW);
    watch.addResponse(110, [120], false, NOW);
    watch.addResponse(120, [], false, NOW);
    watch.addResponse(130, [], false, NOW);
    watch.addResponse(130, [], false, NOW);
    watch.addResponse(140, [130, 140], false, NOW);
    for (let poll = 0; poll < 5; poll += 1) watch.addResponse(140, [], false, NOW);
    expect(watch).toMatchObject({ missed: 0, suspectAdvances: 0 });
  });

  test('to events that never come is suspected after the third, and until twenty moves were right again', () => {
    const watch = trusting();
    for (const at of [110, 120, 130]) watch.addResponse(at, [], false, NOW);
    watch.addResponse(130, [], false, NOW);
    expect([watch.missed, isKeyShared([watch], false)]).toEqual([2, false]);
    watch.addResponse(130, [], false, NOW);
    expect([watch.missed, isKeyShared([watch], false)]).toEqual([3, true]);
    for (let move = 1; move < 20; move += 1) watch.addResponse(130 + move, [130 + move], false, NOW);
    expect([isKeyShared([watch], true), isKeyShared([watch], false)]).toEqual([true, false]);
    watch.addResponse(200, [200], false, NOW);
    expect([watch.missed, isKeyShared([watch], true)]).toEqual([3, false]);
  });

  test('is excused where an answer may have got lost: the events are missing and nobody is suspected', () => {
    const watch = trusting();
    for (let at = 110; at < 200; at += 10) watch.addResponse(at, [], true, NOW);
    expect(watch.missed).toBeGreaterThan(5);
    expect(watch.suspectAdvances).toBe(0);
  });

  test('but never is the time of an event is no ground for suspicion', () => {
    const watch = new BookmarkWatch();
    for (let at = 100; at < 1_000; at += 10) watch.addResponse(at, at % 100 === 0 ? [at - 30] : [], false, NOW);
    expect(watch.suspectAdvances).toBe(0);
  });

  test('twenty times without a single event is suspected', () => {
    const watch = new BookmarkWatch();
    for (let at = 100; at < 320; at += 10) watch.addResponse(at, [], false, NOW);
    expect(watch.suspectAdvances).toBe(0);
    watch.addResponse(320, [], false, NOW);
    expect(watch.suspectAdvances).toBe(20);
  });

  test('backwards, or that is missing, says nothing', () => {
    const watch = trusting();
    for (const bookmark of [50, undefined, 60, 0, 100]) watch.addResponse(bookmark, [], false, NOW);
    expect(watch).toMatchObject({ missed: 0, suspectAdvances: 0 });
  });

  test('ten years ahead for once hides no later one', () => {
    const watch = trusting();
    watch.addResponse(100 + NOW, [], false, 105);
    for (const at of [110, 120, 130]) watch.addResponse(at, [], false, at + 5);
    for (let poll = 0; poll < 5; poll += 1) watch.addResponse(130, [], false, 140);
    expect([watch.missed, isKeyShared([watch], false)]).toEqual([3, true]);
  });

  test('may be cut or rounded where events have fractions of a second', () => {
    const watch = new BookmarkWatch();
    watch.addResponse(100, [100.7], false, NOW);
    for (let at = 110; at < 200; at += 10) watch.addResponse(at, [at + (at % 20 === 0 ? 0.7 : -0.4)], false, NOW);
    for (let poll = 0; poll < 3; poll += 1) watch.addResponse(190, [], false, NOW);
    expect(watch.missed).toBe(0);
  });
});

describe('over the mock services', () => {
  test.each([
    ['one instance', 'incremental', MINUTE_MS, true],
    ['two instances', 'overlapping', MINUTE_MS, true],
    ['two instances', 'full', MINUTE_MS, false],
  ] as const)(
    '%s on a key with %s delivery, polling every %d ms, lose nothing',
    (...[instances, delivery, intervalMs, fractionalTimestamps]) => {
      const service = gfaService(BEGUN, { delivery, fractionalTimestamps, unknownStates: true }, 6);
      const ledgers = Array.from({ length: instances === 'one instance' ? 1 : 2 }, () => newLedger());
      for (let poll = 0; poll < 25; poll += 1) {
        for (const [index, ledger] of ledgers.entries()) {
          const now = (poll + index / 3) * intervalMs;
          take(ledger, service.ask('ours', BEGUN + now), now);
          expect(ledger.bookmarks).toEqual({ missed: 0, isSuspicious: false });
        }
      }
    },
  );

  test.each([
    [3, MINUTE_MS, 15],
    [12, 10_000, 15],
  ])(
    'two instances on one key with incremental delivery from %d appliances, polling every %d ms, hear of it',
    (appliances, intervalMs, polls) => {
      const service = gfaService(BEGUN, {}, appliances);
      const ledgers = [newLedger(), newLedger()];
      for (let poll = 0; poll < polls; poll += 1) {
        for (const [index, ledger] of ledgers.entries()) {
          const now = (poll + index / 2) * intervalMs;
          take(ledger, service.ask('ours', BEGUN + now), now);
        }
      }
      expect(ledgers.map(({ bookmarks }) => bookmarks.isSuspicious)).toEqual([true, true]);
    },
  );

  test('a group that is switched off is not judged', () => {
    const service = gfaService(BEGUN);
    const ledger = newLedger({ groups: GROUPS.filter((group) => group !== 'locks') });
    for (let now = 0; now < 60 * MINUTE_MS; now += MINUTE_MS) {
      const answer = service.ask('ours', BEGUN + now) as { metrics: { locks: unknown[] }[] };
      for (const part of answer.metrics) part.locks = [];
      take(ledger, answer, now);
    }
    expect(ledger.bookmarks).toEqual({ missed: 0, isSuspicious: false });
  });
});

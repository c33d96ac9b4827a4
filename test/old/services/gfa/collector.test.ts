import { describe, expect, test } from 'vitest';
import { FilerNames } from '../../../src/services/filer-names.ts';
import type { GfaClient } from '../../../src/services/gfa/client.ts';
import { GfaCollector } from '../../../src/services/gfa/collector.ts';
import type { GfaLedgerOptions } from '../../../src/services/gfa/ledger.ts';
import { dataAnswer, ledgerSettings, lock, timestamp } from '../../support/gfa-answers.ts';
import { keptLog } from '../../support/kept-log.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { going } from '../../support/mock-api.ts';

/** A collector over these answers, an error being one that gets lost; what it kept, and its warnings. */
function collecting(answers: readonly unknown[], settings: Partial<GfaLedgerOptions> = {}) {
  const left = [...answers];
  const client = {
    requestsSent: 0,
    data(): Promise<unknown> {
      this.requestsSent += 1;
      const answer = left.shift();
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  const calls: string[] = [];
  const keeper = {
    save: () => {
      calls.push(`save ${collector.ledger.memory.size}`);
      return Promise.resolve();
    },
    discard: (reason: string) => {
      calls.push(`discard: ${reason}`);
      return Promise.resolve();
    },
  };
  const ledger = ledgerSettings({ maxEvents: 1_000, ...settings });
  const { log, lines } = keptLog('warn');
  const clock = new ManualClock();
  const parts = { client: client as unknown as GfaClient, ledger, intervalMs: 60_000, keeper, clock, log };
  const collector = new GfaCollector(parts);
  const poll = async (times = answers.length) => {
    for (let time = 0; time < times; time += 1) {
      const [task] = collector.tasks();
      await task?.poll(going).catch((error: Error) => calls.push(error.message));
    }
  };
  return { collector, clock, poll, calls, warnings: lines };
}

/** An answer with one lock, and a bookmark at a lock. */
const news = (at: number, bookmark = at, account = 'acc') =>
  dataAnswer({ locks: [lock(at)] }, { account, last_lock_event: timestamp(bookmark), last_propagation: timestamp(0) });

test('an answer is kept before its samples are handed on, and a failed poll keeps the budget', async () => {
  const { poll, calls } = collecting([news(1), new Error('lost'), news(2)]);
  await poll();
  expect(calls).toEqual(['save 1', 'save 1', 'lost', 'save 2']);
});

test('answers about another account begin from zero, and what was kept is put aside', async () => {
  const { collector, poll, calls, warnings } = collecting([news(1), news(2, 2, 'another'), news(3, 3, 'another')]);
  await poll();
  expect(calls).toEqual(['save 1', 'discard: it belongs to another account', 'save 1', 'save 2']);
  expect(collector.ledger.account).toBe('another');
  expect(warnings).toHaveLength(1);
});

describe('a note', () => {
  const stolen = [2, 3, 4, 5, 6, 7, 8].map((poll) => news(10 * poll, 10 * poll + 5));

  test('of it never comes when each of those answers follows one that got lost', async () => {
    const lossy = stolen.flatMap((answer) => [new Error('lost'), answer]);
    const { collector, poll } = collecting([news(10), news(11), ...lossy]);
    await poll();
    expect(collector.warnings).toEqual([]);
    expect(collector.ledger.bookmarks.missed).toBeGreaterThan(3);
  });

  test('of a memory that is full is there', async () => {
    const locks = Array.from({ length: 300 }, (_, index) => lock(index));
    const { collector, poll } = collecting([news(1), dataAnswer({ locks }), dataAnswer({ locks })], { maxEvents: 100 });
    await poll();
    expect(collector.warnings.map(({ code }) => code)).toEqual(['event_memory']);
  });
});

test.each([
  ['is told', (names: FilerNames) => names.markInventoryRead(), 0],
  ['is not told for five seconds', () => {}, 1],
])('the first answer waits until the inventory %s, and the second does not', async (_, tell, waitMs) => {
  const names = new FilerNames([]);
  names.expectInventory();
  const { clock, poll } = collecting([news(1), news(2)], { names });
  let isDone = false;
  const first = poll(1).then(() => {
    isDone = true;
  });
  await clock.advance(4_999);
  expect(isDone).toBe(false);
  tell(names);
  await clock.advance(waitMs);
  await first;
  await poll(1);
});

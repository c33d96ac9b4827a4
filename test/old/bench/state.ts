import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import process from 'node:process';
import type { Kept } from '../../src/contract/kept.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { runInSlices } from '../../src/runtime/slices.ts';
import { parseDataResponse } from '../../src/services/gfa/data-response.ts';
import { GfaLedger } from '../../src/services/gfa/ledger.ts';
import type { Piece } from '../../src/services/gfa/saved-ledger.ts';
import { FileStore } from '../../src/state/file-store.ts';
import { StateKeeper } from '../../src/state/keeper.ts';
import { dataAnswer, ledgerSettings, lock, newLedger } from '../support/gfa-answers.ts';
import { noLog } from '../support/mock-api.ts';
import type { Report } from './main.ts';

/** A disk in memory where there is one: a real one adds the time of a sync. */
const FOLDER = process.env.BENCH_FOLDER ?? tmpdir();

const SAVES = 50;

/** What it costs to save ten new events, by how many are remembered; to rewrite the file, and to read it. */
export async function state(report: Report): Promise<void> {
  for (const remembered of [1_000, 100_000, 1_000_000]) await saving(remembered, report);
}

async function saving(remembered: number, report: Report): Promise<void> {
  const folder = mkdtempSync(join(FOLDER, 'bench-state-'));
  const place = `state.${remembered}_remembered`;
  const counting = new Counting();
  const keeper = new StateKeeper(new FileStore(join(folder, 'state')), systemClock, noLog);
  const heap = heapUsed();
  await keeper.load([counting.kept]);
  for (let known = 0; known < remembered; known += 1_000) {
    await counting.answer(1_000);
    await keeper.save();
  }
  await counting.answer(0);
  report(`${place}.memory_per_event`, (heapUsed() - heap) / remembered, 'bytes');
  keeper.release();
  const store = new FileStore(join(folder, 'state'));
  const next = new StateKeeper(store, systemClock, noLog);
  await next.load([counting.kept]);
  report(`${place}.file`, (await store.size()) ?? 0, 'bytes');
  const spent: number[] = [];
  const before = (await store.size()) ?? 0;
  for (let save = 0; save < SAVES; save += 1) {
    await counting.answer(10);
    const started = performance.now();
    await next.save();
    spent.push(performance.now() - started);
  }
  spent.sort((one, other) => one - other);
  report(`${place}.save_ten_new`, (((await store.size()) ?? 0) - before) / SAVES, 'bytes');
  report(`${place}.save_ten_new_median`, spent[SAVES / 2] ?? 0, 'ms');
  report(`${place}.save_ten_new_longest`, spent[SAVES - 1] ?? 0, 'ms');
  next.release();
  // A start reads the file and writes it anew, as a rewriting does.
  const last = new StateKeeper(store, systemClock, noLog);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const started = performance.now();
  await last.load([counting.kept]);
  report(`${place}.start`, performance.now() - started, 'ms');
  report(`${place}.start_longest_turn`, delay.max / 1e6 - 1, 'ms');
  delay.disable();
  last.release();
  await rm(folder, { recursive: true });
}

/** A ledger that takes in answers with new locks only. */
class Counting {
  #ledger = newLedger({ maxEvents: 2_000_000 });
  #events = 0;
  #answers = 0;

  readonly kept: Kept = {
    part: 'gfa',
    changes: () => this.#ledger.changes(),
    all: () => this.#ledger.all(),
    restore: (shiftMs) => {
      const ledger = new GfaLedger(ledgerSettings({ maxEvents: 2_000_000 }));
      return {
        put: (piece) => ledger.put(piece as Piece, shiftMs),
        commit: () => {
          ledger.finishRestoring(systemClock.monotonic());
          this.#ledger = ledger;
        },
      };
    },
  };

  async answer(events: number): Promise<void> {
    this.#answers += 1;
    const locks = Array.from({ length: events }, (_, index) =>
      lock(this.#answers / 100, { lock_duration: this.#events + index, filer_guid: `f${index % 10}` }),
    );
    this.#events += events;
    const answer = parseDataResponse(dataAnswer({ locks }), () => {});
    const fresh = await runInSlices(
      this.#ledger.add(answer, systemClock.monotonic(), () => {}),
      systemClock,
    );
    if (fresh !== events) throw new Error(`${fresh} of ${events} events were counted`);
  }
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

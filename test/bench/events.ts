import { runToEnd } from '../../src/runtime/slices.ts';
import type { DataResponse } from '../../src/services/gfa/data-response.ts';
import { newLedger } from '../support/gfa-answers.ts';
import type { Report } from './main.ts';

const FILERS = 500;
const VOLUMES = 20;
const PAIRS = FILERS * VOLUMES;
/** An event of each of four kinds for every pair in each answer. */
const ANSWERS = 25;
const BOUNDS = [10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400];

/** 500 filers on 20 volumes each, until a million events are remembered: what one costs to count, and what a pair costs to know. `state.ts` measures the state file. */
export async function events(report: Report): Promise<void> {
  const ledger = newLedger({
    bounds: BOUNDS,
    maxEvents: 1_000_000,
  });
  const before = heapUsed();
  let [micros, longestMs, counted] = [0, 0, 0];
  for (let poll = 0; poll < ANSWERS; poll += 1) {
    const answer = answerAt(poll);
    const started = performance.now();
    const work = ledger.add(answer, poll * 60_000, () => {});
    for (let from = performance.now(), step = work.next(); ; step = work.next()) {
      const now = performance.now();
      longestMs = Math.max(longestMs, now - from);
      from = now;
      if (!step.done) continue;
      counted += step.value;
      break;
    }
    micros += (performance.now() - started) * 1_000;
  }
  if (counted !== ANSWERS * PAIRS * 4) throw new Error(`${counted} events were counted`);
  const held = heapUsed() - before;
  report('events.absorb_per_event', micros / counted, 'us');
  report('events.absorb_longest_step', longestMs, 'ms');
  report('events.memory_per_pair', held / PAIRS, 'bytes');
  report('events.remembered', ledger.memory.size, 'events');
  const again = performance.now();
  const fresh = runToEnd(ledger.add(answerAt(ANSWERS - 1), ANSWERS * 60_000, () => {}));
  if (fresh !== 0) throw new Error(`${fresh} events were counted again`);
  report('events.absorb_per_known_event', ((performance.now() - again) * 1_000) / (PAIRS * 4), 'us');
}

/** An answer with two lock and two propagation events of every pair. */
function answerAt(poll: number): DataResponse {
  const volumes = Array.from({ length: VOLUMES }, (_, volume) => `volume-${volume}`);
  const pairs = Array.from({ length: FILERS }, (_, filer) =>
    volumes.map((volume) => ({ filer: `filer-${filer}`, volume })),
  );
  const at = (second: number) => new Date(Date.UTC(2026, 2, 2, 10, poll, second)).toISOString();
  const common = pairs.flat().map(({ filer, volume }) => ({
    version: 1,
    filer_guid: filer,
    filer_title: filer,
    volume_guid: volume,
    volume_title: volume,
  }));
  const lock = { metric_type: 'lock', lock_phase: 'P2' };
  const propagation = { metric_type: 'propagation', prop_seconds: 700 + poll, data_protected: 3 };
  return {
    info: { account: 'bench', volumes, last_lock_event: at(30), last_propagation: at(30) },
    at: undefined,
    groups: {
      filers: common.map((record) => ({ ...record, timestamp: at(0), last_checkin: 40 })),
      volumes: [],
      locks: common.flatMap((record) => [
        { ...record, ...lock, timestamp: at(10), lock_state: 'ACQUIRED' },
        { ...record, ...lock, timestamp: at(30), lock_state: 'RELEASED', lock_duration: 20 },
      ]),
      propagation: common.flatMap((record) => [
        { ...record, ...propagation, timestamp: at(20), kind: 'data' },
        { ...record, ...propagation, timestamp: at(30), kind: 'metadata' },
      ]),
    },
  };
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

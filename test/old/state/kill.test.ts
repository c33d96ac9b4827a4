import { expect, test } from 'vitest';
import { seededRandom } from '../../src/demo/seeded-random.ts';
import type { JsonObject } from '../../src/metrics/family.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import type { Random } from '../../src/runtime/random.ts';
import { SLICE_MS } from '../../src/runtime/slices.ts';
import type { GfaClient } from '../../src/services/gfa/client.ts';
import { GfaCollector } from '../../src/services/gfa/collector.ts';
import { parseDataResponse } from '../../src/services/gfa/data-response.ts';
import { StateKeeper } from '../../src/state/keeper.ts';
import { ledgerSettings } from '../support/gfa-answers.ts';
import { type GfaService, gfaService } from '../support/gfa-service.ts';
import { settle } from '../support/manual-clock.ts';
import { MemoryStore, MortalStore } from '../support/memory-store.ts';
import { going, noLog } from '../support/mock-api.ts';

const BEGUN = Date.UTC(2026, 2, 2, 10);
const MINUTE_MS = 60_000;

/** So that the file is rewritten again and again. */
const SLACK_BYTES = 2_000;

/** What is outside of all processes, and outlives each of them. */
interface Outside {
  readonly disk: MemoryStore;
  readonly service: GfaService;
  readonly random: Random;
  /** Simulated milliseconds since the beginning. */
  ms: number;
  /** The events of all answers whose counts are on the disk. */
  readonly saved: Map<string, JsonObject>;
  /** How many expositions were compared. */
  exposed: number;
  lost: number;
}

/** One life of a process: what it does goes on in the background until it is killed. */
function life(outside: Outside): { kill(): void; readonly failure: unknown } {
  const { disk, service, random } = outside;
  const state = { isDead: false, failure: undefined as unknown };
  const turns = () => Math.floor(random() * 4);
  const store = new MortalStore(disk, turns);
  // Each look at the clock takes a while, so that all work in slices stops in the middle.
  let spent = 0;
  const clock = {
    now: () => BEGUN + outside.ms,
    monotonic: () => {
      spent += random() * 0.6 * SLICE_MS;
      return outside.ms + spent;
    },
    // Nothing waits here but for a disk that hangs, which this one never does for long.
    sleep: () => new Promise<void>(() => {}),
  };
  let answer: unknown;
  const client = {
    attempts: 0,
    async data() {
      this.attempts += 1;
      for (let turn = turns(); turn > 0; turn -= 1) await settle();
      if (state.isDead) return new Promise(() => {});
      answer = service.ask('ours', BEGUN + outside.ms);
      outside.lost += 1;
      for (let turn = turns(); turn > 0; turn -= 1) await settle();
      return answer;
    },
  };
  const ledger = ledgerSettings({
    bounds: [60, 3600],
    maxEvents: 1_000_000,
    goneAfterMs: 1e12,
  });
  const keeper = new StateKeeper(store, clock, noLog, {}, SLACK_BYTES);
  const collector = new GfaCollector({
    client: client as unknown as GfaClient,
    ledger,
    intervalMs: MINUTE_MS,
    keeper,
    clock,
    log: noLog,
  });
  // From here on an answer is saved: its last line is in the file, also if the process is killed before it is synced.
  store.onChange = () => {
    const [sign] = String(disk.content).split('\n').at(-2) ?? '';
    if (answer === undefined || sign !== '=') return;
    outside.lost -= 1;
    for (const event of eventsOf(answer)) outside.saved.set(identity(event), event);
    answer = undefined;
  };
  const expose = (samples: Iterable<Sample>) => {
    if (state.isDead) return;
    outside.exposed += 1;
    expect(countersOf(samples)).toEqual(countersOfEvents(outside.saved.values()));
  };
  const live = async () => {
    await keeper.load([collector]);
    expose(collector.ledger.samples());
    for (;;) {
      const reading = await [...collector.tasks()][0]?.poll(going);
      if (reading !== undefined) expose(reading.samples);
      if (state.isDead) return;
      outside.ms += MINUTE_MS;
      await settle();
    }
  };
  live().catch((error: unknown) => {
    state.failure = error;
  });
  return {
    kill: () => {
      state.isDead = true;
      store.isDead = true;
    },
    get failure() {
      return state.failure;
    },
  };
}

/** The events of an answer. */
function eventsOf(answer: unknown): readonly JsonObject[] {
  const { groups } = parseDataResponse(answer, () => {});
  return [...groups.locks, ...groups.propagation];
}

function identity(event: JsonObject): string {
  const { filer_guid, volume_guid, timestamp, kind, prop_seconds, lock_phase, lock_state, lock_duration } = event;
  return [filer_guid, volume_guid, timestamp, kind, prop_seconds, lock_phase, lock_state, lock_duration].join('|');
}

/** How many events, and how many seconds in all, by filer, volume and word. */
function countersOfEvents(events: Iterable<JsonObject>): Readonly<Record<string, number>> {
  const values: Record<string, number> = {};
  const add = (key: string, value: number) => {
    values[key] = (values[key] ?? 0) + value;
  };
  for (const { filer_guid, volume_guid, kind, prop_seconds, lock_state, lock_duration } of events) {
    add(`${filer_guid} ${volume_guid} ${String(kind ?? lock_state).toLowerCase()}`, 1);
    if (kind !== undefined) add(`${filer_guid} ${volume_guid} ${kind} seconds`, Number(prop_seconds));
    if (lock_duration !== undefined) add(`${filer_guid} ${volume_guid} held seconds`, Number(lock_duration));
  }
  return values;
}

/** The same of an exposition. */
function countersOf(samples: Iterable<Sample>): Readonly<Record<string, number>> {
  const values: Record<string, number> = {};
  for (const { name, labels, value } of samples) {
    const pair = `${labels.filer_guid} ${labels.volume_guid}`;
    if (name === 'filer_lock_events_total') values[`${pair} ${labels.lock_state}`] = value;
    if (name === 'filer_propagation_duration_seconds_count') values[`${pair} ${labels.kind}`] = value;
    if (name === 'filer_propagation_duration_seconds_sum') values[`${pair} ${labels.kind} seconds`] = value;
    if (name === 'filer_lock_duration_seconds_sum') values[`${pair} held seconds`] = value;
  }
  return values;
}

const KILLS = 50;

test.each(['incremental', 'overlapping', 'full'] as const)(
  `killed ${KILLS} times anywhere in a poll, with %s delivery: every exposition is exactly what was saved`,
  async (delivery) => {
    const outside: Outside = {
      disk: new MemoryStore(),
      service: gfaService(BEGUN, { delivery, freshHistoryMs: 10 * MINUTE_MS }, 4),
      random: seededRandom(7),
      ms: 0,
      saved: new Map(),
      exposed: 0,
      lost: 0,
    };
    for (let kills = 0; kills < KILLS; kills += 1) {
      const process = life(outside);
      for (let turn = 1 + Math.floor(outside.random() * 250); turn > 0; turn -= 1) await settle();
      process.kill();
      expect(process.failure).toBeUndefined();
      outside.ms += Math.floor(outside.random() * MINUTE_MS);
    }
    expect(outside.exposed).toBeGreaterThan(1.5 * KILLS);
    // The kills were not all between polls: some took an answer along.
    expect(outside.lost).toBeGreaterThan(0.1 * KILLS);
    expect(outside.saved.size).toBeGreaterThan(0.5 * KILLS);
  },
);

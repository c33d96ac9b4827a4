import type { Bin, Window } from '../../src/contract/minutes.ts';
import { seededRandom } from '../../src/demo/seeded-random.ts';
import { RemoteWrite, type RemoteWriteOptions } from '../../src/history/remote-write.ts';
import { readAgain, restoreInto } from '../support/kept.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { noLog } from '../support/mock-api.ts';
import { MemoryReceiver, type ReceiverKind } from './memory-receiver.ts';

/*
 * Hours of remote write for a fleet on a manual clock, with made-up poll results: no request, no poller. Everything between
 * the poll and the receiver is the program's own.
 */

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const START = Date.UTC(2026, 2, 2, 6);

interface FleetOptions extends Partial<Pick<RemoteWriteOptions, 'catchUpMs' | 'intervalMs'>> {
  readonly appliances: number;
  /** Tasks of each appliance, and samples of each. */
  readonly tasks?: number;
  readonly samples?: number;
  readonly receiver?: ReceiverKind;
  /** When a minute arrives at the service, in milliseconds after the start; default with the next report. */
  readonly arrives?: (appliance: number, minute: number, reportMs: number) => number;
}

interface FleetTask {
  readonly id: string;
  readonly appliance: number;
  /** When it is polled within an interval, and when its appliance reports within five minutes, in milliseconds. */
  readonly phaseMs: number;
  readonly reportMs: number;
}

export class Fleet {
  readonly clock = new ManualClock(START);
  readonly receiver: MemoryReceiver;
  readonly tasks: readonly FleetTask[];
  remote: RemoteWrite;
  readonly intervalMs: number;
  readonly #settings: FleetOptions;
  readonly #options: RemoteWriteOptions;
  #stop = new AbortController();
  /** The status of a request for such a window; undefined returns its records. */
  portal: ((window: Window | undefined, task: FleetTask) => boolean) | undefined;
  polls = 0;
  maxWaiting = 0;
  readonly #unlisted = new Set<string>();
  /** What earlier processes have reported: seconds lost, points dropped. */
  readonly #reported = { lost: 0, dropped: 0 };
  /** What has been noted of the cursors. */
  readonly #journal: unknown[] = [];

  constructor(settings: FleetOptions) {
    const { appliances, tasks = 1, catchUpMs = 6 * HOUR_MS, intervalMs = 5 * MINUTE_MS } = settings;
    this.#settings = settings;
    this.intervalMs = intervalMs;
    this.receiver = new MemoryReceiver(settings.receiver, () => this.clock.now());
    this.#options = {
      labels: { job: 'minutes' },
      catchUpMs,
      intervalMs,
      forgetAfterMs: 24 * HOUR_MS,
      lookbackMs: 15 * MINUTE_MS,
      binMs: MINUTE_MS,
    };
    const random = seededRandom(7);
    const made: FleetTask[] = [];
    for (let appliance = 0; appliance < appliances; appliance += 1) {
      const reportMs = Math.floor(random() * 5 * MINUTE_MS);
      for (let task = 0; task < tasks; task += 1) {
        const phaseMs = Math.floor(random() * intervalMs);
        made.push({ id: `portal/${appliance}/${task}`, appliance, phaseMs, reportMs });
      }
    }
    this.tasks = made.sort((one, other) => one.phaseMs - other.phaseMs);
    this.remote = this.#started();
  }

  get minute(): number {
    return this.clock.monotonic() / MINUTE_MS;
  }

  async hours(hours: number): Promise<void> {
    const end = this.clock.monotonic() + hours * HOUR_MS;
    while (this.clock.monotonic() < end) {
      const round = Math.floor(this.clock.monotonic() / this.intervalMs) * this.intervalMs;
      for (const task of this.tasks) {
        const due = round + task.phaseMs;
        if (due < this.clock.monotonic() - 1_000 || due >= end || this.#unlisted.has(task.id)) continue;
        if (due > this.clock.monotonic()) await this.clock.advance(Math.max(1_000, due - this.clock.monotonic()));
        await this.#poll(task);
      }
      await this.clock.advance(Math.max(0, Math.min(end, round + this.intervalMs) - this.clock.monotonic()));
    }
  }

  /** These leave the inventory until what it returns is called; they report all the same. */
  unlist(tasks: readonly FleetTask[]): () => void {
    for (const { id } of tasks) {
      this.#unlisted.add(id);
      this.remote.withdraw(id);
    }
    return () => this.#unlisted.clear();
  }

  /** Ends the process, by default in order, and starts another one after some time; without `hasState` it knows nothing. */
  async restart({ hasState = true, downMs = 0, isKilled = false } = {}): Promise<void> {
    if (!isKilled) {
      await this.remote.flush(this.#stop.signal);
      this.#saveCursors();
    }
    this.#stop.abort();
    this.#stop = new AbortController();
    const { lost, dropped } = this.reported;
    this.#reported.lost = lost;
    this.#reported.dropped = dropped;
    await this.clock.advance(downMs);
    this.remote = this.#started();
    if (hasState) restoreInto(this.remote.cursors, this.#journal);
  }

  #saveCursors(): void {
    this.#journal.push(...readAgain(this.remote.cursors.changes()));
  }

  get reported() {
    const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((all, one) => all + one, 0);
    const { lost, dropped } = this.remote.status();
    return { lost: this.#reported.lost + sum(lost), dropped: this.#reported.dropped + sum(dropped) };
  }

  /**
   * The minutes that the service had, from one moment on and until so long before now that they must have arrived: how many
   * the receiver lacks, and how many were reported as lost or dropped.
   */
  judge({ fromMinute = 0, untilMinute = this.minute - 2 * (this.intervalMs / MINUTE_MS) - 25 } = {}) {
    const { samples = 1 } = this.#settings;
    let [due, missing] = [0, 0];
    for (const task of this.tasks) {
      const held = this.receiver.series.get(`__name__=m,job=minutes,of=0,task=${task.id}`)?.times;
      for (let minute = Math.max(0, fromMinute); minute < untilMinute; minute += 1) {
        due += 1;
        if (held?.has(START + minute * MINUTE_MS) !== true) missing += 1;
      }
    }
    const { lost, dropped } = this.reported;
    return { due, missing, reported: lost / 60 + dropped / samples, repeated: this.receiver.repeated };
  }

  #started(): RemoteWrite {
    const remote = new RemoteWrite(this.#options, this.receiver.send, {
      clock: this.clock,
      random: () => 0.5,
      log: noLog,
      saveCursors: async () => this.#saveCursors(),
    });
    void remote.run(this.#stop.signal);
    return remote;
  }

  async #poll(task: FleetTask): Promise<void> {
    this.polls += 1;
    const now = this.clock.now();
    const window = this.remote.windowOf({ id: task.id, now: () => now });
    if (this.portal?.(window, task) === false) {
      this.remote.release(task.id);
      return;
    }
    const bins = window === undefined ? [] : this.#bins(task, Math.min(window.start, now - 15 * MINUTE_MS), now);
    const minutes = window && { requestedAt: now, to: window.to, [Symbol.iterator]: () => bins[Symbol.iterator]() };
    const reading = { samples: [], drops: new Map(), empty: false, ...(minutes && { minutes }) };
    await this.remote.accept({ id: task.id, api: 'portal' }, reading);
    this.maxWaiting = Math.max(this.maxWaiting, this.remote.status().waiting);
  }

  #bins({ id, appliance, reportMs }: FleetTask, from: number, now: number): readonly Bin[] {
    const { samples = 1, arrives } = this.#settings;
    const bins: Bin[] = [];
    for (let at = Math.ceil(from / MINUTE_MS) * MINUTE_MS; at <= now; at += MINUTE_MS) {
      const minute = (at - START) / MINUTE_MS;
      const inMs = at - START;
      const reported = reportMs + Math.ceil((inMs - reportMs) / (5 * MINUTE_MS)) * 5 * MINUTE_MS;
      const shownMs = arrives?.(appliance, minute, reported) ?? reported;
      if (START + shownMs > now) continue;
      const all = Array.from({ length: samples }, (_, of) => {
        return { name: 'm', labels: { task: id, of: String(of) }, value: minute };
      });
      bins.push({ at, samples: () => all });
    }
    return bins;
  }
}

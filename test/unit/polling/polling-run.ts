import { onTestFinished } from 'vitest';
import { explainFor } from '../../../src/contract/causes.ts';
import type { PollResult } from '../../../src/contract/poll-result.ts';
import type { PollSink } from '../../../src/contract/sink.ts';
import type { Task } from '../../../src/contract/task.ts';
import type { Sample } from '../../../src/metrics/samples.ts';
import { Poller, type PollerOptions } from '../../../src/polling/poller.ts';
import { RequestError } from '../../../src/runtime/errors.ts';
import { getOrCreate } from '../../../src/runtime/maps.ts';
import { portalCauses } from '../../../src/services/portal/causes.ts';
import { keptLog, type LogLine } from '../../harness/kept-log.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

export const minutes = (count: number) => count * 60_000;

/** What a poll does: after `ms` it brings `result`. */
export interface Behaviour {
  readonly ms?: number;
  readonly result?: PollResult | Error;
}

/** A response with one record, whose time is in epoch milliseconds. */
export function recordAt(at?: number): PollResult {
  return { samples: [{ name: 'x', labels: {}, value: 1, at: at && at / 1000 }], drops: new Map(), empty: false };
}

export const records = recordAt();
export const noRecords: PollResult = { samples: [], drops: new Map(), empty: true };
export const status = (code: number) => new RequestError('status', `GET /x returned ${code}`, { status: code });
export const works: Behaviour = { ms: 50 };
export const fails: Behaviour = { ms: 50, result: status(503) };
export const hangs: Behaviour = { ms: 30_000, result: new RequestError('timeout', 'GET /x: no response within 30 s') };
export const isEmpty: Behaviour = { ms: 50, result: noRecords };
export const returns = (code: number): Behaviour => ({ ms: 50, result: status(code) });

export const suspendable = { suspendedIntervalMs: minutes(15) };

/** A task; of the appliance before the slash, if there is one. */
export function task(id: string, more: Partial<Task> = {}): Task {
  const [serial = '', series] = id.split('/');
  const appliance = series === undefined ? {} : { appliance: { serial, name: serial } };
  const poll = () => Promise.resolve(records);
  return { id, api: 'portal', operation: series ?? id, intervalMs: minutes(5), ...appliance, poll, ...more };
}

export const inventory = task('inventory', {
  intervalMs: minutes(15),
  discoversTasks: true,
  retriesBeforeSlot: true,
  priority: true,
});

/** The series `a0/s0`, `a0/s1`, … of so many appliances. */
export function seriesOf(appliances: number, series: number, more: Partial<Task> = {}): Task[] {
  const ids = Array.from({ length: appliances * series }, (_, n) => `a${Math.floor(n / series)}/s${n % series}`);
  return ids.map((id) => task(id, { ...suspendable, ...more }));
}

/** A poller of simulated tasks on a manual clock, and what it did. */
export class PollingRun implements PollSink {
  readonly clock = new ManualClock();
  readonly poller: Poller;
  readonly lines: readonly LogLine[];
  /** The exposed samples by their source. */
  readonly exposed = new Map<string, readonly Sample[]>();
  polls = 0;
  maxInFlight = 0;
  /** Tasks that were polled while they were in flight. */
  readonly polledTwiceAtOnce: string[] = [];
  tasks: readonly Task[];
  behaviour: (task: Task, nth: number) => Behaviour = () => works;
  /** How long the process did not run, in milliseconds. */
  pausedMs = 0;
  readonly #stopping = new AbortController();
  readonly #starts = new Map<string, number[]>();
  readonly #inFlight = new Set<string>();

  /** `minSleepMs`: the timers of the poller take at least so long, which makes a test of hours ten times faster. */
  constructor(tasks: readonly Task[], options: Partial<PollerOptions> = {}, minSleepMs = 2_500, level = 'info') {
    this.tasks = tasks;
    const { log, lines } = keptLog(level);
    this.lines = lines;
    const clock = {
      now: () => this.clock.now(),
      monotonic: () => this.clock.monotonic() + this.pausedMs,
      sleep: (ms: number, signal?: AbortSignal) => this.clock.sleep(Math.max(ms, minSleepMs), signal),
    };
    const defaults: PollerOptions = {
      collector: { api: 'portal', tasks: () => this.tasks.map((each) => this.#observed(each)) },
      workers: 4,
      sink: this,
      intervalMs: minutes(5),
      staleAfter: 3,
      appliances: { up: { name: 'up' }, state: { name: 'state' }, lastRecord: { name: 'last_record' } },
      allowedPerSecond: () => Number.POSITIVE_INFINITY,
      warnings: () => [],
      explain: explainFor(portalCauses),
      isWaiting: () => false,
    };
    this.poller = new Poller({ ...defaults, ...options }, { clock, log });
    onTestFinished(() => this.#stopping.abort());
  }

  /** Polls for so many minutes. */
  async passes(count: number): Promise<void> {
    if (this.polls === 0) void this.poller.run(this.#stopping.signal);
    await this.clock.advance(minutes(count));
  }

  get isUp(): boolean | undefined {
    return this.poller.health.isUp;
  }

  /** `filer_appliance_up`, or undefined. */
  up(serial: string): number | undefined {
    return this.#samplesOf(serial).find(({ name }) => name === 'up')?.value;
  }

  state(serial: string): string | undefined {
    return this.#samplesOf(serial).find(({ name, value }) => name === 'state' && value === 1)?.labels.state;
  }

  /** When the newest record of an appliance was, in seconds. */
  newestRecord(serial: string): number | undefined {
    return this.#samplesOf(serial).find(({ name }) => name === 'last_record')?.value;
  }

  suspended(): number {
    return this.poller.fleet.tasks.filter((polled) => polled.state.suspended !== undefined).length;
  }

  /** When a task was polled, in milliseconds. */
  startsOf(id: string, since = 0): number[] {
    return (this.#starts.get(id) ?? []).filter((at) => at >= since);
  }

  /** The times between two polls of a task, in minutes. */
  pausesOf(id: string): number[] {
    const starts = this.startsOf(id);
    return starts.slice(1).map((at, index) => (at - (starts[index] ?? 0)) / minutes(1));
  }

  /** The lines that contain the text. */
  log(text: string): readonly LogLine[] {
    return this.lines.filter(({ msg }) => msg.includes(text));
  }

  accept({ id }: { readonly id: string }, { samples }: PollResult): Promise<void> {
    this.exposed.set(id, [...samples]);
    return Promise.resolve();
  }

  publishState({ id }: { readonly id: string }, samples: Iterable<Sample>): void {
    this.exposed.set(id, [...samples]);
  }

  /** No task of a run has counters, so nothing is left of it where they stay. */
  withdraw(id: string, keepsCounts = false): void {
    if (keepsCounts) this.exposed.set(id, []);
    else this.exposed.delete(id);
  }

  #samplesOf(serial: string): readonly Sample[] {
    return this.exposed.get(`portal/${serial}/state`) ?? [];
  }

  #observed(each: Task): Task {
    return { ...each, poll: (signal) => this.#poll(each, signal) };
  }

  async #poll(each: Task, signal: AbortSignal): Promise<PollResult> {
    const { id } = each;
    const starts = getOrCreate(this.#starts, id, () => []);
    starts.push(this.clock.monotonic());
    this.polls += 1;
    if (this.#inFlight.has(id)) this.polledTwiceAtOnce.push(id);
    this.#inFlight.add(id);
    this.maxInFlight = Math.max(this.maxInFlight, this.#inFlight.size);
    const { ms = 0, result = records } = this.behaviour(each, starts.length);
    await this.clock.sleep(ms, signal);
    this.#inFlight.delete(id);
    if (signal.aborted) throw new RequestError('aborted', 'stopping');
    if (result instanceof Error) throw result;
    return result;
  }
}

import { RemoteWrite } from '../../src/history/remote-write.ts';
import type { Send } from '../../src/history/sender.ts';
import { keptLog } from './kept-log.ts';
import { ManualClock } from './manual-clock.ts';
import { keyOf, Receiver } from './receiver.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const START = Date.UTC(2026, 2, 2, 6);
const INTERVAL = 5;

const DEFAULTS = {
  tasks: 2,
  /** Whether the receiver accepts points that are older than its newest ones. */
  hasWindow: true,
  /** Samples of each minute of each task. */
  samples: 2,
  catchUpMs: 6 * HOUR,
  firstMs: 15 * MINUTE,
  maxWaiting: 20_000,
};

/** Tasks that report every five minutes the minutes until then and are polled as often, and a receiver. */
export class Fleet {
  readonly clock = new ManualClock(START);
  readonly receiver: Receiver;
  readonly log = keptLog();
  readonly tasks: readonly string[];
  readonly #options: typeof DEFAULTS;
  readonly #send: Send | undefined;
  #remote: RemoteWrite;
  #running = new AbortController();
  #listed = new Set<string>();
  /** The minutes that ended processes have counted. */
  #counted = 0;
  /** Whether the service returns a minute of a task in a response of `now`. */
  has = (_task: string, _at: number, _now: number): boolean => true;
  /** The service cannot return minutes before this time. */
  unreadUntil = 0;
  isListed = (_task: string): boolean => true;
  /** By how much the clock of the service is ahead. */
  aheadMs = 0;
  /** The polls that had to return minutes. */
  polls = 0;

  /** With `send`, the receiver is a real one: everything is sent once a minute, and `receiver.series` is set by the test. */
  constructor(options: Partial<typeof DEFAULTS> = {}, send?: Send) {
    this.#options = { ...DEFAULTS, ...options };
    this.tasks = Array.from({ length: this.#options.tasks }, (_, index) => `portal/${index}/cpu_utilization`);
    this.receiver = new Receiver(this.#options.hasWindow, () => this.clock.now());
    this.#send = send;
    this.#remote = this.#create();
  }

  get status() {
    return this.#remote.status();
  }

  /** What `STATE_FILE` would keep now. */
  get state(): string {
    return JSON.stringify(this.#remote.save());
  }

  async passes(ms: number): Promise<void> {
    for (const end = this.clock.now() + ms; this.clock.now() < end; ) {
      const minute = this.clock.now() / MINUTE;
      for (const [index, task] of this.tasks.entries()) if (index % INTERVAL === minute % INTERVAL) this.#poll(task);
      await this.clock.advance(MINUTE);
      if (this.#send !== undefined) await this.#remote.flush(this.#running.signal);
    }
  }

  /** Ends the process, and starts another one after `awayMs` with this state. */
  async restarts(awayMs: number, state?: string): Promise<void> {
    this.#counted = this.counted;
    this.#running.abort();
    this.#listed = new Set();
    await this.clock.advance(awayMs);
    this.#remote = this.#create();
    if (state !== undefined) this.#remote.restore(JSON.parse(state));
  }

  /** The minutes of a task that the receiver lacks, of those that the service has had from the start until 25 minutes ago. */
  missing(tasks = this.tasks): number {
    const minutes = tasks.flatMap((task) => {
      const held = this.receiver.series.get(keyOf(Object.entries(labelsOf(task, 0))));
      return this.#minutes(START, this.clock.now() - 25 * MINUTE).filter(
        (at) => this.has(task, at, this.clock.now()) && held?.get(at) !== at,
      );
    });
    return minutes.length;
  }

  /** The minutes of a task that were reported as dropped or lost. */
  get counted(): number {
    const { dropped, lost } = this.#remote.status();
    const sum = (counts: ReadonlyMap<string, number>) =>
      [...counts.values()].reduce((total, count) => total + count, 0);
    return this.#counted + sum(dropped) / this.#options.samples + sum(lost) / 60;
  }

  #create(): RemoteWrite {
    const { log } = this.log;
    const { catchUpMs, firstMs, maxWaiting } = this.#options;
    const remote = new RemoteWrite(
      { binMs: MINUTE, lookbackMs: 15 * MINUTE, catchUpMs, firstMs, maxWaiting, forgetAfterMs: 7 * HOUR },
      { send: this.#send ?? this.receiver.send, clock: this.clock, random: () => 0.5, log, labels: { job: 'minutes' } },
    );
    this.#running = new AbortController();
    if (this.#send === undefined) void remote.run(this.#running.signal);
    return remote;
  }

  #poll(task: string): void {
    if (!this.isListed(task)) {
      if (this.#listed.delete(task)) this.#remote.leave(task);
      return;
    }
    this.#listed.add(task);
    const now = this.clock.now() + this.aheadMs;
    const since = this.#remote.minutesSince({ id: task, now: () => now });
    if (since === undefined) return;
    this.polls += 1;
    const unread = this.unreadUntil > since ? { unreadUntil: this.unreadUntil } : undefined;
    // One request returns at most a day.
    const until = unread?.unreadUntil ?? (now - since > 6 * HOUR ? Math.min(since + 24 * HOUR, now) : now);
    const times = this.#minutes(since, Math.min(until, now - MINUTE)).filter(
      (at) => unread === undefined && this.has(task, at, now),
    );
    // An appliance's report may end within a minute, whose value is then not the final one.
    const isFinal = (at: number) => at !== times.at(-1) || at < now - 10 * MINUTE;
    const bins = times.map((at) => ({ at, samples: () => this.#samples(task, isFinal(at) ? at : 0) }));
    // The clock of one appliance is wrong; this record is too far ahead to be sent.
    bins.push({ at: now + 5 * MINUTE + 1, samples: () => this.#samples(task, 0) });
    this.#remote.accept(task, { bins, now, until, ...unread });
  }

  /** The minutes of a period that an appliance has reported by its end. */
  #minutes(from: number, to: number): readonly number[] {
    const reported = Math.floor(to / (INTERVAL * MINUTE)) * INTERVAL * MINUTE;
    const times: number[] = [];
    for (let at = Math.ceil(from / MINUTE) * MINUTE; at < reported; at += MINUTE) times.push(at);
    return times;
  }

  #samples(task: string, value: number) {
    return Array.from({ length: this.#options.samples }, (_, disk) => {
      const { __name__: name, job, ...labels } = labelsOf(task, disk);
      return { name, labels, value };
    });
  }
}

/** Sorted, as the protocol demands. */
function labelsOf(task: string, disk: number) {
  return { __name__: 'filer_cpu', disk: String(disk), job: 'minutes', serial: task.split('/')[1] ?? '' };
}

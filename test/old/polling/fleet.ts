import type { PollResult } from '../../src/contract/poll-result.ts';
import type { PollSink, ResultSource } from '../../src/contract/sink.ts';
import type { Task } from '../../src/contract/task.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import type { Failure, Response } from '../../src/polling/poll.ts';
import { RequestError } from '../../src/runtime/errors.ts';
import type { Log } from '../../src/runtime/log.ts';

/** Minutes in milliseconds. */
export const minutes = (count: number) => count * 60_000;

/** An answer that brought one sample. */
export const records: PollResult = {
  samples: [{ name: 'filer_x', labels: {}, value: 1 }],
  drops: new Map(),
  empty: false,
};

/** An answer that held no record. */
export const nothing: PollResult = { samples: [], drops: new Map(), empty: true };

/** A request answered with a status, as an error. */
export const answered = (status: number) => new RequestError('status', `answered ${status}`, { status });

/** A task; of the appliance before the slash, where there is one. */
export function task(id: string, more: Partial<Task> = {}): Task {
  const [serial = '', series] = id.split('/');
  return {
    id,
    api: 'portal',
    operation: series ?? id,
    intervalMs: minutes(5),
    ...(series === undefined ? {} : { appliance: { serial, name: serial } }),
    poll: () => Promise.resolve(records),
    ...more,
  };
}

/** A task of the API without appliances. */
export const dataTask: Task = task('data', { api: 'gfa', intervalMs: minutes(1) });

/** What reads the inventory. */
export const inventory: Task = task('inventory', {
  intervalMs: minutes(15),
  discoversTasks: true,
  retriesBeforeSlot: true,
});

/** `series` tasks of each of `appliances` appliances. */
export function fleet(appliances: number, series: number, more: Partial<Task> = {}): Task[] {
  const tasks: Task[] = [];
  for (let serial = 0; serial < appliances; serial += 1) {
    for (let index = 0; index < series; index += 1) tasks.push(task(`a${serial}/s${index}`, more));
  }
  return tasks;
}

/** A poll that brought records, or none. */
export const responded = (brought: PollResult = records): Response => ({
  result: brought.empty ? 'empty' : 'records',
  pollResult: brought,
  seconds: 0,
});

/** A poll that brought nothing. */
export const failed = (error: Error = answered(500), result: Failure['result'] = 'failed'): Failure => ({
  result,
  error,
  seconds: 0,
});

/** A log that keeps its lines from `info` on: level, message and fields; of a message, all or what stands before its cause. */
export class Lines implements Log {
  readonly all: {
    readonly level: string;
    readonly text: string;
    readonly fields: Record<string, unknown>;
    /** Monotonic milliseconds. */
    readonly at: number;
  }[] = [];
  readonly #now: () => number;
  readonly #withCauses: boolean;
  readonly debug = () => {};
  readonly info = this.#keep('info');
  readonly warn = this.#keep('warn');
  readonly error = this.#keep('error');

  constructor(now: () => number = () => 0, withCauses = true) {
    this.#now = now;
    this.#withCauses = withCauses;
  }

  /** The lines since the last time, each as `level message`. */
  take(): string[] {
    return this.all.splice(0).map(({ level, text }) => `${level} ${text}`);
  }

  #keep(level: string) {
    return (fields: unknown, text?: unknown) => {
      const message = String(text);
      this.all.push({
        level,
        text: this.#withCauses ? message : (message.split(': ')[0] ?? ''),
        fields: fields as Record<string, unknown>,
        at: this.#now(),
      });
    };
  }
}

/** A sink that holds what was published last: by origin, its samples. */
export class Shelf implements PollSink {
  readonly held = new Map<string, readonly Sample[]>();

  accept({ id }: ResultSource, { samples }: PollResult): Promise<void> {
    this.held.set(id, [...samples]);
    return Promise.resolve();
  }

  publishState({ id }: ResultSource, samples: Iterable<Sample>): void {
    this.held.set(id, [...samples]);
  }

  withdraw(id: string): void {
    this.held.delete(id);
  }

  /** What is shown of whether an appliance is up: its name and 1 or 0. */
  up(serial: string): string | undefined {
    const [sample] = this.held.get(`portal/${serial}/state`) ?? [];
    return sample && `${sample.labels.filer} ${sample.value}`;
  }

  /** How an appliance is shown to stand. */
  state(serial: string): string | undefined {
    return this.held.get(`portal/${serial}/state`)?.find(({ name }) => name === families.state.name)?.labels.state;
  }
}

/** What appliances are published under. */
export const families = { up: { name: 'up' }, state: { name: 'state' }, lastRecord: { name: 'record' } } as const;

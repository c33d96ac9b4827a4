import { upstreamCatalog } from '../catalog.ts';
import type { PollResult } from '../contract/poll-result.ts';
import type { PollSink, ResultSource, Sink } from '../contract/sink.ts';
import type { Task } from '../contract/task.ts';
import type { ExporterMetrics } from '../exposition/exporter/metrics.ts';
import type { Corrections } from '../exposition/format.ts';
import { LineStore } from '../exposition/store.ts';
import type { RemoteWrite } from '../history/remote-write.ts';
import type { Sample } from '../metrics/samples.ts';
import type { Environment } from './environment.ts';

interface OutputDependencies {
  readonly exposition: LineStore;
  readonly own: ExporterMetrics;
  /** Says which minutes each poll requests in addition to the present. */
  readonly history: RemoteWrite | undefined;
  /** Each of them receives every result. */
  readonly outputs: readonly Sink[];
}

/** Passes each result to every output and to `/metrics`. Counts dropped values once. */
export class SinkFanOut implements PollSink {
  readonly #parts: OutputDependencies;

  constructor(parts: OutputDependencies) {
    this.#parts = parts;
  }

  async accept(origin: ResultSource, pollResult: PollResult): Promise<void> {
    const { exposition, own, outputs } = this.#parts;
    for (const output of outputs) await output.accept(origin, pollResult);
    const corrected = await exposition.accept(origin.id, pollResult.samples);
    for (const [reason, count] of pollResult.drops) own.dropped(origin.api, reason, count);
    this.#countCorrections(origin, corrected);
  }

  publishState(origin: ResultSource, samples: Iterable<Sample>): void {
    this.#countCorrections(origin, this.#parts.exposition.publish(origin.id, samples));
  }

  withdraw(id: string, keepsCounts = false): void {
    this.#parts.exposition.withdraw(id, keepsCounts);
    for (const output of this.#parts.outputs) output.withdraw(id, keepsCounts);
  }

  minutesSince(task: Task): number | undefined {
    return this.#parts.history?.minutesSince(task);
  }

  #countCorrections({ api }: ResultSource, { cut, duplicates }: Corrections): void {
    const { own } = this.#parts;
    own.dropped(api, 'label', cut);
    own.dropped(api, 'duplicate', duplicates);
  }
}

/**
 * The limit for all lines, as a share of the heap's limit: three times the lines of the largest fleet for which the container
 * is large enough.
 */
const LINES_SHARE = 1 / 3;

export function createLineStore({ heapBytes = Number.POSITIVE_INFINITY }: Environment): LineStore {
  return new LineStore(upstreamCatalog, heapBytes * LINES_SHARE);
}

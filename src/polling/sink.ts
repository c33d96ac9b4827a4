import type { DropReason } from '../metrics/samples.ts';
import type { Api, Snapshot, Write } from '../metrics/snapshot.ts';
import type { Task } from '../metrics/task.ts';

/** Takes what polls bring. */
export interface SnapshotSink {
  /** Makes lines of samples, for a later `publish`; without it that makes them. */
  readonly write?: Write;
  publish(task: Task, snapshot: Snapshot): void;
  withdraw(id: string): void;
  dropped(api: Api, drops: ReadonlyMap<DropReason, number>): void;
}

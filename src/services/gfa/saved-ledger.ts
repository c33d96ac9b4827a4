import type { JsonObject } from '../../metrics/family.ts';
import type { SavedIds } from '../../runtime/seen-ids.ts';
import type { BookmarkWatch } from './bookmark-watch.ts';
import type { EventGroup } from './families.ts';
import type { SavedStatistic } from './filer-volume.ts';
import type { LabelValueLimits } from './label-value-limits.ts';
import type { SavedCurrent } from './timed-record.ts';
import type { SavedEntry } from './title-directory.ts';

/** What is saved about the whole account. The list of volumes of `info` is a part of its own, because it is long and changes seldom. */
export interface Heading {
  readonly info: JsonObject;
  readonly volumes: unknown;
  /** The label values that were admitted, by field. */
  readonly words: ReturnType<LabelValueLimits['state']>;
  readonly bookmarks: Readonly<Record<EventGroup, ReturnType<BookmarkWatch['state']>>>;
}

type Saved<Value> = readonly (readonly [key: string, value: Value])[];

/** `name` is the name under which the filer was exposed. */
export type SavedFiler = readonly [entry: SavedEntry, name: string];

/** A piece of the saved ledger. Null stands for an entry that was removed. */
export interface Piece {
  /** When the latest response arrived, in monotonic milliseconds of the process that saves. */
  readonly answeredAt?: number | null;
  readonly heading?: Saved<unknown>;
  readonly filers?: Saved<SavedFiler | null>;
  readonly volumes?: Saved<SavedEntry | null>;
  /** The current states, by filer and volume. */
  readonly states?: Saved<SavedCurrent | null>;
  readonly counts?: Saved<readonly SavedStatistic[] | null>;
  readonly events?: readonly SavedIds[];
}

import type { PageNotice } from '../pages/notice.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { StateStore } from '../state/store.ts';
import type { createDispatcher } from '../transport/dispatcher.ts';

/** What the program takes from its process and its machine, as arguments: a test hands in something else. */
export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
  /** What the pages say before anything else. */
  readonly notice?: PageNotice;
  /** How large the heap may become, in bytes; as large as is wanted when it is left out. */
  readonly heapBytes?: number;
  /** Opens the place where state is kept over restarts; without it `STATE_FILE` has no effect. */
  readonly openState?: (path: string) => StateStore;
  /** Connects to one API; over the network when it is left out. */
  readonly connect?: typeof createDispatcher;
}

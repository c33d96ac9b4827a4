import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { createDispatcher } from '../transport/dispatcher.ts';
import type { PageNotice } from '../web/pages/page.ts';
import type { StateStore } from './state-file.ts';

/** What the program gets from its process and machine; tests pass replacements. */
export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
  /** Shown at the top of every page. */
  readonly notice?: PageNotice | undefined;
  /** The limit of the heap in bytes; infinite by default. */
  readonly heapBytes?: number;
  /** Opens the state file; without it `STATE_FILE` has no effect. */
  readonly openState?: (path: string) => StateStore;
  /** Connects to a service, or to the receiver of remote write; by default over the network. */
  readonly connect?: typeof createDispatcher;
}

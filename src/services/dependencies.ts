import type { Config } from '../config/config.ts';
import type { SaveSoon } from '../contract/saved-part.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { Exchange, JsonClient } from '../transport/json-client.ts';
import type { FilerNames } from './filer-names.ts';

/** What the program gives to the connection of a service. */
export interface ServiceDependencies {
  readonly client: JsonClient;
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heapBytes: number;
  readonly names: FilerNames;
  /** Undefined without a state file. */
  readonly saveSoon: SaveSoon | undefined;
}

/** What the program gives to the checks of `--doctor`. */
export interface DoctorCheckDependencies {
  readonly client: JsonClient;
  readonly config: Config;
  readonly environment: { readonly clock: Clock; readonly random: Random; readonly log: Log };
  readonly exchanges: readonly Exchange[];
}

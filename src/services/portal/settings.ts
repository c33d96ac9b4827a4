import type { Config } from '../../config/config.ts';
import type { FilerNames } from '../filer-names.ts';
import type { UnitName } from './appliances/units.ts';

/** What the collectors use of the configuration, and of what the process has beside it. */
export interface PortalOptions extends Pick<Config, 'shard' | 'staleAfter' | 'forgetAfterMs'> {
  readonly series: readonly NamedInterval[];
  readonly mode?: 'full' | 'economy';
  readonly collectors: readonly NamedInterval[];
  /** Whether series are read that the present build of an appliance cannot have: an earlier one may have had them. */
  readonly readsEarlierBuilds?: boolean;
  /** Time between two polls of the inventory, and of a task that is suspended. */
  readonly discoveryIntervalMs: number;
  /** Only these serials, in lower case; undefined for the whole inventory. */
  readonly serials: readonly string[] | undefined;
  readonly lookbackMs: number;
  readonly binSeconds: number;
  /** The units that this account uses instead of the documented ones; default none. */
  readonly units?: readonly UnitName[] | undefined;
  /** Of the histograms; ascending, empty for sum and count only. */
  readonly bounds: readonly number[];
  /** The most appliances of an inventory, limited by memory; `serials` are always polled. */
  readonly maxAppliances?: number;
  /** The names of filers in both services; without it each appliance has its name in the inventory. */
  readonly names?: FilerNames;
}

export interface NamedInterval {
  readonly name: string;
  readonly intervalMs: number;
}

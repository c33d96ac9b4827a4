import type { Config } from '../../config/config.ts';
import type { UnitName } from './appliances/units.ts';

/** What the collectors need: a part of the configuration, and what the app adds to it. */
export interface PortalOptions extends Pick<Config, 'staleAfter' | 'forgetAfterMs'> {
  readonly series: readonly NamedInterval[];
  readonly collectors: readonly NamedInterval[];
  /** Whether series are read that the appliance's build does not have: by `--doctor`, which finds out what the portal returns. */
  readonly readsEarlierBuilds?: boolean;
  /** The time between two polls of the inventory, and between two polls of a suspended task. */
  readonly discoveryIntervalMs: number;
  /** Only these serials are polled, in lower case; undefined polls the whole inventory. */
  readonly serials: readonly string[] | undefined;
  readonly lookbackMs: number;
  readonly binSeconds: number;
  /** The units that the account uses instead of the documented ones; default none. */
  readonly units?: readonly UnitName[] | undefined;
  /** The upper bounds of the histograms' buckets, ascending; empty for sum and count only. */
  readonly bounds: readonly number[];
  /** The most appliances of an inventory that the memory allows; those in `serials` are always polled. */
  readonly maxAppliances?: number;
}

export interface NamedInterval {
  readonly name: string;
  readonly intervalMs: number;
}

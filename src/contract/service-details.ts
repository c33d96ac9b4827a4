import type { FailureReason } from '../runtime/failures.ts';
import type { Explanation } from './causes.ts';
import type { ServiceWarning } from './service-warning.ts';

/** What a service reports about itself. */
export interface ServiceDetails {
  readonly inventory?: InventoryDetails;
  readonly warnings?: () => readonly ServiceWarning[];
  readonly ownValues?: () => OwnValues;
}

/** A metric about the exporter that only one service has. It has no labels. */
export interface OwnMetric {
  readonly name: `filer_exporter_${string}`;
  readonly help: string;
  /** Default gauge. */
  readonly type?: 'counter';
}

/** The present value of each by its name. */
export type OwnValues = ReadonlyMap<string, number>;

/** The part of an inventory that a report reads. */
export interface InventoryDetails {
  gaps(): readonly InventoryGap[];
  describe(serial: string): ApplianceDescription | undefined;
}

interface ApplianceDescription {
  readonly type: string;
  readonly build: string;
  readonly availableBuild: string;
}

/**
 * A list of the inventory that cannot be read, is empty although another one is not, or has other ids for the same
 * objects.
 */
export interface InventoryGap extends Explanation {
  /** The list; `all` if no list names any object. */
  readonly list: string;
  readonly reason: FailureReason | 'empty' | 'other_ids';
}

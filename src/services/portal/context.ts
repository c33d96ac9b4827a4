import type { Config } from '../../config/config.ts';
import type { Task } from '../../contract/task.ts';
import type { Table } from '../../metrics/family.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { ApplianceIndex } from './appliances/appliance-index.ts';
import type { PortalClient } from './client.ts';
import type { AccountRead } from './reads.ts';
import type { PortalSettings } from './settings.ts';

/** The settings, and what the program adds to them. */
export interface PortalOptions
  extends PortalSettings,
    Pick<Config, 'staleAfter' | 'forgetAfterMs' | 'eventBucketsSeconds'> {
  /** The most appliances of an inventory that the memory allows; those of PORTAL_SERIALS are always polled. */
  readonly maxAppliances: number;
  /** Only `--doctor` reads series that the build of an appliance cannot have. */
  readonly readsEarlierBuilds?: true;
}

/** What the collectors of the portal share. */
export interface PortalContext {
  readonly client: PortalClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly options: PortalOptions;
  readonly appliances: ApplianceIndex;
  /** The licence `ops_iq_premium`, without which the portal returns 403 for every telemetry series, as it does without the right. */
  readonly licence: {
    /** What the licence says; only its response writes this. */
    hasTelemetry: boolean | undefined;
  };
}

/** What all tasks of a collector have in common. */
export type TaskSettings = Pick<Task, 'intervalMs' | 'without'>;

export interface CollectorDefinition {
  readonly name: string;
  readonly intervalMs: number;
  /** Operations of the account. Each becomes a task. */
  readonly reads?: readonly AccountRead[];
  /** The families of the tasks that `create` makes. */
  readonly tables?: readonly Table[];
  /** Returns a function that lists the present tasks in addition to those of `reads`; they change with the appliances. */
  readonly create?: (context: PortalContext, settings: TaskSettings) => () => Iterable<Task>;
  /** How many requests one cycle takes; default one for each of `reads`. */
  readonly requestsPerCycle?: { readonly perAppliance?: number; readonly perVolume?: number };
}

import type { Task } from '../../contract/task.ts';
import type { Table } from '../../metrics/family.ts';
import type { ReportDrop, Sample } from '../../metrics/samples.ts';
import type { SampleCounts } from '../service.ts';
import type { TaskSettings } from './account-task.ts';
import type { Appliance } from './appliances/inventory.ts';
import type { PortalContext } from './context.ts';
import { type AccountRead, readTask, tablesOfRead } from './reads.ts';

export interface CollectorDefinition {
  readonly name: string;
  readonly intervalMs: number;
  /** Operations of the account. Each becomes a task. */
  readonly reads?: readonly AccountRead[];
  /** The families of what `create` and `inventorySamples` make. */
  readonly tables?: readonly Table[];
  /** Returns a function that lists the present tasks in addition to those of `reads`; they change with the appliances. */
  readonly create?: (context: PortalContext, settings: TaskSettings) => () => Iterable<Task>;
  /** The samples that the collector makes of an appliance's inventory records, for which it sends no request. */
  readonly inventorySamples?: (appliance: Appliance, reportDrop: ReportDrop) => Sample[];
  /** How many requests one cycle takes; default one for each of `reads`. */
  readonly requestsPerCycle?: { readonly perAppliance?: number; readonly perVolume?: number };
  /** Missing for a collector whose samples do not grow with the fleet. */
  readonly sampleCounts?: SampleCounts;
  /** The tasks exist only after the inventory has been read: before that, samples would have other labels. */
  readonly waitsForInventory?: true;
}

/** Returns a function that lists the collector's present tasks, which change with the appliances. */
export function createTasks(
  { name, reads = [], create, waitsForInventory }: CollectorDefinition,
  context: PortalContext,
  intervalMs: number,
): () => Iterable<Task> {
  const settings = { intervalMs, without: `PORTAL_COLLECTORS=-${name}` };
  const accountTasks = reads.map((read) => readTask(context, settings, read));
  const otherTasks = create?.(context, settings) ?? (() => []);
  return function* () {
    const { isInventoryRead, names } = context.appliances;
    if (waitsForInventory && !isInventoryRead) return;
    for (const task of accountTasks) yield waitsForInventory ? { ...task, names } : task;
    yield* otherTasks();
  };
}

/** Every family of a collector, for HELP and the reference. */
export function tablesOf({ tables = [], reads = [] }: CollectorDefinition): readonly Table[] {
  return [...reads.flatMap(tablesOfRead), ...tables];
}

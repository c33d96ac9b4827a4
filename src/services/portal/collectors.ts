import type { Task } from '../../contract/task.ts';
import type { Table } from '../../metrics/family.ts';
import { health, license } from './account/account.ts';
import { jobs, notifications } from './account/events.ts';
import { indexing } from './account/indexing.ts';
import { credentials, gfaKeys, iam } from './account/keys.ts';
import { fiq, software, stacks } from './account/products.ts';
import { edges } from './appliances/edges.ts';
import type { CollectorDefinition, PortalContext } from './context.ts';
import { readTask, tablesOfRead } from './reads.ts';
import { volumes } from './volumes/connections.ts';
import { volumeTelemetry } from './volumes/telemetry.ts';

/** Every collector except the telemetry series, in the order of the exposition. A new collector is added here only. */
export const collectorDefinitions: readonly CollectorDefinition[] = [
  volumes,
  volumeTelemetry,
  edges,
  fiq,
  license,
  notifications,
  jobs,
  credentials,
  indexing,
  stacks,
  software,
  iam,
  health,
  gfaKeys,
];

export const portalTables: readonly Table[] = collectorDefinitions.flatMap(({ tables = [], reads = [] }) => [
  ...reads.flatMap(tablesOfRead),
  ...tables,
]);

/** Returns a function that lists the collector's present tasks, which change with the appliances. */
export function createTasks(
  { name, intervalMs, reads = [], create }: CollectorDefinition,
  context: PortalContext,
): () => Iterable<Task> {
  const settings = { intervalMs, without: `add -${name} to PORTAL_COLLECTORS` };
  const accountTasks = reads.map((read) => readTask(context, settings, read));
  const otherTasks = create?.(context, settings) ?? (() => []);
  return function* () {
    for (const task of accountTasks) yield { ...task, names: context.appliances.names };
    yield* otherTasks();
  };
}

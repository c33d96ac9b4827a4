import type { Table } from '../../metrics/family.ts';
import { credentials } from './account/credentials.ts';
import { gfaKeys } from './account/gfa-keys.ts';
import { health } from './account/health.ts';
import { iam } from './account/iam.ts';
import { indexing } from './account/indexing.ts';
import { jobs } from './account/jobs.ts';
import { license } from './account/license.ts';
import { notifications } from './account/notifications.ts';
import { software } from './account/software.ts';
import { stacks } from './account/stacks.ts';
import { edges } from './appliances/edges.ts';
import { fiq } from './appliances/fiq.ts';
import { type CollectorDefinition, tablesOf } from './collector-definition.ts';
import type { NamedInterval } from './collector-options.ts';
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

export const portalTables: readonly Table[] = collectorDefinitions.flatMap(tablesOf);

/** The definitions of the chosen collectors. The telemetry series have none and are left out. */
export function enabledCollectors(
  chosen: readonly NamedInterval[],
): readonly { readonly definition: CollectorDefinition; readonly intervalMs: number }[] {
  return chosen.flatMap(({ name, intervalMs }) => {
    const definition = collectorDefinitions.find((candidate) => candidate.name === name);
    return definition === undefined ? [] : [{ definition, intervalMs }];
  });
}

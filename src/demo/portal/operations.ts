import { accountOperations } from './account.ts';
import { activityLogOperations } from './activity-logs.ts';
import { applianceTelemetryOperations } from './appliance-telemetry.ts';
import { cloudCredentialOperations } from './cloud-credentials.ts';
import { configurationOperations } from './configuration.ts';
import { edgeOperations } from './edges.ts';
import { fiqOperations } from './fiq-appliances.ts';
import { gfaKeyOperations } from './gfa-keys.ts';
import { iamOperations } from './iam.ts';
import { indexingOperations } from './indexing.ts';
import { jobOperations } from './jobs.ts';
import { notificationOperations } from './notifications.ts';
import type { Operation, Parameters } from './operation.ts';
import { serialOperations } from './serials.ts';
import { softwareOperations } from './software.ts';
import { stackOperations } from './stacks.ts';
import { volumeConnectionOperations } from './volume-connections.ts';
import { volumeTelemetryOperations } from './volume-telemetry.ts';
import { volumeOperations } from './volumes.ts';

/** Every operation of the portal that only reads, but for those of the token. */
export const readOperations: readonly Operation[] = [
  ...accountOperations,
  ...activityLogOperations,
  ...indexingOperations,
  ...configurationOperations,
  ...cloudCredentialOperations,
  ...edgeOperations,
  ...fiqOperations,
  ...gfaKeyOperations,
  ...stackOperations,
  ...iamOperations,
  ...notificationOperations,
  ...jobOperations,
  ...serialOperations,
  ...softwareOperations,
  ...volumeOperations,
  ...volumeConnectionOperations,
  ...applianceTelemetryOperations,
  ...volumeTelemetryOperations,
];

/** One operation found by its path, with the identifiers that the path holds. */
export interface Found {
  readonly operation: Operation;
  readonly parameters: Parameters;
}

const patterns = readOperations.map((operation) => ({ operation, pattern: patternOf(operation.path) }));

/** The operation of a path; of several that fit, the one with the fewest identifiers. */
export function operationAt(path: string): Found | undefined {
  const found = patterns.flatMap(({ operation, pattern }) => {
    const groups = pattern.exec(path);
    return groups === null ? [] : [{ operation, parameters: decoded(groups.groups ?? {}) }];
  });
  return found.toSorted((one, other) => size(one.parameters) - size(other.parameters))[0];
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

function decoded(groups: Readonly<Record<string, string>>): Parameters {
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodedText(value)]));
}

/** A path that is not well encoded names nothing that there is. */
function decodedText(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function size(parameters: Parameters): number {
  return Object.keys(parameters).length;
}
